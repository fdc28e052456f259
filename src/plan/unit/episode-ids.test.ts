import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordOf } from '../../../test/fakes/record-samples.ts'
import { KPTFILE, proposed, TurnWorld, WEB } from '../../../test/fakes/turn-world.ts'
import { formatDocument } from '../../record/write-document.ts'
import { createClosedEpisode } from '../observation/closed-episode.ts'
import { createEpisodeId } from './episode-ids.ts'

const ID = 'c0ffee00'
const FINGERPRINT = `sha256:${ID.padEnd(64, '1')}`

interface Taken {
  readonly closed?: readonly string[]
  readonly open?: readonly string[]
  readonly refs?: readonly string[]
  readonly own?: readonly string[]
  readonly begun?: readonly string[]
  readonly pushed?: readonly string[]
  readonly approval?: 'forge' | 'porch'
}

function idAmong({
  closed = [],
  open = [],
  refs = [],
  own = [],
  begun = [],
  pushed = [],
  approval = 'forge',
}: Taken): string {
  const git = {
    merged: [],
    earlierNamed: [],
    episodes: { closed: new Set(closed), open: new Set(open), pushed: new Set(pushed) },
    refs: new Map(refs.map((ref) => [ref, '0'.repeat(40)])),
  }
  const unit = {
    cluster: 'prod',
    packagePath: 'apps/web',
    packageName: 'apps/web',
    slug: 'apps-web',
  }
  const episodes = own.map((episode) =>
    createClosedEpisode(recordOf([], { episode }), { outcome: 'Healed', decidedBy: '', at: '' }),
  )
  return createEpisodeId(
    FINGERPRINT,
    { unit, git, policy: { approval } } as never,
    episodes,
    new Set(begun),
  )
}

const ROWS: readonly (readonly [name: string, taken: Taken, id: string])[] = [
  ['by nobody', {}, ID],
  ['by others', { closed: ['c0ffee01'], open: ['c0ffee02'], begun: ['c0ffee03'] }, ID],
  ['by a closed episode of any unit', { closed: [ID] }, `${ID}-2`],
  ['by an earlier episode of this unit', { own: [ID, `${ID}-2`] }, `${ID}-3`],
  [
    'by an open branch of another package',
    { open: [ID], refs: [`refs/heads/proposed/apps/other/drift-${ID}`] },
    `${ID}-2`,
  ],
  ['by a unit of the same turn', { begun: [ID], closed: [`${ID}-2`] }, `${ID}-3`],
  ['by a branch that was pushed before', { pushed: [ID] }, ID],
  [
    'by a branch that was pushed before, with approval in Porch',
    { pushed: [ID, `${ID}-2`], approval: 'porch' },
    `${ID}-3`,
  ],
  [
    'by a branch of this package, which the caller handles',
    { open: [ID], refs: [`refs/heads/drafts/apps/web/drift-${ID}`] },
    ID,
  ],
]
for (const [name, taken, id] of ROWS)
  test(`with the id taken ${name}, the episode id is ${id}`, () => assert.equal(idAmong(taken), id))

test("a unit never reuses the id of another unit's closed episode or overwrites it", async () => {
  const id = (await (await proposed()).plan()).record?.spec.episode ?? ''
  assert.match(id, /^[0-9a-f]{8}$/)
  const other = createClosedEpisode(recordOf([], { episode: id, began: '2026-11-02T08:00:00Z' }), {
    outcome: 'Healed',
    decidedBy: '',
    at: '',
  })
  const foreign = formatDocument({
    ...other,
    spec: {
      ...other.spec,
      unit: {
        cluster: 'other',
        package: 'apps/other',
        commit: '0'.repeat(40),
        tree: '0'.repeat(16),
      },
    },
  })
  const path = `closed/2026/11/${id}.yaml`
  const world = new TurnWorld()
  world.repository.commitByHand('drift-ledger', { [path]: foreign })
  world.edit(WEB, 'spec.replicas', 5)
  const { record } = await world.plan()
  assert.equal(record?.spec.episode, `${id}-2`)
  await world.approve()
  assert.equal(world.repository.text('drift-ledger', path), foreign)
  assert.match(
    world.repository.text('drift-ledger', `closed/2026/11/${id}-2.yaml`) ?? '',
    /outcome: Merged/,
  )
})

// Found by trying 100,000 values each: the fingerprints of these two drifts begin with the same eight digits.
const SHARED = '609749e1'
function collidingWorld(): {
  readonly world: TurnWorld
  readonly editSame: () => void
  readonly editWeb: () => void
} {
  const world = new TurnWorld('{mode: Propose}', {
    'apps/same/Kptfile': KPTFILE.replace('name: web', 'name: same'),
    'apps/same/deployment.yaml':
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: same, namespace: shop}\nspec: {replicas: 3}\n',
  })
  return {
    world,
    editSame: () => world.edit('apps/Deployment/shop/same', 'spec.replicas', 10_700),
    editWeb: () => world.edit(WEB, 'spec.replicas', 41_833),
  }
}

async function episodesOf(world: TurnWorld): Promise<string[]> {
  const { units } = await world.scan()
  return units.map((unit) =>
    unit.state === 'planned' ? (unit.plan.record?.spec.episode ?? '') : unit.state,
  )
}

test('two units that start with one id in a turn get two ids and keep them', async () => {
  const { world, editSame, editWeb } = collidingWorld()
  editSame()
  editWeb()
  assert.deepEqual(await episodesOf(world), [SHARED, `${SHARED}-2`])
  assert.deepEqual(await episodesOf(world), [SHARED, `${SHARED}-2`])
  assert.deepEqual(world.repository.names(), [
    `proposed/apps/same/drift-${SHARED}`,
    `proposed/apps/web/drift-${SHARED}-2`,
  ])
})

test('a unit gets another id when an open episode of another package has it', async () => {
  const { world, editSame, editWeb } = collidingWorld()
  editWeb()
  assert.deepEqual(await episodesOf(world), ['', SHARED])
  editSame()
  assert.deepEqual(await episodesOf(world), [`${SHARED}-2`, SHARED])
})
