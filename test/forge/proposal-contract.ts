/** What every hosted forge must do to open a proposal once, and keep it as it is wanted. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { waitUntil } from '../waiting/wait-until.ts'
import type { ContractHands, ForgeFixture } from './forge-fixture.ts'

export function proposalContract(
  fixture: () => ForgeFixture,
  hands: ContractHands,
  signal: AbortSignal,
): void {
  const { count, pushBranch, readOne, open, countingWrites } = hands

  it('opens a proposal and reads it back', async () => {
    const wanted = await pushBranch()
    const opened = await fixture().openForge().ensureProposal(wanted, undefined, signal)
    assert.equal(opened.label, `#${opened.number}`)
    assert.match(opened.url, /^https?:\/\//)
    const known = await readOne(wanted.ref)
    assert.equal(known.number, opened.number)
    assert.equal(known.url, opened.url)
    assert.deepEqual(
      [
        known.state,
        known.commit,
        known.baseBranch,
        known.title,
        known.draft,
        known.decidedBy,
        known.decidedAt,
      ],
      ['open', wanted.commit, 'main', wanted.title, false, undefined, undefined],
    )
    assert.equal(known.body.trimEnd(), wanted.body.trimEnd())
    assert.deepEqual([...known.labels].sort(), [...wanted.labels].sort())
  })

  it('reads any pull request by its number, and the open ones into a branch', async () => {
    const wanted = await pushBranch()
    const number = await open(wanted)
    const forge = fixture().openForge()
    const { url, ...pull } = await forge.readPullRequest(number, signal)
    const branch = wanted.ref.replace('refs/heads/', '')
    assert.deepEqual(pull, {
      number,
      label: `#${number}`,
      baseBranch: 'main',
      commit: wanted.commit,
      branch,
      fork: false,
      open: true,
    })
    assert.match(url, /^https?:\/\//)
    const listed = async () =>
      (await fixture().openForge().readPullRequests('main', signal)).filter(
        (each) => each.number === number,
      )
    assert.deepEqual(await listed(), [{ url, ...pull }])
    await fixture().human.close(number)
    assert.deepEqual(await listed(), [])
    assert.equal((await fixture().openForge().readPullRequest(number, signal)).open, false)
  })

  it('reads open heads with their status, whoever opened them', async () => {
    const [own, other] = [await pushBranch(), await pushBranch()]
    await open(own)
    const number = await open(other)
    const wanted = { baseBranch: 'main', context: 'drift/fresh', refs: new Map() }
    const read = async () =>
      (await fixture().openForge().readOpenHeads(wanted, signal)).flatMap(
        ({ commit, status, ...head }) =>
          commit === other.commit
            ? [
                {
                  ...head,
                  status:
                    status === undefined ? undefined : `${status.state}: ${status.description}`,
                },
              ]
            : [],
      )
    assert.deepEqual(await read(), [{ kind: 'proposal', numbers: [number], status: undefined }])
    await fixture().human.close(number)
    assert.deepEqual(await read(), [])
  })

  it('sends no write for an unchanged proposal, whether or not it is known', async () => {
    const wanted = await pushBranch()
    await open(wanted)
    const known = await readOne(wanted.ref)
    assert.equal(
      await countingWrites(() => fixture().openForge().ensureProposal(wanted, known, signal)),
      0,
      'known',
    )
    assert.equal(
      await countingWrites(() => fixture().openForge().ensureProposal(wanted, undefined, signal)),
      0,
      'not known',
    )
  })

  it('opens one proposal for a branch when two requests run at once', async () => {
    const wanted = await pushBranch()
    const both = await Promise.all([open(wanted), open(wanted)])
    assert.equal(both[0], both[1])
    await readOne(wanted.ref)
  })

  it('adopts the proposal of a request whose answer was lost', async () => {
    const wanted = await pushBranch()
    fixture().loseNextAnswer()
    const number = await open(wanted)
    const known = await readOne(wanted.ref)
    assert.equal(known.number, number)
    assert.deepEqual([...known.labels].sort(), [...wanted.labels].sort())
  })

  it('updates title, body and our labels in place, and keeps labels of people', async () => {
    const wanted = await pushBranch()
    const number = await open(wanted)
    await fixture().human.addLabel(number, 'team-a')
    await fixture().human.addLabel(number, 'drift-free')
    await fixture().human.editBody(number, 'somebody\r\nwrote this')
    const edited = await readOne(wanted.ref)
    assert.equal(edited.body, 'somebody\nwrote this')
    const next = {
      ...wanted,
      title: 'fix(drift): adopt',
      body: 'line\nother\n',
      labels: ['drift', 'drift-plan/adopt'],
    }
    await fixture().openForge().ensureProposal(next, edited, signal)
    const known = await readOne(wanted.ref)
    assert.deepEqual(
      [known.number, known.title, known.body.trimEnd()],
      [number, next.title, 'line\nother'],
    )
    assert.deepEqual([...known.labels].sort(), [
      'drift',
      'drift-free',
      'drift-plan/adopt',
      'team-a',
    ])
  })

  it('treats a body with other line breaks and a title at the limit as unchanged', async () => {
    const { titleLimit } = fixture().openForge().dialect
    for (const draft of [false, true]) {
      const wanted = {
        ...(await pushBranch()),
        title: `fix(drift): ${'ä'.repeat(titleLimit - 12)}`,
        body: 'one\ntwo\n',
        draft,
      }
      const number = await open(wanted)
      await fixture().human.editBody(number, 'one\r\ntwo')
      const known = await readOne(wanted.ref)
      assert.equal(
        await countingWrites(() => fixture().openForge().ensureProposal(wanted, known, signal)),
        0,
        `draft ${draft}`,
      )
    }
  })

  it('returns hostile text unchanged, and sends it once', async () => {
    const hostile =
      '@all `x` --> <img src=x> \u202e\u200b \u001b[31m closes #1 =1+1 |\n\n```\n/adopt\n```\n<!-- backporch:topic:status -->'
    const wanted = {
      ...(await pushBranch()),
      title: 'fix(drift): `-->` <img> @all #1 | \u202e',
      body: hostile,
    }
    const number = await open(wanted)
    const known = await readOne(wanted.ref)
    assert.deepEqual([known.title, known.body], [wanted.title, wanted.body])
    assert.equal(
      await countingWrites(() => fixture().openForge().ensureProposal(wanted, known, signal)),
      0,
    )
    await fixture().human.comment(number, hostile)
    await fixture().openForge().ensureComment(number, 'status', hostile, signal)
    assert.equal(
      await countingWrites(() =>
        fixture().openForge().ensureComment(number, 'status', hostile, signal),
      ),
      0,
    )
    assert.deepEqual(
      (await fixture().openForge().readComments(number, signal)).map(({ body }) => body),
      [hostile],
    )
  })

  it('sees a proposal whose branch was deleted as closed, and reports none for a branch that never had one', async () => {
    const wanted = await pushBranch()
    const number = await open(wanted)
    await fixture().repository.push([{ ref: wanted.ref, from: wanted.commit, to: null }], signal)
    // Forges close it some time after the push.
    const known = await waitUntil('it is closed', async () => {
      const read = await readOne(wanted.ref)
      return read.state !== 'open' && read
    })
    assert.deepEqual([known.number, known.state, known.commit], [number, 'closed', wanted.commit])
    const never = 'refs/heads/proposed/apps/web/drift-never'
    assert.ok(
      !(await fixture().openForge().readProposals('main', [never], signal)).some(
        ({ ref }) => ref === never,
      ),
    )
  })

  it('turns a draft into a proposal and back', async () => {
    const wanted = { ...(await pushBranch()), draft: true }
    const number = await open(wanted)
    const draft = await readOne(wanted.ref)
    assert.deepEqual(
      [draft.draft, draft.title],
      [true, wanted.title],
      'the title is told without a mark',
    )
    assert.equal(
      await countingWrites(() => fixture().openForge().ensureProposal(wanted, draft, signal)),
      0,
    )
    await fixture()
      .openForge()
      .ensureProposal({ ...wanted, draft: false }, draft, signal)
    const ready = await readOne(wanted.ref)
    assert.deepEqual([ready.number, ready.draft, ready.title], [number, false, wanted.title])
    await fixture().openForge().ensureProposal(wanted, ready, signal)
    assert.equal((await readOne(wanted.ref)).draft, true)
  })

  it('requests the valid reviewers and opens the proposal although others are invalid', async () => {
    const wanted = {
      ...(await pushBranch()),
      reviewers: ['nobody-of-that-name', fixture().people.writer, 'no-org/no-team'],
    }
    await open(wanted)
    assert.equal((await readOne(wanted.ref)).state, 'open')
    const known = await readOne(wanted.ref)
    assert.equal(
      await countingWrites(() => fixture().openForge().ensureProposal(wanted, known, signal)),
      0,
      'asked once',
    )
    const told = fixture().told.flatMap(
      (text) => / (\S+) cannot be asked for a review here/.exec(text)?.[1] ?? [],
    )
    assert.equal(told[0], 'nobody-of-that-name')
    // Gitea takes a team of nobody without a word.
    assert.ok(told.slice(1).every((name) => name === 'no-org/no-team'))
  })

  it('sets assignees and milestone once, and leaves out what the forge does not know', async () => {
    const { writer, reader } = fixture().people
    const wanted = {
      ...(await pushBranch()),
      assignees: ['nobody-of-that-name', writer],
      milestone: `m${count()}`,
    }
    const without = await open({ ...wanted, milestone: 'no such milestone' })
    assert.deepEqual(await fixture().human.filedAs(without), {
      assignees: [writer],
      milestone: undefined,
    })
    assert.deepEqual(
      fixture()
        .told.filter((text) =>
          /(cannot be assigned|is not an open milestone) here, and is left out$/.test(text),
        )
        .map((text) => text.slice(text.indexOf(': ') + 2, text.indexOf(' here'))),
      ['nobody-of-that-name cannot be assigned', 'no such milestone is not an open milestone'],
    )
    await fixture().human.openMilestone(wanted.milestone)
    const second = { ...(await pushBranch()), assignees: [writer], milestone: wanted.milestone }
    const number = await open(second)
    assert.deepEqual(await fixture().human.filedAs(number), {
      assignees: [writer],
      milestone: wanted.milestone,
    })
    const again = { ...second, assignees: [reader], milestone: undefined }
    const known = await readOne(second.ref)
    assert.equal(
      await countingWrites(() => fixture().openForge().ensureProposal(again, known, signal)),
      0,
      'people may change it',
    )
  })

  it('lists open proposals below proposed/ only, and others when they are named', async () => {
    const ours = await pushBranch()
    const other = await pushBranch(`drafts/apps/web/other-${count() + 1}`)
    await open(ours)
    await open(other)
    const listed = (await fixture().openForge().readProposals('main', [], signal)).map(
      ({ ref }) => ref,
    )
    assert.ok(listed.includes(ours.ref))
    assert.ok(!listed.includes(other.ref))
    assert.equal((await readOne(other.ref)).state, 'open')
    assert.ok(
      !(await fixture().openForge().readProposals('another-base', [], signal)).some(
        ({ ref }) => ref === ours.ref,
      ),
    )
  })
}
