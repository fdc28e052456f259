import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeployedRelease } from '@backporch/cluster/cluster'
import { formatFieldPath } from '@backporch/kyaml/field'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { listDifferingPaths } from '../build/read-built.ts'
import { isSameResource } from '../build/syncer-object.ts'
import type { ValuesRef } from '../build/unit-source.ts'
import { computeReleaseValues, createFluxReleaseBuilder } from './flux-release.ts'

const DEPLOYED: DeployedRelease = {
  namespace: 'shop',
  name: 'web',
  revision: 1,
  status: 'deployed',
  chartTitle: 'web 1.0.0',
  chart: [
    {
      path: 'Chart.yaml',
      mode: '100644',
      content: new TextEncoder().encode('name: web\nversion: 1.0.0\n'),
    },
  ],
  values: {},
  manifest: '',
}
const SECRET: ValuesRef = {
  kind: 'Secret',
  namespace: 'shop',
  name: 'web',
  optional: false,
  key: 'values.yaml',
  targetPath: undefined,
}
const HELM_RELEASE = {
  apiVersion: 'helm.toolkit.fluxcd.io/v2',
  kind: 'HelmRelease',
  metadata: { name: 'web', namespace: 'shop' },
}
const build = (release: Parameters<typeof createFluxReleaseBuilder>[0]) => ({
  title: 'Flux HelmRelease shop/web',
  folder: '',
  object: HELM_RELEASE,
  variables: new Map<string, string>(),
  builder: createFluxReleaseBuilder(release),
})

test('hides a value of a Secret everywhere in the manifest, also over several lines and in a key', () => {
  const entries = ['password: "a: {b\\nc"\npin: 123456\nshort: abc\n']
  const release = { deployed: DEPLOYED, valuesFrom: [SECRET], entries }
  const manifest =
    'kind: ConfigMap\ndata:\n  one: "x a: {b\\nc x"\n  two: 123456\n  three: abc\n  "123456": plain\n---\nkind: Other\nspec: [{pin: "123456"}]\n'
  const [document] = createFluxReleaseBuilder(release).documents(
    build(release),
    HELM_RELEASE,
    manifest,
  )
  const [was, is] = [document?.text ?? '', document?.other ?? ''].map(
    (text) => parseGoYaml(text, 'the manifest').documents,
  )
  const hidden = (was ?? []).map(({ value, index }) =>
    listDifferingPaths(value, is?.[index]?.value).map(formatFieldPath),
  )
  assert.deepEqual(hidden, [['data.one', 'data.two'], ['spec[0].pin']])
})

test('reports an entry that is not a values file, without its content', () => {
  const entries = ['tok: [hunter2hunter2']
  const release = { deployed: DEPLOYED, valuesFrom: [SECRET], entries }
  for (const work of [
    () => computeReleaseValues(release, HELM_RELEASE, undefined),
    () => createFluxReleaseBuilder(release).documents(build(release), HELM_RELEASE, 'kind: A\n'),
  ])
    assert.throws(work, (thrown: Error & { why?: string; where?: string }) => {
      assert.equal(thrown.where, 'Secret shop/web')
      assert.equal(thrown.why, 'its entry values.yaml is not a file of values')
      assert.doesNotMatch(`${thrown.message}${thrown.stack}${String(thrown.cause)}`, /hunter2/)
      return true
    })
})

test('reports that the values of a Helm run come from a Secret', () => {
  const { way } = createFluxReleaseBuilder({
    deployed: DEPLOYED,
    valuesFrom: [SECRET],
    entries: ['a: b'],
  })
  assert.ok('helm' in way)
  const order = (object: typeof HELM_RELEASE) =>
    way.helm({
      build: build({ deployed: DEPLOYED, valuesFrom: [SECRET], entries: ['a: b'] }),
      object,
      declared: new Map(),
      folder: '',
      files: new Map(),
    })
  const run = order(HELM_RELEASE)
  assert.equal('hasSecrets' in run && run.hasSecrets, true)
})

test('finds the resource when git declares it in another version and without its namespace', () => {
  const other = {
    ...HELM_RELEASE,
    apiVersion: 'helm.toolkit.fluxcd.io/v2beta2',
    metadata: { name: 'web' },
  }
  assert.equal(isSameResource(other, HELM_RELEASE), true)
  assert.equal(
    isSameResource({ ...other, metadata: { name: 'web', namespace: 'test' } }, HELM_RELEASE),
    false,
  )
  assert.equal(isSameResource({ ...other, apiVersion: 'example.com/v2' }, HELM_RELEASE), false)
})
