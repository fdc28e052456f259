/** What every hosted forge must do when a proposal is merged or closed, by people and by us. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { parseObjectId } from '@backporch/kyaml/files'
import { type ContractHands, type ForgeFixture, failsWith } from './forge-fixture.ts'

export function decisionContract(
  fixture: () => ForgeFixture,
  hands: ContractHands,
  signal: AbortSignal,
): void {
  const { count, mainOf, commitOn, pushBranch, readOne, open, countingWrites } = hands

  for (const style of ['merge', 'squash', 'rebase'] as const) {
    it(`sees a proposal that a person merged (${style})`, async () => {
      const wanted = await pushBranch()
      const number = await open(wanted)
      await fixture().human.merge(number, style)
      const known = await readOne(wanted.ref)
      assert.deepEqual(
        [known.number, known.state, known.decidedBy],
        [number, 'merged', fixture().people.writer],
      )
      assert.match(known.decidedAt ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    })
  }

  it('sees a proposal that a person closed, and one that was reopened', async () => {
    const wanted = await pushBranch()
    const number = await open(wanted)
    await fixture().human.close(number)
    const closed = await readOne(wanted.ref)
    assert.deepEqual([closed.state, closed.number], ['closed', number])
    assert.match(closed.decidedAt ?? '', /Z$/)
    await fixture().human.reopen(number)
    assert.equal((await readOne(wanted.ref)).state, 'open')
  })

  it('finds a proposal by its number after its branch was renamed, while open and when closed', async () => {
    const wanted = await pushBranch()
    const number = await open(wanted)
    const name = `people/fix-${number}`
    await fixture().human.renameBranch(number, wanted.ref.slice('refs/heads/'.length), name)
    const read = async () => {
      const all = await fixture()
        .openForge()
        .readProposals('main', [wanted.ref], signal, new Map([[wanted.ref, number]]))
      const { state, movedTo, commit, decidedBy } =
        all.find(({ ref }) => ref === wanted.ref) ?? assert.fail('it is not found')
      return { state, movedTo, commit, decidedBy }
    }
    const now = { movedTo: `refs/heads/${name}`, commit: wanted.commit }
    assert.deepEqual(await read(), { state: 'open', ...now, decidedBy: undefined })
    await fixture().human.close(number)
    assert.deepEqual(await read(), { state: 'closed', ...now, decidedBy: fixture().people.writer })
  })

  it('finds a retargeted proposal by its number, restores the base of an open one, and reports who closed it', async () => {
    const wanted = await pushBranch()
    const number = await open(wanted)
    const read = async () => {
      const all = await fixture()
        .openForge()
        .readProposals('main', [wanted.ref], signal, new Map([[wanted.ref, number]]))
      return all.find(({ ref }) => ref === wanted.ref) ?? assert.fail('it is not found')
    }
    await fixture().human.retarget(number, 'staging')
    const known = await read()
    assert.deepEqual(
      [known.number, known.baseBranch, known.state, known.movedTo],
      [number, 'staging', 'open', undefined],
    )
    await fixture().openForge().ensureProposal(wanted, known, signal)
    assert.equal((await read()).baseBranch, 'main')
    await fixture().human.retarget(number, 'staging')
    await fixture().human.close(number)
    const { state, baseBranch, decidedBy } = await read()
    assert.deepEqual([state, baseBranch, decidedBy], ['closed', 'staging', fixture().people.writer])
  })

  it('finds no proposal when the repository lacks its number', async () => {
    const ref = 'refs/heads/proposed/apps/web/drift-0badcafe'
    const all = await fixture()
      .openForge()
      .readProposals('main', [ref], signal, new Map([[ref, 999_999]]))
    assert.deepEqual(
      all.filter((proposal) => proposal.ref === ref),
      [],
    )
  })

  const tagsOf = async (): Promise<readonly string[]> =>
    [...(await fixture().repository.listRefs(signal)).refs.keys()].filter((ref) =>
      ref.startsWith('refs/tags/'),
    )

  it('merges with tag, deleted branch and ledger', async () => {
    const wanted = await pushBranch()
    const number = await open(wanted)
    const base = await mainOf()
    const ledger = await fixture().repository.write({
      parents: [],
      base: undefined,
      changes: [{ path: `closed/${count()}.yaml`, content: Buffer.from('outcome: Merged\n') }],
      message: 'ledger',
      at: 1_760_000_000,
    })
    const there =
      (await fixture().repository.listRefs(signal)).refs.get('refs/heads/drift-ledger') ?? null
    const merge = {
      parents: [base, wanted.commit],
      base,
      changes: [
        { path: `apps/web/file-${count()}.yaml`, content: Buffer.from(`value: ${count}\n`) },
      ],
      message: `Approve drift-${count()}\n\nBecause.\n\nkpt:{"package":"apps/web","workspaceName":"drift-${count()}"}\n\nDrift-Id: ${count()}\n`,
      at: 1_760_000_900,
    }
    const tag = `refs/tags/apps/web/v${100 + count()}`
    const along = [{ ref: 'refs/heads/drift-ledger', from: there, to: ledger }]
    const decision = {
      proposal: wanted,
      base: { ref: 'refs/heads/main', commit: base },
      merge,
      tag,
      along,
    }
    const commit = parseObjectId(await fixture().openForge().merge(decision, signal))
    const { refs } = await fixture().repository.listRefs(signal)
    assert.deepEqual(
      [
        refs.get('refs/heads/main'),
        refs.get(tag),
        refs.get(wanted.ref),
        refs.get('refs/heads/drift-ledger'),
      ],
      [commit, commit, undefined, ledger],
    )
    const view = await fixture().repository.commit(commit, signal)
    assert.deepEqual(view.parents, [base, wanted.commit])
    assert.match(view.message, /^Approve drift-\d+\n\nBecause\.\n\nkpt:\{.*\}\n\nDrift-Id: \d+/)
    const known = await readOne(wanted.ref)
    assert.deepEqual(
      [known.number, known.state, known.decidedBy],
      [number, 'merged', undefined],
      'our own account decided for somebody',
    )
  })

  it('merges without a tag when none is given', async () => {
    const wanted = await pushBranch()
    await open(wanted)
    const base = await mainOf()
    const before = await tagsOf()
    const merge = {
      parents: [base, wanted.commit],
      base,
      changes: [],
      message: `Approve drift-${count()}`,
      at: 1_760_000_900,
    }
    const decision = {
      proposal: wanted,
      base: { ref: 'refs/heads/main', commit: base },
      merge,
      tag: undefined,
      along: [],
    }
    const commit = parseObjectId(await fixture().openForge().merge(decision, signal))
    assert.equal(await mainOf(), commit)
    assert.deepEqual(await tagsOf(), before)
    assert.equal((await fixture().repository.listRefs(signal)).refs.has(wanted.ref), false)
  })

  it('opens no second proposal for a commit whose closed proposal the caller has not seen', async () => {
    const wanted = await pushBranch()
    const number = await open(wanted)
    await fixture().human.close(number)
    const from = fixture().writes()
    await failsWith('BP4003', fixture().openForge().ensureProposal(wanted, undefined, signal))
    assert.equal(fixture().writes() - from, 0, 'nothing is written')
    const closed = await readOne(wanted.ref)
    assert.deepEqual([closed.number, closed.state], [number, 'closed'])
    const again = await fixture().openForge().ensureProposal(wanted, closed, signal)
    assert.notEqual(again.number, number, 'who has seen it may ask again')
  })

  for (const how of ['merged', 'closed'] as const) {
    it(`reports the commit that was ${how} after the branch moves or is deleted`, async () => {
      const wanted = await pushBranch()
      const number = await open(wanted)
      await (how === 'merged'
        ? fixture().human.merge(number, 'squash')
        : fixture().human.close(number))
      assert.equal((await readOne(wanted.ref)).commit, wanted.commit)
      const next = await commitOn(await mainOf())
      await fixture().repository.push([{ ref: wanted.ref, from: wanted.commit, to: next }], signal)
      const moved = await readOne(wanted.ref)
      assert.deepEqual([moved.number, moved.state, moved.commit], [number, how, wanted.commit])
      await fixture().repository.push([{ ref: wanted.ref, from: next, to: null }], signal)
      const gone = await readOne(wanted.ref)
      assert.deepEqual([gone.number, gone.state, gone.commit], [number, how, wanted.commit])
    })

    it(`does not edit the text of a proposal that was ${how} since it was read`, async () => {
      const wanted = await pushBranch()
      const number = await open(wanted)
      const known = await readOne(wanted.ref)
      await (how === 'merged'
        ? fixture().human.merge(number, 'squash')
        : fixture().human.close(number))
      const from = fixture().writes()
      const claims = {
        ...wanted,
        title: 'chore(drift): restore everything',
        body: 'everything',
        labels: ['drift'],
      }
      await failsWith('BP4003', fixture().openForge().ensureProposal(claims, known, signal))
      assert.equal(fixture().writes() - from, 0, 'nothing is written')
      const after = await readOne(wanted.ref)
      assert.deepEqual(
        [after.state, after.title, after.body, [...after.labels].sort()],
        [how, known.title, known.body, [...known.labels].sort()],
      )
    })
  }

  it('merges nothing when the head or the base moved', async () => {
    const wanted = await pushBranch()
    await open(wanted)
    const base = await mainOf()
    const merge = {
      parents: [base, wanted.commit],
      base,
      changes: [],
      message: 'merge',
      at: 1_760_000_000,
    }
    const decision = {
      proposal: wanted,
      base: { ref: 'refs/heads/main', commit: base },
      merge,
      tag: 'refs/tags/apps/web/v900',
      along: [],
    }
    const next = await commitOn(wanted.commit)
    await fixture().repository.push([{ ref: wanted.ref, from: wanted.commit, to: next }], signal)
    await failsWith('BP4003', fixture().openForge().merge(decision, signal))
    const moved = await commitOn(base)
    await fixture().repository.push([{ ref: 'refs/heads/main', from: base, to: moved }], signal)
    await failsWith(
      'BP4003',
      fixture()
        .openForge()
        .merge({ ...decision, proposal: { ref: wanted.ref, commit: next } }, signal),
    )
    assert.equal(await mainOf(), moved)
    assert.equal((await readOne(wanted.ref)).state, 'open')
  })

  it('closes an open proposal once and records no decider', async () => {
    const wanted = await pushBranch()
    await open(wanted)
    const known = await readOne(wanted.ref)
    assert.equal(await countingWrites(() => fixture().openForge().closeProposal(known, signal)), 1)
    assert.equal(await countingWrites(() => fixture().openForge().closeProposal(known, signal)), 0)
    const closed = await readOne(wanted.ref)
    assert.deepEqual(
      [closed.number, closed.state, closed.decidedBy],
      [known.number, 'closed', undefined],
    )
  })

  it('deletes the branch and writes the ledger in one push when it closes a proposal', async () => {
    const wanted = await pushBranch()
    const number = await open(wanted)
    const stale = [{ ref: 'refs/heads/drift-ledger', from: wanted.commit, to: wanted.commit }]
    await failsWith(
      'BP4003',
      fixture().openForge().close({ proposal: wanted, along: stale }, signal),
    )
    assert.equal(
      (await readOne(wanted.ref)).state,
      'open',
      'nothing is closed when the push is refused',
    )
    await fixture().openForge().close({ proposal: wanted, along: [] }, signal)
    assert.equal((await fixture().repository.listRefs(signal)).refs.get(wanted.ref), undefined)
    const known = await readOne(wanted.ref)
    assert.deepEqual([known.number, known.state], [number, 'closed'])
  })
}
