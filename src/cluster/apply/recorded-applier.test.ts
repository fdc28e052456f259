import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { formatJson, type JsonObject } from '@backporch/kyaml/json'
import { deploymentOf } from '../../../test/fakes/syncer-marks.ts'
import { observeApplier } from '../../reconcile/observe/observe-applier.ts'
import { OwnResources } from '../../reconcile/observe/own-resources.ts'
import type { Applier } from '../../status/applier.ts'
import { listClaims } from '../../syncers/claims.ts'
import { openRecordedCluster } from '../recording/recorded-cluster.ts'

const signal = new AbortController().signal
const WEB = { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' }
const FLUX: JsonObject = {
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { name: 'web', namespace: 'apps' },
  spec: { suspend: true },
}

async function applier(t: TestContext, ...objects: readonly JsonObject[]): Promise<Applier> {
  const path = mkdtempSync(join(tmpdir(), 'recorded-applier-'))
  t.after(() => rmSync(path, { recursive: true }))
  for (const [index, object] of objects.entries())
    writeFileSync(join(path, `${index}.json`), formatJson(object))
  const cluster = openRecordedCluster({ path, observedAt: '2026-01-01T00:00:00Z' })
  const live = await cluster.readLive([{ id: WEB, apiVersion: 'apps/v1' }], signal)
  const side = { live, claims: listClaims(live), verdicts: [], syncer: undefined }
  return observeApplier(
    new OwnResources(cluster),
    side,
    { packagePath: 'apps/web', pipeline: false },
    signal,
  )
}

test('judges the syncer by its recorded resource', async (t) => {
  assert.match((await applier(t, deploymentOf(['kustomization']), FLUX)).sentence, /is suspended/)
})

test('reports an unrecorded syncer as unknown, never as no syncer', async (t) => {
  const unrecorded = await applier(t, deploymentOf(['kustomization']))
  assert.deepEqual(
    [unrecorded.name, unrecorded.restores],
    ['Flux Kustomization apps/web', 'unknown'],
  )
  assert.match(unrecorded.sentence, /could not be read \(BP3012: it is not in the recording/)
  const nothing = await applier(t, FLUX)
  assert.deepEqual([nothing.name, nothing.restores], ['unknown', 'unknown'])
})
