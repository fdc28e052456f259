import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { fromKptFunc } from '../sdk/kpt-func.ts'
import { setDefaultRequests } from './fn.ts'

async function run(
  text: string,
  data: string,
): Promise<{
  readonly text: string
  readonly results: readonly string[]
  readonly exitCode: number
}> {
  const [config, ...items] = readYamlNodes(
    `kind: ConfigMap\napiVersion: v1\nmetadata: {name: config}\ndata: ${data}\n---\n${text}`,
    'test.yaml',
  ).filter((node) => node.kind === 'map')
  const output = await fromKptFunc(setDefaultRequests)({ items, config })
  return {
    text: output.items.map((item) => writeYamlNode(item)).join('---\n'),
    results: output.results.map(
      ({ severity, message, field }) => `${severity} ${field?.path ?? ''} ${message}`,
    ),
    exitCode: output.exitCode,
  }
}

const BOTH = '{cpu: 100m, memory: 128Mi}'
const head = (kind: string): string =>
  `apiVersion: apps/v1\nkind: ${kind}\nmetadata:\n  name: web\n`

test('a container without requests gets both, and each adds one line to the file', async () => {
  const given = `${head('Deployment')}spec:\n  template:\n    spec:\n      containers:\n      - name: app # ours\n        image: "nginx:1"\n`
  const { text, results } = await run(given, BOTH)
  assert.equal(
    text,
    `${given}        resources:\n          requests:\n            cpu: 100m\n            memory: 128Mi\n`,
  )
  assert.deepEqual(results, [
    'info spec.template.spec.containers[name=app].resources.requests.cpu set the request cpu=100m',
    'info spec.template.spec.containers[name=app].resources.requests.memory set the request memory=128Mi',
  ])
})

test('ignores the order of config entries, which kpt changes each time', async () => {
  const given = `${head('Pod')}spec:\n  containers:\n  - name: a\n`
  assert.deepEqual(await run(given, '{memory: 128Mi, cpu: 100m}'), await run(given, BOTH))
})

test('keeps a request, adds none beside an existing limit, and sets only what the config gives', async () => {
  const given = `${head('Pod')}spec:\n  containers:\n  - name: a\n    resources: {requests: {cpu: 1}}\n  - name: b\n    resources: {limits: {memory: 1Gi}}\n`
  const { text } = await run(given, BOTH)
  assert.match(text, /name: a\n {4}resources: \{requests: \{cpu: 1, memory: 128Mi\}\}\n/)
  assert.match(
    text,
    /name: b\n {4}resources: \{limits: \{memory: 1Gi\}, requests: \{cpu: 100m\}\}\n/,
  )
  assert.doesNotMatch((await run(given, '{cpu: 100m}')).text, /128Mi/)
})

for (const [kind, path] of [
  ['Pod', 'spec'],
  ['Deployment', 'spec.template.spec'],
  ['StatefulSet', 'spec.template.spec'],
  ['DaemonSet', 'spec.template.spec'],
  ['ReplicaSet', 'spec.template.spec'],
  ['Job', 'spec.template.spec'],
  ['CronJob', 'spec.jobTemplate.spec.template.spec'],
] as const) {
  test(`sets containers and init containers of a ${kind}`, async () => {
    const pod = path.split('.').reduceRight<unknown>((value, key) => ({ [key]: value }), {
      initContainers: [{ name: 'a' }],
      containers: [{ name: 'b' }],
    })
    const { results } = await run(
      JSON.stringify({ apiVersion: 'v1', kind, metadata: { name: 'web' }, ...(pod as object) }),
      '{cpu: 1}',
    )
    assert.deepEqual(
      results,
      [`${path}.initContainers[name=a]`, `${path}.containers[name=b]`].map(
        (at) => `info ${at}.resources.requests.cpu set the request cpu=1`,
      ),
    )
  })
}

test('keeps other kinds and malformed pods unchanged', async () => {
  for (const given of [
    `${head('Service')}spec:\n  containers:\n  - name: a\n`,
    `${head('Pod')}spec: 7\n`,
    `${head('Pod')}spec:\n  containers: {name: a}\n`,
    `${head('Pod')}spec:\n  containers:\n  - image: a\n  - 7\n  - name: b\n    resources: 7\n  - name: c\n    resources:\n      requests: 7\n`,
    head('Deployment'),
  ])
    assert.deepEqual(await run(given, BOTH), { text: given, results: [], exitCode: 0 })
})

test('an invalid config fails, and nothing changes', async () => {
  const given = `${head('Pod')}spec:\n  containers:\n  - name: a\n`
  for (const [data, why] of [
    ['{}', 'the config has none of cpu, memory'],
    ['{disk: 1Gi}', 'the config has disk, which is not one of cpu, memory'],
    ['{cpu: lots}', 'cpu of the config is not a quantity: lots'],
    ['{cpu: "-1"}', 'cpu of the config is not a quantity: -1'],
  ] as const)
    assert.deepEqual(await run(given, data), {
      text: given,
      results: [`error  ${why}`],
      exitCode: 3,
    })
})
