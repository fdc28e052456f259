import { configMap, kptfile, mutated, type RenderCase, text, validated } from '../render-case.ts'

const deployment = text`
  apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: web
  spec:
    selector:
      matchLabels:
        app: web
    template:
      metadata:
        labels:
          app: web
      spec:
        containers:
        - name: web
          image: nginx
`

/** Validators. */
export const checking: readonly RenderCase[] = [
  {
    name: 'check-passes',
    about: 'A validator that finds nothing.',
    files: { Kptfile: validated('{exec: kubeconform}'), 'a.yaml': deployment },
  },
  {
    name: 'check-after-mutators',
    about: 'Validators see what the mutators made, in the order in which they stand.',
    files: {
      Kptfile: kptfile(
        'pipeline:\n  validators:\n    - {exec: corpus-count}\n    - {exec: corpus-report, configMap: {message: second, severity: info}}\n  mutators:\n    - {exec: corpus-create, configMap: {name: made}}\n',
      ),
      'a.yaml': configMap('a'),
    },
  },
  {
    name: 'check-changes-nothing',
    about:
      'What a validator changes, deletes and adds is thrown away; folded texts keep their style.',
    files: {
      Kptfile: validated(
        '{exec: set-labels, configMap: {a: b}}',
        '{exec: corpus-delete, configMap: {name: a}}',
        '{exec: corpus-create, configMap: {name: made}}',
        '{exec: corpus-empty}',
        '{exec: corpus-count}',
      ),
      'a.yaml': configMap('a', 'data:\n  folded: >-\n    one\n    two\n'),
    },
  },
  {
    name: 'check-selected',
    about: 'Validators with selectors and exclusions.',
    files: {
      Kptfile: validated(
        '{exec: corpus-count, selectors: [{kind: ConfigMap}]}',
        '{exec: corpus-count, exclude: [{kind: Kptfile}, {name: a}]}',
        '{exec: corpus-count, selectors: [{kind: Nothing}]}',
      ),
      'a.yaml': `${configMap('a')}---\n${configMap('b')}`,
    },
  },
  {
    name: 'check-fails',
    about: 'A validator that fails: nothing is written, also not what the mutators did.',
    refused: '[FAIL] "corpus-fail"',
    files: {
      Kptfile: kptfile(
        'pipeline:\n  mutators:\n    - {exec: set-labels, configMap: {a: b}}\n  validators:\n    - {exec: corpus-fail, configMap: {message: not allowed here}}\n    - {exec: corpus-count}\n',
      ),
      'a.yaml': configMap('a', 'data:   {a: b}\n'),
    },
  },
  {
    name: 'check-fails-in-a-child',
    about: 'A validator of a subpackage that fails stops everything.',
    refused: '[FAIL] "corpus-fail"',
    files: {
      Kptfile: mutated('{exec: set-labels, configMap: {a: b}}'),
      'a.yaml': configMap('a'),
      'child/Kptfile': kptfile('pipeline:\n  validators:\n    - {exec: corpus-fail}\n', 'child'),
      'child/b.yaml': configMap('b'),
    },
  },
  {
    name: 'check-kubeconform-fails',
    about: 'kubeconform finds a wrong type.',
    refused: '[FAIL] "kubeconform"',
    files: {
      Kptfile: validated('{exec: kubeconform}'),
      'a.yaml': deployment.replace('  selector', '  replicas: many\n  selector'),
    },
  },
  {
    name: 'check-moves-outside',
    about:
      'A validator whose output names a path outside of the package is refused, although the output is thrown away.',
    refused: 'function must not modify resources outside of package: resource has path ../out.yaml',
    files: {
      Kptfile: validated('{exec: corpus-move, configMap: {name: a, path: ../out.yaml}}'),
      'a.yaml': configMap('a'),
    },
  },
]
