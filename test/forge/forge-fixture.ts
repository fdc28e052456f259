/** Where the forge contract is held to, and the hands that its tests act with. */
import assert from 'node:assert/strict'
import type { HostedForge, KnownProposal, WantedProposal } from '@backporch/forge/hosted-forge'
import type { PackageRepository } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'

export interface ForgeFixture {
  /** A forge as a new process would open it: nothing is remembered from the last one. */
  openForge(): HostedForge
  /** The same, for a dry run. */
  openDryRunForge(): HostedForge
  /** The repository that stands on the forge; `main` may be pushed to, forwards. */
  readonly repository: PackageRepository
  /** Accounts with these rights in the repository; neither is the one that the forge is opened with. */
  readonly people: { readonly writer: string; readonly reader: string }
  /** Whether it says who edited a comment. */
  readonly tellsEditors: boolean
  readonly human: HumanHand
  /** What it told people that is no failure. */
  readonly told: readonly string[]
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
  openMilestone(title: string): Promise<void>
  /** Who is assigned to it, and the title of its milestone. */
  filedAs(
    number: number,
  ): Promise<{ readonly assignees: readonly string[]; readonly milestone: string | undefined }>
  /** Short names; the pull request goes with its branch. */
  renameBranch(number: number, before: string, after: string): Promise<void>
  /** Makes the branch `base` at the base that it has where it is not there. */
  retarget(number: number, base: string): Promise<void>
}

/** What tests do with a ground: branches of their own, and what became of them. */
export interface ContractHands {
  mainOf(): Promise<ObjectId>
  /** A commit on top of `onto` that changes one file nobody else changes, `apps/web/file-<number>.yaml`. */
  commitOn(onto: ObjectId): Promise<ObjectId>
  /** Number of the last commit. */
  count(): number
  /** Pushes a branch as a turn does. */
  pushBranch(branch?: string): Promise<WantedProposal>
  readOne(ref: string): Promise<KnownProposal>
  /** @returns its number */
  open(wanted: WantedProposal): Promise<number>
  countingWrites(work: () => Promise<unknown>): Promise<number>
}

export async function failsWith(code: string, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (thrown: unknown) => thrown instanceof Failure && thrown.code === code)
}

export function contractHands(fixture: () => ForgeFixture, signal: AbortSignal): ContractHands {
  let count = 0

  const mainOf = async (): Promise<ObjectId> =>
    parseObjectId((await fixture().repository.listRefs(signal)).refs.get('refs/heads/main') ?? '')

  const commitOn = async (onto: ObjectId): Promise<ObjectId> => {
    count += 1
    const changes = [
      { path: `apps/web/file-${count}.yaml`, content: Buffer.from(`value: ${count}\n`) },
    ]
    const message = `chore(drift): restore ${count}\n\nkpt:{"package":"apps/web","workspaceName":"drift-${count}"}`
    return fixture().repository.write({
      parents: [onto],
      base: onto,
      changes,
      message,
      at: 1_760_000_000 + count,
    })
  }

  const pushBranch = async (branch?: string): Promise<WantedProposal> => {
    const commit = await commitOn(await mainOf())
    const ref = `refs/heads/${branch ?? `proposed/apps/web/drift-${commit.slice(0, 8)}`}`
    await fixture().repository.push([{ ref, from: null, to: commit }], signal)
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
    const all = await fixture().openForge().readProposals('main', [ref], signal)
    const found = all.filter((proposal) => proposal.ref === ref)
    assert.equal(found.length, 1, `one proposal of ${ref}`)
    const [one] = found
    if (one === undefined) throw new Error('not reached')
    return one
  }

  const open = async (wanted: WantedProposal): Promise<number> => {
    const { number } = await fixture().openForge().ensureProposal(wanted, undefined, signal)
    return number ?? 0
  }

  const countingWrites = async (work: () => Promise<unknown>): Promise<number> => {
    const start = fixture().writes()
    await work()
    return fixture().writes() - start
  }

  return { mainOf, commitOn, count: () => count, pushBranch, readOne, open, countingWrites }
}
