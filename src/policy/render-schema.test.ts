import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { deriveEffectivePolicy, readRenders } from './effective-policy.ts'
import { parsePolicyFiles } from './parse-policy.ts'

function policies(...specs: readonly string[]) {
  const text = specs.map(
    (spec, index) =>
      `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: p${index}}\nspec: ${spec}\n`,
  )
  return parsePolicyFiles([{ path: '.drift/policy.yaml', text: text.join('---\n') }])
}

test('the matching policy of the highest priority with a setting selects the renderer; kpt is the default', () => {
  const set = policies(
    '{mode: Warn, priority: 9}',
    '{priority: 5, match: {clusters: [prod-*]}, render: {tool: kustomize, path: ./overlays/prod/}}',
    '{match: {packages: [apps/*]}, render: {tool: files}}',
  )
  assert.deepEqual(deriveEffectivePolicy(set, 'prod-eu', 'apps/web').render, {
    tool: 'kustomize',
    path: 'overlays/prod',
  })
  assert.deepEqual(deriveEffectivePolicy(set, 'test', 'apps/web').render, { tool: 'files' })
  assert.deepEqual(deriveEffectivePolicy(set, 'test', 'infra/dns').render, { tool: 'kpt' })
})

test('lists the renderers of a package from every policy that may match some cluster', () => {
  const set = policies(
    '{match: {clusters: [prod]}, render: {tool: kustomize, path: overlays/prod}}',
    '{match: {clusters: [test]}, render: {tool: kustomize, path: overlays/test}}',
    '{match: {clusters: [eu]}, render: {tool: kustomize, path: overlays/prod}}',
    '{match: {packages: [infra/*]}, render: {tool: command, command: [jsonnet, main.jsonnet]}}',
  )
  const paths = readRenders(set, 'apps/web').map((choice) =>
    choice.tool === 'kustomize' ? choice.path : choice.tool,
  )
  assert.deepEqual(
    paths.sort(),
    ['kpt', 'overlays/prod', 'overlays/test'],
    'other clusters render with kpt',
  )
  assert.equal(readRenders(set, 'infra/dns').length, 3)
  assert.deepEqual(readRenders(policies('{mode: Warn}'), 'apps/web'), [{ tool: 'kpt' }])
  const everywhere = policies(
    '{match: {clusters: [prod]}, render: {tool: files}}',
    '{match: {clusters: ["*"]}, render: {tool: kustomize}}',
  )
  assert.deepEqual(
    readRenders(everywhere, 'apps/web').map(({ tool }) => tool),
    ['files', 'kustomize'],
  )
})

test('an invalid renderer is reported with its line', () => {
  for (const [render, why] of [
    ['{tool: helmfile}', /spec\.render\.tool/],
    ['{tool: helm}', /spec\.render\.release: wanted the release of the Helm release/],
    ['{tool: helm, release: Shop, namespace: shop}', /wanted lower-case letters/],
    [
      '{tool: helm, release: shop, namespace: shop, values: [/etc/values.yaml]}',
      /wanted paths relative to the folder of the package/,
    ],
    ['{tool: files, release: shop}', /only helm has it/],
    ['{tool: kpt, path: a}', /only kustomize and helm have it/],
    ['{tool: kustomize, path: ../other}', /wanted a folder in the package/],
    ['{tool: kustomize, path: /etc}', /wanted a folder in the package/],
    ['{tool: command}', /wanted the program/],
    ['{tool: command, command: [" "]}', /wanted a program first/],
    ['{tool: kustomize, command: [sh]}', /only command has it/],
  ] as const)
    assert.throws(
      () => policies(`{render: ${render}}`),
      (thrown) =>
        thrown instanceof Failure &&
        thrown.code === 'BP1005' &&
        why.test(thrown.why) &&
        thrown.why.includes('.drift/policy.yaml:4'),
      render,
    )
})
