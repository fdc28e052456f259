/**
 * What every hosted forge must do, told once: the emulated GitHub and the real Gitea run it alike. A ground brings a forge with one
 * repository in it, which has at least one commit on `main`, and hands to act as people do.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Failure } from '../../src/failure.ts'
import { type ObjectId, objectId } from '../../src/package/object-id.ts'
import type { HostedForge, WantedProposal } from '../../src/ports/hosted-forge.ts'
import type { PackageRepository } from '../../src/ports/package-repository.ts'
import { issueContract } from './issue-contract.ts'

export interface ForgeGround {
  /** A forge as a new process would open it: nothing is remembered from the last one. */
  openForge(): HostedForge
  /** The repository that stands on the forge; `main` may be pushed to, forwards. */
  readonly repository: PackageRepository
  /** Accounts with these rights in the repository; neither is the one that the forge is opened with. */
  readonly people: { readonly writer: string; readonly reader: string }
  readonly human: HumanHand
  /** How many requests that were meant to change something reached the forge's API so far. */
  writes(): number
  /** The next such request is done, and its connection is cut instead of an answer. */
  readonly loseNextAnswer: () => void
  /** Called once, at the end: what the ground found wrong by itself (requests that the forge does not describe) must be thrown. */
  close(): Promise<void>
}

/** What a person does in a browser, as `people.writer`. */
export interface HumanHand {
  /** @returns the comment's id, as `ForgeComment.id` */
  comment(number: number, body: string): Promise<string>
  editComment(id: string, body: string): Promise<void>
  merge(number: number, style: 'merge' | 'squash' | 'rebase'): Promise<void>
  close(number: number): Promise<void>
  reopen(number: number): Promise<void>
  editBody(number: number, body: string): Promise<void>
  addLabel(number: number, name: string): Promise<void>
}

