/**
 * Reads the policies of the base commit, or of the newest earlier commit with a usable policy
 * (docs/adr/0071-the-last-good-policy.md).
 */
import type { CommitView } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import { LRUCache } from 'lru-cache'
import { readLastGoodPolicy, type UnusablePolicy } from '../../policy/last-good-policy.ts'
import {
  InvalidPolicy,
  type PolicyFile,
  type PolicySet,
  parsePolicyFiles,
} from '../../policy/parse-policy.ts'

/** The base commit and its first parents. */
export const MOST_COMMITS = 1_000

export class KnownGoodPolicies {
  private readonly known = new LRUCache<ObjectId, ObjectId>({
    maxSize: 2 * MOST_COMMITS,
    sizeCalculation: () => 1,
  })

  findGoodCommit(commit: ObjectId): ObjectId | undefined {
    return this.known.get(commit)
  }

  remember(unusable: readonly ObjectId[], good: ObjectId): void {
    for (const commit of unusable) this.known.set(commit, good)
  }
}

interface PolicyHistory {
  readonly repository: {
    commit(id: ObjectId, signal: AbortSignal): Promise<Pick<CommitView, 'parents'>>
  }
  readonly base: ObjectId
  /** @throws Failure BP1111 if a file is too large, BP4011 beyond the end of a shallow clone */
  readonly filesAt: (commit: ObjectId) => Promise<readonly PolicyFile[]>
  readonly known?: KnownGoodPolicies | undefined
}

/**
 * @throws Failure BP1005 or BP1111 of the base commit if no earlier policy is usable, BP40xx if git
 * fails
 */
export async function readUsablePolicies(
  history: PolicyHistory,
  signal: AbortSignal,
): Promise<PolicySet> {
  const { base, filesAt } = history
  const newest = await parseRead(() => filesAt(base))
  if (!('failure' in newest)) return newest.policies
  const { commit, policies, files } = await findNewestGood(history, newest, signal)
  return { ...policies, lastGood: readLastGoodPolicy(newest, { commit, files }) }
}

interface UsablePolicy {
  readonly files: readonly PolicyFile[]
  readonly policies: PolicySet
}

/**
 * @param before of the commit after this one, usually with the same files
 * @throws what `read` throws, except for a file that is too large
 */
export async function parseRead(
  read: () => Promise<readonly PolicyFile[]>,
  before?: UnusablePolicy,
): Promise<UsablePolicy | UnusablePolicy> {
  let files: readonly PolicyFile[] | undefined
  try {
    files = await read()
    if (before?.files !== undefined && isSame(files, before.files)) return before
    return { files, policies: parsePolicyFiles(files) }
  } catch (thrown) {
    if (thrown instanceof InvalidPolicy)
      return { files, failure: thrown, problems: thrown.problems }
    if (!(thrown instanceof Failure) || thrown.code !== 'BP1111') throw thrown
    return {
      files,
      failure: thrown,
      problems: [{ where: thrown.where ?? '.drift', why: `${thrown.what}: ${thrown.why}` }],
    }
  }
}

function isSame(left: readonly PolicyFile[], right: readonly PolicyFile[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ path, text }, at) => path === right[at]?.path && text === right[at]?.text)
  )
}

/** Merged content counts from the merge on. */
async function findNewestGood(
  history: PolicyHistory,
  newest: UnusablePolicy,
  signal: AbortSignal,
): Promise<UsablePolicy & { readonly commit: ObjectId }> {
  const { repository, base, known } = history
  const { failure } = newest
  const unusable: ObjectId[] = []
  let [commit, last] = [base, newest]
  while (unusable.length < MOST_COMMITS) {
    unusable.push(commit)
    try {
      const good =
        known?.findGoodCommit(commit) ?? (await repository.commit(commit, signal)).parents[0]
      if (good === undefined)
        throw addReason(failure, 'no earlier commit has a policy that can be used')
      commit = good
      const found = await parseRead(() => history.filesAt(good), last)
      if ('failure' in found) {
        last = found
        continue
      }
      known?.remember(unusable, commit)
      return { ...found, commit }
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.code !== 'BP4011') throw thrown
      throw addReason(
        failure,
        `the clone ends at commit ${unusable.at(-1)?.slice(0, 7)}, and none of its commits has a policy that can be used (git fetch --unshallow brings the others)`,
      )
    }
  }
  throw addReason(failure, `none of the last ${MOST_COMMITS} commits has a policy that can be used`)
}

function addReason(failure: Failure, why: string): Failure {
  return failure.replaceReason(`${failure.why}\n       ${why}`)
}
