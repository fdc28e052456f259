/**
 * A Porch server, people and syncers act on one repository in any order, with scans in between. No commit of a person is lost, no decision becomes
 * another one, and `history` explains every published revision.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import type { ClosedEpisode } from '../../src/record/documents/closed-episode.ts'
import type { DriftRecord } from '../../src/record/documents/drift-record.ts'
import { MemoryPorch } from '../fakes/memory-porch.ts'
import { mergeByHand, TurnWorld, WEB, WEB_CONFIG } from '../fakes/turn-world.ts'
import * as fc from '../seeds/fast-check.ts'

const PACKAGE = 'apps/web'
const PERSON = 'ada@example.com'

type Act =
  | {
      readonly act:
        | 'scan'
        | 'sync'
        | 'reject'
        | 'propose'
        | 'propose-rendered'
        | 'merge'
        | 'commit-on-main'
        | 'commit-on-branch'
        | 'delete-leftover'
    }
  | { readonly act: 'approve'; readonly copies: boolean; readonly cached: boolean }
  | { readonly act: 'edit'; readonly field: 'replicas' | 'color'; readonly value: number }

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Act>({ act: 'scan' }) },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('edit' as const),
      field: fc.constantFrom('replicas' as const, 'color' as const),
      value: fc.integer({ min: 4, max: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('approve' as const),
      copies: fc.boolean(),
      cached: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...(
        [
          'sync',
          'reject',
          'propose',
          'propose-rendered',
          'merge',
          'commit-on-main',
          'commit-on-branch',
          'delete-leftover',
        ] as const
      ).map((name): Act => ({ act: name })),
    ),
  },
)

interface Decision {
  readonly workspace: string
  readonly how: 'approved' | 'published' | 'rejected'
}

class Interleaving {
  readonly world: TurnWorld
  readonly porch: MemoryPorch
  readonly decisions: Decision[] = []
  /** Porch approves a workspace once, and rejects none that it approved. */
  private readonly approved = new Set<string>()
  /** Commits that Porch has in its cache, by workspace. */
  private readonly cache = new Map<string, ObjectId>()
  /** Workspaces with a commit of a person, under whatever Porch renders later. */
  private readonly touched = new Set<string>()
  private counter = 0

  constructor(policy: string) {
    this.world = new TurnWorld(policy)
    this.porch = new MemoryPorch(this.world.repository)
  }

  async do(step: Act): Promise<void> {
    const { world, porch } = this
    const { repository } = world
    const [proposal] = porch.workspaces('proposed', PACKAGE)
    const [draft] = porch.workspaces('drafts', PACKAGE)
    if (step.act === 'scan') return this.scan()
    if (step.act === 'sync') return world.sync()
    if (step.act === 'edit') {
      if (step.field === 'replicas') world.edit(WEB, 'spec.replicas', step.value)
      else world.edit(WEB_CONFIG, 'data.color', `c${step.value}`)
      return
    }
    if (step.act === 'commit-on-main') {
      this.counter += 1
      repository.commitByHand('main', { [`apps/other/note-${this.counter}.md`]: 'x\n' })
      return
    }
    if (step.act === 'commit-on-branch') {
      this.counter += 1
      const branch = proposal === undefined ? undefined : `proposed/${PACKAGE}/${proposal}`
      if (proposal === undefined || branch === undefined) return
      repository.commitByHand(branch, { [`apps/web/note-${this.counter}.md`]: 'x\n' })
      this.touched.add(proposal)
      return
    }
    if (step.act === 'propose' || step.act === 'propose-rendered') {
      if (draft === undefined || proposal === draft) return
      porch.propose(PACKAGE, draft, step.act === 'propose-rendered')
      // Proposed once more: what was rejected before is open again.
      const before = this.decisions.findIndex(
        ({ workspace, how }) => workspace === draft && how === 'rejected',
      )
      if (before >= 0) this.decisions.splice(before, 1)
      return
    }
    if (proposal === undefined) return
    const branch = `proposed/${PACKAGE}/${proposal}`
    if (step.act !== 'merge' && this.approved.has(proposal)) return
    if (step.act === 'reject') {
      const lifecycle = this.stateOf(branch, proposal)
      if (draft === proposal) return
      porch.reject(PACKAGE, proposal)
      // What is merged is merged, whatever becomes of its branch.
      const isMerged = this.decisions.some(
        ({ workspace, how }) => workspace === proposal && how === 'approved',
      )
      if (lifecycle === 'Proposed' && !this.touched.has(proposal) && !isMerged)
        this.decisions.push({ workspace: proposal, how: 'rejected' })
      return
    }
    if (step.act === 'merge') {
      const lifecycle = this.stateOf(branch, proposal)
      await mergeByHand(world, branch)
      if (lifecycle === 'Proposed') this.decisions.push({ workspace: proposal, how: 'approved' })
      return
    }
    if (step.act === 'approve') {
      const cached = step.cached ? this.cache.get(proposal) : undefined
      const lifecycle =
        cached === undefined ? this.stateOf(branch, proposal) : this.stateAt(cached, proposal)
      porch.approve(PACKAGE, proposal, {
        copies: step.copies,
        ...(cached === undefined ? {} : { cached }),
      })
      this.approved.add(proposal)
      this.decisions.push({
        workspace: proposal,
        how: lifecycle === 'Proposed' ? 'approved' : 'published',
      })
    }
  }

  async scan(): Promise<void> {
    const { repository } = this.world
    const theirs = [...repository.branches.values()].filter(
      (id) => repository.authorOf(id) === PERSON,
    )
    const before = [...repository.branches].map(([ref, id]) => `${ref} ${id}`)
    await this.world.scan()
    for (const id of theirs)
      assert.ok(
        [...repository.branches.values()].some((head) => repository.reaches(head, id)),
        `a commit of a person is lost; before: ${before.join(', ')}`,
      )
    for (const workspace of this.porch.workspaces('proposed', PACKAGE))
      this.cache.set(
        workspace,
        this.cache.get(workspace) ?? repository.head(`proposed/${PACKAGE}/${workspace}`),
      )
  }

  closed(): readonly ClosedEpisode[] {
    const { repository } = this.world
    const paths = repository.paths('drift-ledger').filter((path) => path.startsWith('closed/'))
    return paths.map(
      (path) =>
        parseGoYaml(repository.text('drift-ledger', path) ?? '', path).documents[0]
          ?.value as unknown as ClosedEpisode,
    )
  }

  /** Lifecycle of the record that the branch has; empty without one. */
  private stateOf(branch: string, workspace: string): string {
    return this.stateAt(this.world.repository.head(branch), workspace)
  }

  private stateAt(commit: ObjectId, workspace: string): string {
    const { repository } = this.world
    repository.branches.set('refs/heads/looked-at', commit)
    const [path = ''] = repository
      .paths('looked-at')
      .filter((each) => each.endsWith(`-${workspace.slice('drift-'.length)}.record`))
    const text = repository.text('looked-at', path) ?? ''
    repository.branches.delete('refs/heads/looked-at')
    const record =
      text === ''
        ? undefined
        : (parseGoYaml(text, path).documents[0]?.value as unknown as DriftRecord)
    return record?.spec.lifecycle ?? ''
  }
}

