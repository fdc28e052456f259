import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  InventoryWorld,
  KUSTOMIZE_MARKS,
  kustomization,
} from '../../../test/fakes/inventory-world.ts'
import { TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import { WorkerRenderer } from '../../adapters/functions/worker-renderer.ts'
import type { ObjectVerdict } from '../../drift/compare/drift.ts'
import { TurnCache } from './turn-cache.ts'

const ENTRIES = ['shop_web_apps_Deployment', 'shop_web__ConfigMap']
const ALLOW = `apiVersion: backporch.dev/v1alpha1
kind: Placement
metadata: {name: web}
spec: {clusters: [prod], packages: ["apps/**"], allow: {namespaces: [shop]}}
`

function fluxWorld(entries: readonly string[]): TurnWorld {
  const world = new InventoryWorld().mark(KUSTOMIZE_MARKS)
  world.cluster.put(kustomization('./apps/web', entries))
  return world
}

for (const [where, world] of [
  ['no mark and no placement', () => new TurnWorld()],
  ['an inventory', () => fluxWorld(ENTRIES)],
  [
    'an inventory that lists a missing object',
    () => fluxWorld([...ENTRIES, 'shop_gone__ConfigMap']),
  ],
  [
    'an inventory that covers another folder too',
    () => fluxWorld([...ENTRIES, 'elsewhere_other__ConfigMap']),
  ],
  [
    'a placement with allow',
    () => new TurnWorld('{mode: Propose}', { '.drift/placement.yaml': ALLOW }),
  ],
] as const) {
  test(`with ${where}, an unchanged drifted unit is not evaluated again`, async () => {
    const here = world()
    here.edit(WEB, 'spec.replicas', 5)
    const renderer = new WorkerRenderer({
      allowed: { exec: [], images: [] },
      engine: undefined,
      environment: {},
    })
    const memory = { between: new TurnCache(), renderer, dryRun: true }
    const observe = async (): Promise<readonly ObjectVerdict[]> => {
      const [unit] = (await here.scan(memory)).units
      if (unit?.state !== 'planned') throw unit?.failures[0] ?? new TypeError('no unit')
      return unit.observation.verdicts
    }
    const first = await observe()
    assert.equal(first.flatMap(({ items }) => items).length, 1)
    assert.equal(await observe(), first, 'the same list, and not one like it')
    here.edit(WEB, 'spec.replicas', 6)
    const moved = await observe()
    assert.deepEqual(
      moved.flatMap(({ items }) => items.map(({ live }) => live)),
      [6],
    )
  })
}
