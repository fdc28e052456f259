/**
 * A person decides in the browser at one moment of what backporch does: before or after one of its writes to git or to the forge, or
 * between its look at git and its look at the forge. Then turns go on until nothing is written any more.
 */
import assert from 'node:assert/strict'
import { listPendingSettles } from '../../src/plan/unit/pending-settles.ts'
import { planSettle, settleTargets } from '../../src/plan/unit/plan-settle.ts'
import { runFleetTurn } from '../../src/reconcile/turn/run-turn.ts'
import {
  type ClosedEpisode,
  closedEpisodeSchema,
} from '../../src/record/documents/closed-episode.ts'
import { type DriftRecord, driftRecordSchema } from '../../src/record/documents/drift-record.ts'
import { parseDocument } from '../../src/record/write-document.ts'
import { remember, runToQuiet } from '../crash/forge-killer.ts'
import { signal, type World } from '../crash/forge-scenes.ts'

export interface Race {
  readonly name: string
  /** A pull request #1 is open, or will be, and something happened that the next turn answers to. */
  begin(): Promise<World>
}

export const DECISIONS = ['merged', 'closed'] as const
type Decided = (typeof DECISIONS)[number]

/** What a person saw in the browser at the moment of the decision, and what they decided about. */
interface Reviewed {
  readonly record: DriftRecord
  readonly title: string
  readonly body: string
  readonly labels: readonly string[]
}

/** @returns how often somebody decided, and one text for each time that ended wrong */
export async function sweep(
  race: Race,
): Promise<{ readonly tried: number; readonly wrong: readonly string[] }> {
  const scene = await race.begin()
  const again = remember(scene)
  let moments = 0
  const run = async (decided: Decided | undefined, at: number): Promise<Reviewed | undefined> => {
    again()
    let reviewed: Reviewed | undefined
    moments = 0
    const moment = (): void => {
      moments += 1
      if (decided !== undefined && moments === at) reviewed = decide(scene, decided)
    }
    scene.forge.beforeRead = moment
    const { minutes } = await runToQuiet(scene, undefined, moment)
    scene.forge.beforeRead = () => undefined
    scene.pass(-minutes)
    return reviewed
  }
  await run(undefined, 0)
  const all = moments
  assert.ok(all > 3, `${race.name} is a race: ${all} moments`)
  const wrong: string[] = []
  let tried = 0
  for (const decided of DECISIONS) {
    for (let at = 1; at <= all; at += 1) {
      const where = `${race.name}: ${decided} at moment ${at} of ${all}`
      try {
        const reviewed = await run(decided, at)
        if (reviewed === undefined) continue
        tried += 1
        await judge(scene, decided, reviewed)
      } catch (thrown) {
        wrong.push(
          `${where}: ${thrown instanceof Error ? thrown.message.slice(0, 600) : String(thrown)}`,
        )
      }
    }
  }
  return { tried, wrong }
}

/** @returns undefined where no pull request #1 is open that could be decided about */
function decide({ forge, repository, world }: World, decided: Decided): Reviewed | undefined {
  const proposal = forge.proposals.find(({ number }) => number === 1)
  const branch = proposal?.ref.replace('refs/heads/', '') ?? ''
  if (proposal?.state !== 'open' || !repository.branches.has(proposal.ref)) return undefined
  const { title, body, labels } = proposal
  const reviewed = { record: recordOn(repository, branch), title, body, labels }
  if (decided === 'merged') {
    // As a squash: what the branch changes against the commit that it was built on.
    const paths = repository
      .paths(branch)
      .filter((path) => repository.text(branch, path) !== repository.text('main', path))
    repository.commitByHand(
      'main',
      Object.fromEntries(paths.map((path) => [path, repository.text(branch, path) ?? null])),
    )
  }
  forge.byHand(1, { state: decided, decidedBy: 'grace', decidedAt: world.cluster.now })
  return reviewed
}