/** @param make called once for all tests; they use branches, numbers and topics of their own */
export function forgeContract(name: string, make: () => Promise<ForgeGround>): void {
  const signal = AbortSignal.timeout(180_000)

  describe(`forge contract: ${name}`, () => {
    let ground: ForgeGround
    let count = 0

    before(async () => {
      ground = await make()
    })
    after(async () => ground?.close())

    const mainOf = async (): Promise<ObjectId> => objectId((await ground.repository.refs(signal)).refs.get('refs/heads/main') ?? '')

    /** A commit on top of `onto` that changes one file nobody else changes. */
    const commitOn = async (onto: ObjectId): Promise<ObjectId> => {
      count += 1
      const changes = [{ path: `apps/web/file-${count}.yaml`, content: Buffer.from(`value: ${count}\n`) }]
      const message = `chore(drift): restore ${count}\n\nkpt:{"package":"apps/web","workspaceName":"drift-${count}"}`
      return ground.repository.write({ parents: [onto], base: onto, changes, message, at: 1_760_000_000 + count })
    }

    /** Pushes a branch as a turn does. */
    const pushBranch = async (branch?: string): Promise<WantedProposal> => {
      const commit = await commitOn(await mainOf())
      const ref = `refs/heads/${branch ?? `proposed/apps/web/drift-${commit.slice(0, 8)}`}`
      await ground.repository.push([{ ref, from: null, to: commit }], signal)
      return {
        ref,
        commit,
        baseBranch: 'main',
        title: `chore(drift): restore Deployment/checkout replicas to 3 (${count})`,
        body: `> [!WARNING]\n> **Deployment \`shop/checkout\`** differs: 3 → 5 🙂\n\n- [ ] adopt\n\n<!-- backporch:footer -->\n`,
        labels: ['drift', 'drift-plan/restore', 'drift-risk/medium'],
        draft: false,
        reviewers: [],
      }
    }

    const readOne = async (ref: string) => {
      const all = await ground.openForge().readProposals('main', [ref], signal)
      const found = all.filter((proposal) => proposal.ref === ref)
      assert.equal(found.length, 1, `one proposal of ${ref}`)
      const [one] = found
      if (one === undefined) throw new Error('not reached')
      return one
    }

    const open = async (wanted: WantedProposal): Promise<number> => {
      const { number } = await ground.openForge().ensureProposal(wanted, undefined, signal)
      return number ?? 0
    }

    const countingWrites = async (work: () => Promise<unknown>): Promise<number> => {
      const start = ground.writes()
      await work()
      return ground.writes() - start
    }

    const failsWith = async (code: string, work: Promise<unknown>): Promise<void> => {
      await assert.rejects(work, (thrown: unknown) => thrown instanceof Failure && thrown.code === code)
    }

    it('opens a proposal as wanted, and reads it back', async () => {
      const wanted = await pushBranch()
      const opened = await ground.openForge().ensureProposal(wanted, undefined, signal)
      assert.equal(opened.label, `#${opened.number}`)
      assert.match(opened.url, /^https?:\/\//)
      const known = await readOne(wanted.ref)
      assert.equal(known.number, opened.number)
      assert.equal(known.url, opened.url)
      assert.deepEqual(
        [known.state, known.commit, known.baseBranch, known.title, known.draft, known.decidedBy, known.decidedAt],
        ['open', wanted.commit, 'main', wanted.title, false, '', ''],
      )
      assert.equal(known.body.trimEnd(), wanted.body.trimEnd())
      assert.deepEqual([...known.labels].sort(), [...wanted.labels].sort())
    })

    it('sends nothing that writes for the same proposal a second time, with or without what is known', async () => {
      const wanted = await pushBranch()
      await open(wanted)
      const known = await readOne(wanted.ref)
      assert.equal(await countingWrites(() => ground.openForge().ensureProposal(wanted, known, signal)), 0, 'known')
      assert.equal(await countingWrites(() => ground.openForge().ensureProposal(wanted, undefined, signal)), 0, 'not known')
    })

    it('has one proposal for a branch, whoever asks at the same time', async () => {
      const wanted = await pushBranch()
      const both = await Promise.all([open(wanted), open(wanted)])
      assert.equal(both[0], both[1])
      await readOne(wanted.ref)
    })

    it('adopts the proposal of a request whose answer was lost', async () => {
      const wanted = await pushBranch()
      ground.loseNextAnswer()
      const number = await open(wanted)
      const known = await readOne(wanted.ref)
      assert.equal(known.number, number)
      assert.deepEqual([...known.labels].sort(), [...wanted.labels].sort())
    })

    it('updates title, body and our labels in place, and leaves those of people', async () => {
      const wanted = await pushBranch()
      const number = await open(wanted)
      await ground.human.addLabel(number, 'team-a')
      await ground.human.addLabel(number, 'drift-free')
      await ground.human.editBody(number, 'somebody\r\nwrote this')
      const edited = await readOne(wanted.ref)
      assert.equal(edited.body, 'somebody\nwrote this')
      const next = { ...wanted, title: 'fix(drift): adopt', body: 'line\nother\n', labels: ['drift', 'drift-plan/adopt'] }
      await ground.openForge().ensureProposal(next, edited, signal)
      const known = await readOne(wanted.ref)
      assert.deepEqual([known.number, known.title, known.body.trimEnd()], [number, next.title, 'line\nother'])
      assert.deepEqual([...known.labels].sort(), ['drift', 'drift-free', 'drift-plan/adopt', 'team-a'])
    })

    it('takes a body with other line breaks and a title at the limit for what was wanted', async () => {
      const { titleLimit } = ground.openForge().dialect
      for (const draft of [false, true]) {
        const wanted = { ...(await pushBranch()), title: `fix(drift): ${'ä'.repeat(titleLimit - 12)}`, body: 'one\ntwo\n', draft }
        const number = await open(wanted)
        await ground.human.editBody(number, 'one\r\ntwo')
        const known = await readOne(wanted.ref)
        assert.equal(await countingWrites(() => ground.openForge().ensureProposal(wanted, known, signal)), 0, `draft ${draft}`)
      }
    })

    it('gives back hostile text as it is, and sends it once', async () => {
      const hostile =
        '@all `x` --> <img src=x> \u202e\u200b \u001b[31m closes #1 =1+1 |\n\n```\n/adopt\n```\n<!-- backporch:topic:status -->'
      const wanted = { ...(await pushBranch()), title: 'fix(drift): `-->` <img> @all #1 | \u202e', body: hostile }
      const number = await open(wanted)
      const known = await readOne(wanted.ref)
      assert.deepEqual([known.title, known.body], [wanted.title, wanted.body])
      assert.equal(await countingWrites(() => ground.openForge().ensureProposal(wanted, known, signal)), 0)
      await ground.human.comment(number, hostile)
      await ground.openForge().ensureComment(number, 'status', hostile, signal)
      assert.equal(await countingWrites(() => ground.openForge().ensureComment(number, 'status', hostile, signal)), 0)
      assert.deepEqual(
        (await ground.openForge().readComments(number, signal)).map(({ body }) => body),
        [hostile],
      )
    })

    it('sees a proposal whose branch was deleted as closed, and tells nothing of a branch that never had one', async () => {
      const wanted = await pushBranch()
      const number = await open(wanted)
      await ground.repository.push([{ ref: wanted.ref, from: wanted.commit, to: null }], signal)
      // Forges close it some time after the push.
      for (let attempt = 0; attempt < 50 && (await readOne(wanted.ref)).state === 'open'; attempt += 1) {
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      const known = await readOne(wanted.ref)
      assert.deepEqual([known.number, known.state, known.commit], [number, 'closed', wanted.commit])
      const never = 'refs/heads/proposed/apps/web/drift-never'
      assert.ok(!(await ground.openForge().readProposals('main', [never], signal)).some(({ ref }) => ref === never))
    })

    it('turns a draft into a proposal and back', async () => {
      const wanted = { ...(await pushBranch()), draft: true }
      const number = await open(wanted)
      const draft = await readOne(wanted.ref)
      assert.deepEqual([draft.draft, draft.title], [true, wanted.title], 'the title is told without a mark')
      assert.equal(await countingWrites(() => ground.openForge().ensureProposal(wanted, draft, signal)), 0)
      await ground.openForge().ensureProposal({ ...wanted, draft: false }, draft, signal)
      const ready = await readOne(wanted.ref)
      assert.deepEqual([ready.number, ready.draft, ready.title], [number, false, wanted.title])
      await ground.openForge().ensureProposal(wanted, ready, signal)
      assert.equal((await readOne(wanted.ref)).draft, true)
    })

    it('asks reviewers without losing those that can be asked, and opens the proposal all the same', async () => {
      const wanted = { ...(await pushBranch()), reviewers: ['nobody-of-that-name', ground.people.writer, 'no-org/no-team'] }
      await open(wanted)
      assert.equal((await readOne(wanted.ref)).state, 'open')
      const known = await readOne(wanted.ref)
      assert.equal(await countingWrites(() => ground.openForge().ensureProposal(wanted, known, signal)), 0, 'asked once')
    })

    it('reads open proposals below proposed/ only, and others where they are named', async () => {
      const ours = await pushBranch()
      const other = await pushBranch(`drafts/apps/web/other-${count + 1}`)
      await open(ours)
      await open(other)
      const listed = (await ground.openForge().readProposals('main', [], signal)).map(({ ref }) => ref)
      assert.ok(listed.includes(ours.ref))
      assert.ok(!listed.includes(other.ref))
      assert.equal((await readOne(other.ref)).state, 'open')
      assert.ok(!(await ground.openForge().readProposals('another-base', [], signal)).some(({ ref }) => ref === ours.ref))
    })

    for (const style of ['merge', 'squash', 'rebase'] as const) {
      it(`sees a proposal that a person merged (${style})`, async () => {
        const wanted = await pushBranch()
        const number = await open(wanted)
        await ground.human.merge(number, style)
        const known = await readOne(wanted.ref)
        assert.deepEqual([known.number, known.state, known.decidedBy], [number, 'merged', ground.people.writer])
        assert.match(known.decidedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      })
    }

    it('sees a proposal that a person closed, and one that is opened again', async () => {
      const wanted = await pushBranch()
      const number = await open(wanted)
      await ground.human.close(number)
      const closed = await readOne(wanted.ref)
      assert.deepEqual([closed.state, closed.number], ['closed', number])
      assert.match(closed.decidedAt, /Z$/)
      await ground.human.reopen(number)
      assert.equal((await readOne(wanted.ref)).state, 'open')
    })

    it('merges with tag, deleted branch and ledger', async () => {
      const wanted = await pushBranch()
      const number = await open(wanted)
      const base = await mainOf()
      const ledger = await ground.repository.write({
        parents: [],
        base: undefined,
        changes: [{ path: `closed/${count}.yaml`, content: Buffer.from('outcome: Merged\n') }],
        message: 'ledger',
        at: 1_760_000_000,
      })
      const there = (await ground.repository.refs(signal)).refs.get('refs/heads/drift-ledger') ?? null
      const merge = {
        parents: [base, wanted.commit],
        base,
        changes: [{ path: `apps/web/file-${count}.yaml`, content: Buffer.from(`value: ${count}\n`) }],
        message: `Approve drift-${count}\n\nBecause.\n\nkpt:{"package":"apps/web","workspaceName":"drift-${count}"}\n\nDrift-Id: ${count}\n`,
        at: 1_760_000_900,
      }
      const tag = `refs/tags/apps/web/v${100 + count}`
      const along = [{ ref: 'refs/heads/drift-ledger', from: there, to: ledger }]
      const decision = { proposal: wanted, base: { ref: 'refs/heads/main', commit: base }, merge, tag, along }
      const commit = await ground.openForge().merge(decision, signal)
      const { refs } = await ground.repository.refs(signal)
      assert.deepEqual(
        [refs.get('refs/heads/main'), refs.get(tag), refs.get(wanted.ref), refs.get('refs/heads/drift-ledger')],
        [commit, commit, undefined, ledger],
      )
      const view = await ground.repository.commit(commit, signal)
      assert.deepEqual(view.parents, [base, wanted.commit])
      assert.match(view.message, /^Approve drift-\d+\n\nBecause\.\n\nkpt:\{.*\}\n\nDrift-Id: \d+/)
      const known = await readOne(wanted.ref)
      assert.deepEqual([known.number, known.state], [number, 'merged'])
    })

    it('merges nothing when the head or the base moved', async () => {
      const wanted = await pushBranch()
      await open(wanted)
      const base = await mainOf()
      const merge = { parents: [base, wanted.commit], base, changes: [], message: 'merge', at: 1_760_000_000 }
      const decision = {
        proposal: wanted,
        base: { ref: 'refs/heads/main', commit: base },
        merge,
        tag: 'refs/tags/apps/web/v900',
        along: [],
      }
      const next = await commitOn(wanted.commit)
      await ground.repository.push([{ ref: wanted.ref, from: wanted.commit, to: next }], signal)
      await failsWith('BP4003', ground.openForge().merge(decision, signal))
      const moved = await commitOn(base)
      await ground.repository.push([{ ref: 'refs/heads/main', from: base, to: moved }], signal)
      await failsWith('BP4003', ground.openForge().merge({ ...decision, proposal: { ref: wanted.ref, commit: next } }, signal))
      assert.equal(await mainOf(), moved)
      assert.equal((await readOne(wanted.ref)).state, 'open')
    })

    it('closes with deleted branch and ledger, all in one push', async () => {
      const wanted = await pushBranch()
      const number = await open(wanted)
      const stale = [{ ref: 'refs/heads/drift-ledger', from: wanted.commit, to: wanted.commit }]
      await failsWith('BP4003', ground.openForge().close({ proposal: wanted, along: stale }, signal))
      assert.equal((await readOne(wanted.ref)).state, 'open', 'nothing is closed when the push is refused')
      await ground.openForge().close({ proposal: wanted, along: [] }, signal)
      assert.equal((await ground.repository.refs(signal)).refs.get(wanted.ref), undefined)
      const known = await readOne(wanted.ref)
      assert.deepEqual([known.number, known.state], [number, 'closed'])
    })

    it('sets statuses, and sends only those that differ', async () => {
      const { commit } = await pushBranch()
      const status = (context: string, state: 'pending' | 'success' | 'failure', description: string) => ({
        context,
        state,
        description,
        url: '',
      })
      const first = [status('drift/fresh', 'success', 'live = reviewed'), status('drift/render', 'pending', 'ä'.repeat(140))]
      assert.equal(await countingWrites(() => ground.openForge().ensureStatuses(commit, first, signal)), 2)
      assert.equal(await countingWrites(() => ground.openForge().ensureStatuses(commit, first, signal)), 0)
      const next = [status('drift/fresh', 'failure', 'live changed'), ...first.slice(1)]
      assert.equal(await countingWrites(() => ground.openForge().ensureStatuses(commit, next, signal)), 1)
      assert.equal(await countingWrites(() => ground.openForge().ensureStatuses(commit, next, signal)), 0)
    })

    it('takes the last of several statuses of one context, all of the same second', async () => {
      const { commit } = await pushBranch()
      const say = (description: string) => [{ context: 'drift/fresh', state: 'success', description, url: '' }] as const
      for (const description of ['a', 'b', 'a', 'b']) {
        assert.equal(await countingWrites(() => ground.openForge().ensureStatuses(commit, say(description), signal)), 1, description)
      }
      assert.equal(await countingWrites(() => ground.openForge().ensureStatuses(commit, say('b'), signal)), 0)
    })

    it('reads more comments than fit on a page, in their order', async () => {
      const number = await open(await pushBranch())
      const texts = Array.from({ length: 105 }, (_, index) => `comment ${index}`)
      for (const text of texts) await ground.human.comment(number, text)
      assert.deepEqual(
        (await ground.openForge().readComments(number, signal)).map(({ body }) => body),
        texts,
      )
    })

    it('keeps one comment per topic, edited in place, and does not read its own', async () => {
      const number = await open(await pushBranch())
      const forge = ground.openForge()
      await forge.ensureComment(number, 'status', 'first\n', signal)
      assert.equal(await countingWrites(() => ground.openForge().ensureComment(number, 'status', 'first\n', signal)), 0)
      assert.equal(await countingWrites(() => ground.openForge().ensureComment(number, 'status', 'second', signal)), 1)
      await forge.ensureComment(number, 'other', 'third', signal)
      assert.deepEqual(await forge.readComments(number, signal), [])
    })

    it('adopts the comment of a request whose answer was lost', async () => {
      const number = await open(await pushBranch())
      ground.loseNextAnswer()
      await ground.openForge().ensureComment(number, 'status', 'text', signal)
      assert.equal(await countingWrites(() => ground.openForge().ensureComment(number, 'status', 'text', signal)), 0)
    })

    it('reads what people wrote, oldest first, and knows what it answered', async () => {
      const number = await open(await pushBranch())
      const id = await ground.human.comment(number, '/adopt 1\r\nplease')
      // Our marker in somebody's comment makes it no comment of ours.
      const fake = await ground.human.comment(number, '<!-- backporch:topic:status -->\n/restore')
      await ground.openForge().ensureComment(number, 'status', 'real', signal)
      const [first, second, ...rest] = await ground.openForge().readComments(number, signal)
      assert.ok(first !== undefined && second !== undefined)
      assert.deepEqual(rest, [])
      assert.deepEqual([first.id, second.id], [id, fake])
      assert.deepEqual(
        [first.author, first.bot, first.body, first.edited, first.answered],
        [ground.people.writer, false, '/adopt 1\nplease', false, false],
      )
      assert.match(first.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      assert.equal(second.body, '<!-- backporch:topic:status -->\n/restore')
      await ground.openForge().react(first, 'seen', signal)
      assert.equal(await countingWrites(() => ground.openForge().react(first, 'seen', signal)), 0)
      assert.equal((await ground.openForge().readComments(number, signal))[0]?.answered, false, 'seen is no answer')
      await ground.openForge().react(first, 'done', signal)
      await ground.openForge().react(second, 'refused', signal)
      assert.deepEqual(
        (await ground.openForge().readComments(number, signal)).map(({ answered }) => answered),
        [true, true],
      )
    })

    it('tells a comment that was edited', async () => {
      const number = await open(await pushBranch())
      const id = await ground.human.comment(number, '/restore')
      // Forges tell times in seconds.
      await new Promise((resolve) => setTimeout(resolve, 1_100))
      await ground.human.editComment(id, '/adopt')
      const [comment] = await ground.openForge().readComments(number, signal)
      assert.deepEqual([comment?.body, comment?.edited], ['/adopt', true])
    })

    it('asks what a person may do', async () => {
      const { writer, reader } = ground.people
      const forge = ground.openForge()
      assert.equal(await forge.permissionOf(writer, signal), 'write')
      assert.equal(await forge.permissionOf(reader, signal), 'read')
      assert.equal(await forge.permissionOf('nobody-of-that-name', signal), 'none')
    })

    issueContract(() => ground, signal)
  })
}