for (const policy of [
  '{mode: Propose}',
  '{mode: Warn}',
  '{mode: Propose, approval: porch}',
  '{mode: Propose, settle: backporch}',
])
  it(`any order of acts by Porch and people is explained: ${policy}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 18 }), async (steps) => {
        const run = new Interleaving(policy)
        for (const step of [
          { act: 'edit', field: 'replicas', value: 5 },
          { act: 'scan' },
          ...steps,
        ] as const)
          await run.do(step)
        await run.scan()
        await run.scan()
        const closed = run.closed()
        const explained = new Map(
          closed.map((episode) => [`drift-${episode.metadata.name}`, episode.status]),
        )
        const last = new Map(run.decisions.map((decision) => [decision.workspace, decision]))
        for (const [workspace, { how }] of last) {
          const outcome = explained.get(workspace)?.outcome
          const expected =
            how === 'approved' ? 'Merged' : how === 'rejected' ? 'Declined' : 'Published'
          assert.equal(outcome, expected, `${workspace} was ${how}`)
        }
        const { repository } = run.world
        for (const [ref, id] of repository.branches) {
          const number = /^refs\/tags\/apps\/web\/(v\d+)$/.exec(ref)?.[1]
          if (number === undefined) continue
          const found = closed.filter(({ status }) => status.revision === number)
          assert.equal(found.length, 1, `${number} is explained ${found.length} times`)
          const { publishedBy, commit } = found[0]?.status ?? {}
          if (publishedBy === 'porch') assert.equal(commit, id, `${number} is elsewhere`)
        }
        // A decision that the cluster does not follow within its time is proposed again.
        let writes = 1
        for (let scan = 0; scan < 15 && writes > 0; scan += 1)
          writes = (await run.world.scan()).updates.length
        assert.equal(writes, 0, 'every scan writes')
      }),
      { numRuns: 120 },
    )
  })

it('the author of manual commits is the person of these tests', () => {
  const world = new TurnWorld()
  assert.equal(world.repository.authorOf(world.repository.head('main')), PERSON)
  assert.throws(() => world.repository.authorOf(parseObjectId('0'.repeat(40))))
})