function recordOn(repository: World['repository'], branch: string): DriftRecord {
  const paths = repository
    .paths(branch)
    .filter(
      (path) => path.startsWith('.drift/records/') && repository.text('main', path) === undefined,
    )
  const [path = ''] = paths
  assert.equal(paths.length, 1, `one new record on ${branch}`)
  return parseDocument(repository.text(branch, path) ?? '', driftRecordSchema, path)
}

async function judge(scene: World, decided: Decided, reviewed: Reviewed): Promise<void> {
  const { forge, repository } = scene
  const { fingerprint, changes, plan } = reviewed.record.spec
  const closed = closedOf(repository)
  const decisions = closed.filter(
    ({ status }) => status.outcome === 'Merged' || status.outcome === 'Declined',
  )
  assert.deepEqual(
    decisions.map(({ spec, status }) => [
      status.outcome,
      status.decidedBy,
      spec.fingerprint,
      spec.plan,
      spec.changes,
    ]),
    [[decided === 'merged' ? 'Merged' : 'Declined', 'grace', fingerprint, plan, changes]],
    'one decision in the ledger, about what was reviewed',
  )
  const tags = [...repository.branches.keys()].filter((ref) => ref.startsWith('refs/tags/'))
  assert.deepEqual(tags, decided === 'merged' ? ['refs/tags/apps/web/v1'] : [], 'published once')
  const first = forge.proposals.find(({ number }) => number === 1)
  assert.deepEqual(
    [first?.state, first?.title, first?.body, first?.labels],
    [decided, reviewed.title, reviewed.body, reviewed.labels],
    'the text that was reviewed stays',
  )
  const own = { ...scene.world.ports, clusters: [scene.world.cluster] }
  const turn = await runFleetTurn(own, scene.world.request({ dryRun: true }), signal)
  const [unit] = turn.units
  assert.ok(unit?.state === 'planned')
  const live = new Set(unit.plan.report.spec.changes.map((change) => change.fingerprint))
  const known = new Set(changes.map((change) => change.fingerprint))
  const open = forge.proposals.filter(({ state }) => state === 'open')
  const requested = new Set(
    open.flatMap(({ ref }) =>
      recordOn(repository, ref.replace('refs/heads/', '')).spec.changes.map(
        (each) => each.fingerprint,
      ),
    ),
  )
  const unseen = [...live].filter((change) => !known.has(change))
  if (unseen.length > 0)
    assert.ok(
      unseen.every((change) => requested.has(change)),
      'what nobody saw is asked about',
    )
  for (const { body } of open) assert.notEqual(body, '')
  assert.ok(open.length <= 1, 'one open proposal')
  const writes = await settledLocations(turn, scene)
  const approved =
    decided === 'merged'
      ? changes.filter(({ resolution }) => resolution === 'Restore').map(({ path = '' }) => path)
      : []
  for (const location of writes)
    assert.ok(
      approved.some((path) => path.endsWith(location)),
      `settle writes ${location}, which nobody approved`,
    )
}

/** Names of the fields that `settle: backporch` would write now. */
async function settledLocations(
  turn: Awaited<ReturnType<typeof runFleetTurn>>,
  { world }: World,
): Promise<string[]> {
  const [unit] = turn.units
  if (unit?.state !== 'planned') return []
  const locations: string[] = []
  for (const { record } of listPendingSettles(turn)) {
    const live = await world.cluster.readLive(settleTargets(unit.observation, record))
    try {
      const text = JSON.stringify(planSettle(unit.observation, record, live))
      for (const location of ['replicas', 'image', 'color'])
        if (text.includes(`"${location}":`)) locations.push(location)
    } catch (thrown) {
      // It refuses to touch an object that somebody changed beside what was approved.
      assert.match(String(thrown), /changed since the review/)
    }
  }
  return locations
}

export function closedOf(repository: World['repository']): ClosedEpisode[] {
  return repository
    .paths('drift-ledger')
    .filter((path) => path.startsWith('closed/'))
    .map((path) =>
      parseDocument(repository.text('drift-ledger', path) ?? '', closedEpisodeSchema, path),
    )
}
