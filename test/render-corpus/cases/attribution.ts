import { kptfile, mutated, type RenderCase, text, validated } from '../render-case.ts'

/** A bucket of Config Connector with the given text behind its name. */
function bucket(name: string, rest = ''): string {
  return `apiVersion: storage.cnrm.cloud.google.com/v1beta1\nkind: StorageBucket\nmetadata:\n  name: ${name}\n${rest}spec:\n  location: eu\n`
}

/** The same with the annotation of kpt, its value as it is written here. */
function attributed(name: string, value: string): string {
  return bucket(name, `  annotations:\n    cnrm.cloud.google.com/blueprint: ${value}\n`)
}

const LABELS = '{exec: set-labels, configMap: {team: shop}}'

/** What kpt records on the objects of Config Connector. */
export const attribution: readonly RenderCase[] = [
  {
    name: 'attribution-after-a-function',
    about:
      'An object without annotations: the render is recorded where the annotations of the render were, before the labels of the function.',
    files: { Kptfile: mutated(LABELS), 'a.yaml': bucket('one') },
  },
  {
    name: 'attribution-values',
    about:
      'Values that are there: empty, of somebody, of kpt, both, kpt in other words and twice. No pipeline is needed.',
    files: {
      Kptfile: kptfile(),
      'a.yaml': [
        '',
        "''",
        '~',
        'cnrm/x/v1',
        'cnrm/x/v1,kpt-pkg',
        'cnrm/x/v1,kpt-pkg,blueprints_controller',
        'kpt-fn',
        'kpt-pkg-fn-live',
        'kpt-live',
        'kpt-live-pkg',
        'kpt',
        'my-kpt-thing',
        'a,kpt-other',
        'kpt-pkg,kpt-live',
        'kpt-live,b,kpt-pkg',
        'akptb,kpt-pkg',
        'krm-fn',
        ' , kpt-pkg ,',
      ]
        .map((value, index) =>
          attributed(`b${index}`, value.startsWith(' ') ? `'${value}'` : value),
        )
        .join('---\n'),
    },
  },
  {
    name: 'attribution-styles',
    about: 'The quotes of a value stay, its comment does not; values that are no text.',
    files: {
      Kptfile: kptfile(),
      'a.yaml': [
        "'kpt-pkg'",
        '"kpt-pkg"',
        'kpt-pkg # its comment',
        '|\n      kpt-pkg',
        '>-\n      cnrm/x/v1,\n      kpt-pkg',
        '12',
        'true',
        '!!str kpt-pkg',
        '!!int 12',
        'null',
        '&anchor kpt-pkg',
      ]
        .map((value, index) => attributed(`b${index}`, value))
        .join('---\n'),
    },
  },
  {
    name: 'attribution-annotations',
    about: 'Annotations that are empty, null, in flow style, and others before and after.',
    files: {
      Kptfile: kptfile(),
      'a.yaml': [
        '  annotations: {}\n',
        '  annotations:\n',
        '  annotations: {a: b}\n',
        '  annotations: {cnrm.cloud.google.com/blueprint: kpt-pkg, a: b}\n',
        '  annotations:\n    z: b\n    a: b\n',
        '  annotations:\n    # above\n    cnrm.cloud.google.com/blueprint: kpt-pkg\n    a: b\n',
        '  labels:\n    a: b\n  # of the namespace\n  namespace: shop\n',
      ]
        .map((rest, index) => bucket(`b${index}`, rest))
        .join('---\n'),
    },
  },
  {
    name: 'attribution-groups',
    about: 'Groups that have it in them, and others; a list has it itself and its items do not.',
    files: {
      Kptfile: kptfile(),
      'a.yaml': text`
        apiVersion: core.cnrm.cloud.google.com/v1beta1
        kind: ConfigConnectorContext
        metadata:
          name: context
        ---
        apiVersion: cnrm.cloud.google.com/v1
        kind: Thing
        metadata:
          name: no-dot-before
        ---
        apiVersion: a.cnrm.example.com/v1
        kind: Thing
        metadata:
          name: of-somebody
        ---
        apiVersion: a.cnrm/v1
        kind: Thing
        metadata:
          name: no-dot-behind
        ---
        apiVersion: example.com/v1.cnrm.1
        kind: Thing
        metadata:
          name: in-the-version
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: others
          annotations:
            cnrm.cloud.google.com/blueprint: kpt-pkg
      `,
      'list.yaml': text`
        apiVersion: v1
        kind: List
        metadata:
          name: list
        items:
        - apiVersion: storage.cnrm.cloud.google.com/v1beta1
          kind: StorageBucket
          metadata:
            name: inside
        ---
        apiVersion: storage.cnrm.cloud.google.com/v1beta1
        kind: StorageBucketList
        metadata:
          name: buckets
        items:
        - apiVersion: storage.cnrm.cloud.google.com/v1beta1
          kind: StorageBucket
          metadata:
            name: inside
      `,
    },
  },
  {
    name: 'attribution-everywhere',
    about:
      'Subpackages, objects for tools only, a function config, a JSON file and an object that a function made anew have it.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-strip, configMap: {name: stripped}}',
        '{exec: corpus-identity, configPath: config.yaml}',
      ),
      'a.yaml': `${attributed('stripped', 'cnrm/x/v1')}---\n${bucket('local', '  annotations:\n    config.kubernetes.io/local-config: "true"\n')}`,
      'b.json':
        '{"apiVersion": "storage.cnrm.cloud.google.com/v1beta1", "kind": "StorageBucket", "metadata": {"name": "json"}, "spec": {"location": "eu"}}\n',
      'config.yaml': bucket('config'),
      'below/Kptfile': kptfile('', 'below'),
      'below/b.yaml': bucket('below'),
      'other/Kptfile': mutated(LABELS),
      'other/b.yaml': bucket('other'),
    },
  },
  {
    name: 'attribution-of-a-selection',
    about:
      'Objects that the functions of the pipeline do not select have it, and with validators alone.',
    files: {
      Kptfile: mutated('{exec: set-labels, configMap: {team: shop}, selectors: [{name: one}]}'),
      'a.yaml': `${bucket('one')}---\n${attributed('two', 'cnrm/x/v1')}`,
      'below/Kptfile': validated('{exec: corpus-identity}'),
      'below/b.yaml': attributed('below', 'cnrm/x/v1,kpt-pkg'),
    },
  },
  {
    name: 'attribution-not-after-a-failure',
    about: 'Nothing is written where a function fails.',
    refused: 'not good',
    files: {
      Kptfile: mutated('{exec: corpus-fail, configMap: {message: not good}}'),
      'a.yaml': bucket('one'),
    },
  },
  {
    name: 'attribution-turned-off',
    about: 'KPT_DISABLE_ATTRIBUTION: nothing is recorded, and what is there stays.',
    unattributed: true,
    files: {
      Kptfile: mutated(LABELS),
      'a.yaml': `${bucket('one')}---\n${attributed('two', 'cnrm/x/v1,kpt-pkg')}`,
    },
  },
]
