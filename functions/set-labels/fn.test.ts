import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { convertYamlToJson, copyNode, findNodeAt, type YamlMap } from '@backporch/kyaml/yaml'
import { oddConfig, oddItems } from '../../test/functions/odd-objects.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import { setLabels } from './fn.ts'
import { LABEL_PLACES } from './label-locations.ts'

function nodes(text: string): YamlMap[] {
  return readYamlNodes(text, 'test.yaml').filter((node) => node.kind === 'map')
}

const CONFIG =
  'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\ndata: {team: shop, app: web}\n'

function run(text: string, config = CONFIG) {
  const output = setLabels({ items: nodes(text), config: nodes(config)[0] })
  return {
    ...output,
    text: output.items.map((item) => writeYamlNode(item)).join('---\n'),
    messages: output.results.map(({ message }) => message),
  }
}

/** The maps with exactly the two labels, by their paths, in an object that has every map that may hold labels, empty. */
function labelled(kind: string, spec: string): readonly string[] {
  const [apiVersion, name] = kind.split(' ')
  const { items } = run(
    `apiVersion: ${apiVersion}\nkind: ${name}\nmetadata: {name: a}\nspec: ${spec}\n`,
  )
  const found: string[] = []
  const walk = (path: readonly string[], value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (JSON.stringify(value) === '{"app":"web","team":"shop"}') found.push(path.join('.'))
    for (const [key, below] of Object.entries(value)) walk([...path, key], below)
  }
  for (const item of items) walk([], convertYamlToJson(item))
  return found
}

const POD =
  '{metadata: {labels: {}}, spec: {topologySpreadConstraints: [{labelSelector: {matchLabels: {app: x, team: x}}}, {}]}}'
const OF_POD = [
  'spec.template.metadata.labels',
  'spec.template.spec.topologySpreadConstraints.0.labelSelector.matchLabels',
]

test('sets the labels in every label field of a kind, and nowhere else', () => {
  const own = 'metadata.labels'
  const matching = 'selector: {matchLabels: {app: x, team: x}}'
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    ['example.com/v1 Shop', '{selector: {}, template: {metadata: {labels: {}}}}', [own]],
    [
      'v1 Pod',
      '{topologySpreadConstraints: [{labelSelector: {matchLabels: {app: x, team: x}}}]}',
      [own],
    ],
    ['v1 Service', '{}', [own, 'spec.selector']],
    ['v1 ReplicationController', `{template: ${POD}}`, [own, 'spec.selector', ...OF_POD]],
    ['apps/v1 Deployment', `{template: ${POD}}`, [own, 'spec.selector.matchLabels', ...OF_POD]],
    [
      'extensions/v1beta1 Deployment',
      `{template: ${POD}}`,
      [own, 'spec.selector.matchLabels', ...OF_POD],
    ],
    ['apps/v1 ReplicaSet', `{template: ${POD}}`, [own, 'spec.selector.matchLabels', ...OF_POD]],
    ['apps/v1 DaemonSet', `{template: ${POD}}`, [own, 'spec.selector.matchLabels', ...OF_POD]],
    [
      'apps/v1 StatefulSet',
      `{template: ${POD}, volumeClaimTemplates: [{${matching}, spec: {${matching}}}]}`,
      [
        own,
        'spec.selector.matchLabels',
        ...OF_POD,
        'spec.volumeClaimTemplates.0.metadata.labels',
        'spec.volumeClaimTemplates.0.selector.matchLabels',
      ],
    ],
    ['example.com/v1 StatefulSet', `{template: ${POD}}`, [own]],
    [
      'batch/v1 Job',
      `{template: ${POD}, ${matching}}`,
      [own, ...OF_POD, 'spec.selector.matchLabels'],
    ],
    ['batch/v1 Job', `{template: ${POD}, selector: {matchLabels: {}}}`, [own, ...OF_POD]],
    [
      'batch/v1 CronJob',
      `{jobTemplate: {spec: {${matching}, template: ${POD}}}}`,
      [
        own,
        'spec.jobTemplate.metadata.labels',
        'spec.jobTemplate.spec.selector.matchLabels',
        ...OF_POD.map((path) => path.replace('spec.', 'spec.jobTemplate.spec.')),
      ],
    ],
    ['policy/v1 PodDisruptionBudget', `{${matching}}`, [own, 'spec.selector.matchLabels']],
    ['policy/v1 PodDisruptionBudget', '{selector: {}}', [own]],
    [
      'networking.k8s.io/v1 NetworkPolicy',
      `{pod${matching.replace('s', 'S')}, ingress: [{from: [{pod${matching.replace('s', 'S')}}, {}]}], egress: [{to: [{pod${matching.replace('s', 'S')}}]}]}`,
      [
        own,
        'spec.podSelector.matchLabels',
        'spec.ingress.0.from.0.podSelector.matchLabels',
        'spec.egress.0.to.0.podSelector.matchLabels',
      ],
    ],
  ]
  for (const [kind, spec, paths] of rows)
    assert.deepEqual([...labelled(kind, spec)].sort(), [...paths].sort(), kind)
})

