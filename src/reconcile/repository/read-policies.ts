import type { PackageRepository, TreeFile } from '@backporch/git-store/package-repository'
import type { ObjectId } from '@backporch/kyaml/files'
import type { PolicyFile, PolicySet } from '../../policy/parse-policy.ts'
import { DRIFT_FOLDER } from '../../record/record-paths.ts'
import { readTexts } from '../../sources/commit/commit-files.ts'
import { type KnownGoodPolicies, parseRead, readUsablePolicies } from './usable-policies.ts'

/** Earlier versions proposed `policy.yaml`; people use either ending. */
export const POLICY_FILE = /^\.drift\/[^/]+\.(?:policy|ya?ml)$/

/** @throws Failure BP1005 or BP1111 without a usable policy, BP40xx */
export async function readPolicies(
  repository: PackageRepository,
  {
    base,
    tree,
    known,
  }: {
    readonly base: ObjectId
    readonly tree: readonly TreeFile[]
    readonly known?: KnownGoodPolicies | undefined
  },
  signal: AbortSignal,
): Promise<PolicySet> {
  const filesAt = async (commit: ObjectId): Promise<readonly PolicyFile[]> => {
    const below = commit === base ? [] : await repository.list(commit, DRIFT_FOLDER, signal)
    const listed =
      commit === base
        ? tree
        : below.map((file) => ({ ...file, path: `${DRIFT_FOLDER}/${file.path}` }))
    return readPolicyFiles(repository, listed, signal)
  }
  return readUsablePolicies({ repository, base, filesAt, known }, signal)
}

export async function listPolicyProblems(
  repository: PackageRepository,
  tree: readonly TreeFile[],
  signal: AbortSignal,
): Promise<readonly { readonly where: string; readonly why: string }[]> {
  const read = await parseRead(() => readPolicyFiles(repository, tree, signal))
  return 'failure' in read ? read.problems : []
}

export async function readPolicyFiles(
  repository: PackageRepository,
  tree: readonly TreeFile[],
  signal: AbortSignal,
): Promise<PolicyFile[]> {
  const found = tree.filter(({ path }) => POLICY_FILE.test(path))
  const texts = await readTexts(repository, found, signal)
  return found.map(({ path }) => ({ path, text: texts.get(path) ?? '' }))
}
