import { configMap, kptfile, mutated, type RenderCase, text } from '../render-case.ts'

const things = {
  'a.yaml': text`
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: web
      namespace: shop
      labels: {app: web, tier: front}
      annotations: {owner: a}
    ---
    apiVersion: v1
    kind: Service
    metadata:
      name: web
      namespace: shop
      labels: {app: web, tier: back}
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
      namespace: stock
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: other
      labels: {app: other, number: 1}
      annotations: {owner: b, on: "true"}
  `,
  'sub/Kptfile': kptfile('', 'sub'),
  'sub/b.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: in-sub\n  namespace: shop\n',
}
const labelled = (name: string, about: string, choice: string): RenderCase => ({
  name,
  about,
  files: {
    Kptfile: mutated(
      `{exec: set-annotations, configMap: {chosen: "1"}, ${choice}}`,
      '{exec: corpus-number}',
    ),
    ...things,
  },
})

/** Selectors and exclusions of every kind. */
export const selecting: readonly RenderCase[] = [
  labelled('select-kind', 'By kind.', 'selectors: [{kind: ConfigMap}]'),
  labelled('select-api-version', 'By apiVersion.', 'selectors: [{apiVersion: apps/v1}]'),
  labelled('select-name', 'By name.', 'selectors: [{name: web}]'),
  labelled(
    'select-namespace',
    'By namespace, also in a subpackage.',
    'selectors: [{namespace: shop}]',
  ),
  labelled(
    'select-labels',
    'By labels: all of an entry have to be there.',
    'selectors: [{labels: {app: web, tier: front}}]',
  ),
  labelled(
    'select-annotations',
    'By annotations.',
    'selectors: [{annotations: {owner: b, on: "true"}}]',
  ),
  labelled(
    'select-several',
    'Several entries: one is enough. Several fields: all.',
    'selectors: [{kind: Service, name: web}, {kind: ConfigMap, name: other}, {kind: Nothing}]',
  ),
  labelled('select-empty-entry', 'An empty entry selects everything.', 'selectors: [{}]'),
  labelled(
    'select-empty-list',
    'An empty list selects everything, without counting.',
    'selectors: []',
  ),
  labelled(
    'select-nothing',
    'Nothing matches: the function runs over nothing.',
    'selectors: [{kind: Nothing}]',
  ),
  labelled('select-numbers', 'A label that is a number.', 'selectors: [{labels: {number: "1"}}]'),
  labelled('select-kptfile', 'The Kptfiles alone.', 'selectors: [{kind: Kptfile}]'),
  labelled('exclude-kind', 'Without a kind.', 'exclude: [{kind: ConfigMap}]'),
  labelled('exclude-labels', 'Without labels.', 'exclude: [{labels: {app: web}}]'),
  labelled(
    'exclude-annotations-and-namespace',
    'Without those of two entries.',
    'exclude: [{annotations: {owner: b}}, {namespace: stock}]',
  ),
  labelled('exclude-empty-entry', 'An empty entry excludes nothing.', 'exclude: [{}]'),
  labelled(
    'exclude-from-selected',
    'Selected and excluded.',
    'selectors: [{namespace: shop}, {kind: Deployment}], exclude: [{kind: Service}, {name: in-sub, kind: ConfigMap}]',
  ),
  labelled(
    'exclude-everything',
    'Everything is excluded.',
    'exclude: [{apiVersion: v1}, {apiVersion: apps/v1}, {apiVersion: kpt.dev/v1}]',
  ),
  {
    name: 'select-and-delete',
    about: 'What a function leaves out of the selection is deleted, the rest stays in its place.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-delete, configMap: {name: web}, selectors: [{kind: Service}]}',
        '{exec: corpus-number}',
      ),
      ...things,
    },
  },
  {
    name: 'select-and-create',
    about: 'What a function adds to a selection comes behind everything.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-create, configMap: {name: made, first: "true"}, selectors: [{kind: ConfigMap}]}',
        '{exec: corpus-number}',
      ),
      ...things,
    },
  },
  {
    name: 'select-and-reverse',
    about:
      'The order in which a function gives a selection back does not count; without a selection it does.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-reverse, selectors: [{kind: ConfigMap}]}',
        '{exec: corpus-number}',
        '{exec: corpus-reverse}',
        '{exec: corpus-number}',
      ),
      ...things,
    },
  },
  {
    name: 'select-and-empty',
    about: 'A function that gives back nothing deletes its selection.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-empty, selectors: [{kind: ConfigMap}]}',
        '{exec: set-labels, configMap: {left: "over"}}',
      ),
      ...things,
    },
  },
  {
    name: 'select-renamed-by-the-first',
    about: 'The second function selects by the name that the first has given.',
    files: {
      Kptfile: mutated(
        '{exec: ensure-name-substring, configMap: {append: -x}, selectors: [{kind: ConfigMap}]}',
        '{exec: set-labels, configMap: {a: b}, selectors: [{name: other-x}]}',
      ),
      ...things,
    },
  },
  {
    name: 'select-config-not-selected',
    about: 'The config is read although it is not in the selection.',
    files: {
      Kptfile: mutated(
        '{exec: set-labels, configPath: labels.yaml, selectors: [{kind: Service}]}',
        '{exec: apply-setters, configPath: labels.yaml, exclude: [{name: labels}]}',
      ),
      'labels.yaml': configMap('labels', 'data:\n  app: set\n'),
      ...things,
    },
  },
  {
    name: 'select-resource-id-written-by-people',
    about:
      'An annotation as kpt uses it for selections, in a package with and without a selection.',
    files: {
      Kptfile: mutated('{exec: set-labels, configMap: {a: b}}'),
      'a.yaml': configMap('a', '  annotations:\n    internal.config.k8s.io/kpt-resource-id: "7"\n'),
      'sub/Kptfile': mutated(
        '{exec: set-labels, configMap: {a: b}, selectors: [{kind: ConfigMap}]}',
      ).replace('root', 'sub'),
      'sub/b.yaml': configMap(
        'b',
        '  annotations:\n    internal.config.k8s.io/kpt-resource-id: "7"\n',
      ),
    },
  },
]