test('affinity does not change, because the original searches the wrong path', () => {
  const affinity =
    'podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: x, team: x}}}]}'
  const paths = labelled('apps/v1 Deployment', `{template: {spec: {affinity: {${affinity}}}}}`)
  assert.deepEqual(paths, [
    'metadata.labels',
    'spec.template.metadata.labels',
    'spec.selector.matchLabels',
  ])
})

test('an existing label keeps its position and comment, and loses its quotes only when it changes', () => {
  const service = (app: string) => `apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  labels:
    # whose it is
    team: 'shop' # the team
    app: ${app} # the app
    zone: b
`
  assert.equal(run(service('"old"')).text, service('web'))
})

test('keeps a local-config object, and the result reports when there is no other object', () => {
  const local =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n    config.kubernetes.io/local-config: 'true'\n"
  assert.deepEqual(run(local).results, [{ message: 'no input resources', severity: 'info' }])
  assert.equal(run(local).text, local)
})

test('counts labels for every visited field, also without a change', () => {
  assert.deepEqual(
    run('apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {}}\n').results,
    [{ message: 'set 6 labels in total', severity: 'info' }],
  )
})

test('a label field of another type is an error, and the other objects are still processed', () => {
  const bad =
    'apiVersion: v1\nkind: Service\nmetadata: {name: a, labels: 7}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: b}\n'
  const { messages, exitCode, results } = run(bad)
  assert.equal(exitCode, 1)
  assert.deepEqual(messages, [
    'Resource(apiVersion=, kind=Service) has unmatched field type "string" in fieldpath .metadata.labels.app',
    'set 2 labels in total',
  ])
  assert.equal(results[0]?.severity, 'error')
})

test('an error names the kind, and group and version when the object has such fields', () => {
  const messages = (more: string) =>
    run(`apiVersion: a/b/c\nkind: Shop\nmetadata: {labels: 7}\n${more}`).messages[0]
  const field = 'has unmatched field type "string" in fieldpath .metadata.labels.app'
  assert.equal(messages(''), `Resource(apiVersion=, kind=Shop) ${field}`)
  assert.equal(messages('version: v9\n'), `Resource(apiVersion=v9, kind=Shop) ${field}`)
  assert.equal(
    messages('group: shop.org\nversion: v9\n'),
    `Resource(apiVersion=shop.org/v9, kind=Shop) ${field}`,
  )
})

test('claims that are not a list of maps are an error', () => {
  const messages = (claims: string) =>
    run(
      `apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec: {volumeClaimTemplates: ${claims}}\n`,
    ).messages[0]
  assert.match(
    messages('7') ?? '',
    /kind=StatefulSet\) has unmatched field type "struct \{\}" in fieldpath \.spec\.volumeClaimTemplates$/,
  )
  assert.match(
    messages('[{selector: 7}, {metadata: 7}]') ?? '',
    /in fieldpath \.selector\.matchLabels\.app$/,
  )
  assert.equal(messages('[{}, 7, []]'), 'unhandled node kind 8')
  assert.equal(messages('[[], 7]'), 'unhandled node kind 2')
})

