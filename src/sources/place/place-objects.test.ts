import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerCalls } from '@backporch/kpt/function'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import { isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { readResource } from '@backporch/kyaml/resource'
import { builtInFunctions } from '../../../functions/built-in-functions.ts'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import { type RenderedPackage, renderPackage } from '../kpt/render/render-package.ts'
import { placeInPackage, type WholeChange } from './place-objects.ts'

const KPTFILE = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n'

function config(name: string, kind = 'ConfigMap', more = ''): string {
  return `apiVersion: v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n  namespace: shop\n${more}`
}

function change(text: string, live: Partial<JsonObject> = {}): WholeChange {
  const object = parseGoYaml(text, 'live').documents[0]?.value
  assert.ok(isJsonObject(object))
  const read = readResource(object)
  assert.ok(!('problem' in read))
  const drift = {
    ...driftOf('', { change: 'unexpected', live: { ...object, ...(live as JsonObject) } }),
    id: read.id,
  }
  return { drift, desired: undefined, resolution: 'Adopt', whole: { manifest: object } }
}

type Texts = Readonly<Record<string, string>>

function placed(
  texts: Texts,
  changes: readonly WholeChange[],
  pipeline = '',
): Record<string, string> {
  const encoder = new TextEncoder()
  const files: PackageFiles = Object.entries({ Kptfile: KPTFILE + pipeline, ...texts })
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([path, text]) => ({ path, mode: '100644', content: encoder.encode(text) }))
  const render = (own: PackageFiles): RenderedPackage => {
    const rendering = answerCalls(
      renderPackage('apps/web', own, { attributed: false }),
      builtInFunctions,
    )
    if ('failures' in rendering) throw rendering.failures[0]
    return rendering
  }
  return Object.fromEntries(placeInPackage({ packagePath: 'apps/web', files, changes, render }))
}

function refusal(work: () => unknown): Failure {
  try {
    work()
  } catch (thrown) {
    assert.ok(thrown instanceof Failure, String(thrown))
    return thrown
  }
  assert.fail('not refused')
}

test('in a folder with one file per object, a new object gets a file named like its siblings', () => {
  const extra = config('extra')
  const names = (siblings: Texts): string => Object.keys(placed(siblings, [change(extra)])).join()
  assert.equal(
    names({ 'configmap-a.yaml': config('a'), 'service-a.yaml': config('a', 'Service') }),
    'apps/web/configmap-extra.yaml',
  )
  assert.equal(
    names({ 'a-configmap.yml': config('a'), 'b-configmap.yml': config('b') }),
    'apps/web/extra-configmap.yml',
  )
  assert.equal(names({ 'a.yaml': config('a'), 'b.yaml': config('b') }), 'apps/web/extra.yaml')
  assert.equal(
    names({ 'manifests/service.yaml': config('a', 'Service') }),
    'apps/web/manifests/configmap.yaml',
  )
  assert.equal(
    names({ 'configmap.yaml': config('a') }),
    'apps/web/configmap-extra.yaml',
    'the name of the kind is taken',
  )
  assert.equal(names({}), 'apps/web/configmap-extra.yaml')
  assert.deepEqual(placed({}, [change(extra)]), { 'apps/web/configmap-extra.yaml': extra })
})

test('appends a new object to a file with several objects, and keeps the other bytes', () => {
  const all = `# all\r\n${config('a').replaceAll('\n', '\r\n')}---\r\n${config('b').replaceAll('\n', '\r\n')}`
  const [extra, more] = [config('extra'), config('more')]
  assert.deepEqual(placed({ 'all.yaml': all }, [change(extra), change(more)]), {
    'apps/web/all.yaml': `${all}---\r\n${extra.replaceAll('\n', '\r\n')}---\r\n${more.replaceAll('\n', '\r\n')}`,
  })
  const rbac = `${config('a', 'Role')}---\n${config('a', 'RoleBinding')}`
  const beside = { 'configmap-a.yaml': config('a'), 'rbac.yaml': rbac }
  assert.deepEqual(Object.keys(placed(beside, [change(config('b', 'Role')), change(extra)])), [
    'apps/web/rbac.yaml',
    'apps/web/configmap-extra.yaml',
  ])
  const list =
    'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n'
  assert.deepEqual(Object.keys(placed({ 'list.yaml': list }, [change(extra)])), [
    'apps/web/configmap-extra.yaml',
  ])
})

const mutator = (image: string, config: string): string =>
  `pipeline:\n  mutators:\n  - image: ghcr.io/kptdev/krm-functions-catalog/${image}\n    configMap: ${config}\n`

test('accepts a pipeline that reproduces the live object, and names any other function', () => {
  const files = { 'configmap-a.yaml': config('a') }
  const same = placed(
    files,
    [change(config('extra'))],
    mutator('set-namespace:v0.4.1', '{namespace: shop}'),
  )
  assert.deepEqual(Object.keys(same), ['apps/web/configmap-extra.yaml'])
  const other = refusal(() =>
    placed(files, [change(config('extra'))], mutator('set-namespace:v0.4.1', '{namespace: other}')),
  )
  assert.match(
    `${other.code} ${other.what}: ${other.why}`,
    /^BP2001 cannot adopt ConfigMap shop\/extra: .*becomes ConfigMap other\/extra/,
  )
  const labelled = refusal(() =>
    placed(files, [change(config('extra'))], mutator('set-labels:v0.1.5', '{team: web}')),
  )
  assert.match(labelled.why, /gives it metadata\.labels, and live is different there/)
})

test('omits a prefix that the pipeline adds from the manifest', () => {
  const rendered = { 'configmap-a.yaml': config('a') }
  const prefixed = mutator('ensure-name-substring:v0.2.0', '{prepend: prod-}')
  const live = change(config('prod-extra'))
  assert.deepEqual(Object.keys(placed(rendered, [live], prefixed)), [
    'apps/web/configmap-prod-extra.yaml',
  ])
})

test('rejects too many objects at once', async () => {
  const { selectWholeChanges } = await import('./place-objects.ts')
  const many = Array.from({ length: 51 }, (_, index) => change(config(`c${index}`)))
  assert.match(refusal(() => selectWholeChanges(many)).why, /51 objects .* 50 is the limit/)
  assert.equal(selectWholeChanges([{ ...change(config('a')), resolution: 'Restore' }]).length, 0)
})
