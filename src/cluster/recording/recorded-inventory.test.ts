import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Failure } from '@backporch/kyaml/failure'
import { getResourceKey } from '@backporch/kyaml/resource'
import type { InventoryQuestion } from '../ports/cluster.ts'
import { openRecordedCluster } from './recorded-cluster.ts'

const OBJECTS = `apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop, labels: {team: web}}
data: {a: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: shop}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: other}
`
const WHOLE =
  'apiVersion: backporch.dev/v1alpha1\nkind: Recording\nspec: {complete: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: Secret}]}\n'

/** Keys of what was found and codes of what was not, or the code of the failure. */
async function answer(
  t: TestContext,
  text: string,
  question: InventoryQuestion,
): Promise<readonly [unknown, unknown?]> {
  const folder = mkdtempSync(join(tmpdir(), 'recorded-inventory-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'a.yaml'), text)
  const cluster = openRecordedCluster({ path: folder, observedAt: '2026-11-21T10:00:00Z' })
  const [found] = await cluster.readInventories([question], new AbortController().signal)
  if (found === undefined || found instanceof Failure) return [found?.code]
  return [found.resources.map(getResourceKey), (found.unread ?? []).map(({ code }) => code)]
}

const listing = (kind: string, labelSelector = '') => ({
  listing: [{ group: '', kind, namespace: 'shop' }],
  labelSelector,
})

test('a list of a completely recorded kind is complete and can be selected by labels', async (t) => {
  assert.deepEqual(await answer(t, `${WHOLE}---\n${OBJECTS}`, listing('ConfigMap')), [
    ['/ConfigMap/shop/a', '/ConfigMap/shop/b'],
    [],
  ])
  assert.deepEqual(await answer(t, `${WHOLE}---\n${OBJECTS}`, listing('ConfigMap', 'team=web')), [
    ['/ConfigMap/shop/a'],
    [],
  ])
  assert.deepEqual(await answer(t, `${WHOLE}---\n${OBJECTS}`, listing('Secret')), [[], []])
})

test('a recording without a completeness mark gives a partial list, or none', async (t) => {
  assert.deepEqual(await answer(t, OBJECTS, listing('ConfigMap')), [
    ['/ConfigMap/shop/a', '/ConfigMap/shop/b'],
    ['BP3012'],
  ])
  assert.deepEqual(await answer(t, OBJECTS, listing('Secret')), ['BP3012'])
  assert.deepEqual(await answer(t, OBJECTS, { namespaces: ['shop'] }), [
    ['/ConfigMap/shop/a', '/ConfigMap/shop/b'],
    ['BP3012'],
  ])
})

test('reads a Helm release whose Secret was recorded with content, and otherwise reports it as unknown', async (t) => {
  const question = { helmRelease: { namespace: 'shop', name: 'web' } }
  const manifest =
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n'
  const release = Buffer.from(gzipSync(JSON.stringify({ manifest })).toString('base64')).toString(
    'base64',
  )
  const head =
    'apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop, labels: {owner: helm, name: web, status: deployed, version: "2"}}\n'
  assert.deepEqual(await answer(t, `${head}data: {release: ${release}}\n`, question), [
    ['/ConfigMap/shop/a', '/Namespace//shop'],
    [],
  ])
  assert.deepEqual(await answer(t, head, question), ['BP3012'])
  assert.deepEqual(await answer(t, OBJECTS, question), ['BP3012'])
  assert.deepEqual(await answer(t, `${WHOLE}---\n${OBJECTS}`, question), [undefined])
})