test('skips pods that cannot be labelled without a result', () => {
  const { text, exitCode } = run(
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {metadata: 7}}\n',
  )
  assert.equal(exitCode, 0)
  assert.match(
    text,
    /spec: \{template: \{metadata: 7\}, selector: \{matchLabels: \{app: web, team: shop\}\}\}/,
  )
})

test('the labels come from a ConfigMap or a SetLabels', () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n'
  const done = `${secret}  labels:\n    a: "1"\n    b: "2"\n`
  assert.equal(run(secret, 'apiVersion: v1\nkind: ConfigMap\ndata: {b: 2, a: 1}\n').text, done)
  assert.equal(
    run(secret, 'apiVersion: fn.kpt.dev/v1alpha1\nkind: SetLabels\nlabels: {b: "2", a: "1"}\n')
      .text,
    done,
  )
  const rows: readonly (readonly [string, readonly string[], 0 | 1])[] = [
    ['{}', ['`FunctionConfig` is not given'], 1],
    [
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: function-input}\ndata: {}\n',
      ['`FunctionConfig` is not given'],
      1,
    ],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: function-input}\n', [], 1],
    [
      'apiVersion: v1\nkind: ConfigMap\ndata: {}\n',
      ['no `labels` arguments are given in FunctionConfig'],
      0,
    ],
    [
      'apiVersion: x/v1\nkind: Y\n',
      ['unknown FunctionConfig `Y.x`, expect `SetLabels.fn.kpt.dev` or `ConfigMap.v1`'],
      1,
    ],
    [
      'apiVersion: fn.kpt.dev/v1alpha1\nkind: SetLabels\nlabels: [a]\n',
      [
        'unable to convert object to *setlabels.SetLabels with error: json: cannot unmarshal array into Go struct field SetLabels.labels of type map[string]string',
      ],
      1,
    ],
    [
      'apiVersion: fn.kpt.dev/v1alpha1\nkind: SetLabels\nlabels: {a: 1}\n',
      [
        'unable to convert object to *setlabels.SetLabels with error: json: cannot unmarshal number into Go struct field SetLabels.labels of type string',
      ],
      1,
    ],
  ]
  // By their names, and a key that is no text before all.
  for (const [labels, why] of [
    [
      '{b: 1, a: true}',
      'cannot unmarshal bool into Go struct field SetLabels.labels of type string',
    ],
    ['{a: 1, 7: x}', 'unsupported type: map[interface {}]interface {}'],
  ])
    assert.deepEqual(
      run(secret, `apiVersion: fn.kpt.dev/v1alpha1\nkind: SetLabels\nlabels: ${labels}\n`).messages,
      [`unable to convert object to *setlabels.SetLabels with error: json: ${why}`],
    )
  for (const [config, messages, exitCode] of rows) {
    const output = run(secret, config)
    assert.deepEqual([output.messages, output.exitCode], [messages, exitCode], config)
    assert.equal(output.text, secret)
  }
})

test('the table names every field once', () => {
  const all = LABEL_PLACES.flatMap(({ kinds, holder, labels, also }) =>
    (kinds ?? [{ kind: '*' }]).flatMap(({ kind }) =>
      [labels, ...(also === undefined ? [] : [also.labels])].map(
        (path) => `${kind} ${[...holder, ...path].join('.')}`,
      ),
    ),
  )
  assert.equal(new Set(all).size, all.length)
})

test('returns a result for any objects and config, and a second run changes nothing', () => {
  const config = nodes(CONFIG)[0]
  fc.assert(
    fc.property(oddItems, oddConfig, (items, odd) => {
      assert.ok(setLabels({ items: items.map(copyNode), config: odd }).results.length > 0)
      const once = setLabels({ items: items.map(copyNode), config })
      const text = once.items.map((item) => writeYamlNode(item))
      const twice = setLabels({ items: once.items, config })
      assert.deepEqual(
        [twice.items.map((item) => writeYamlNode(item)), twice.results],
        [text, once.results],
      )
      for (const item of once.exitCode === 0 ? once.items : []) {
        const local = findNodeAt(
          item,
          'metadata',
          'annotations',
          'config.kubernetes.io/local-config',
        )
        if (local === undefined)
          assert.ok(findNodeAt(item, 'metadata', 'labels', 'team') !== undefined)
      }
    }),
    { numRuns: 300 },
  )
})
