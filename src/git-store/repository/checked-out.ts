/**
 * CI checkouts have a detached HEAD, and branches of a remote, if any (docs/facts/ci-checkouts.md).
 */
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import type { PackageRepository, RepositoryRefs } from '../ports/package-repository.ts'
import { isBaseBranch, LEDGER_BRANCH } from '../ports/ref-name.ts'
import { ask } from '../program/work-tree.ts'
import { parseRemoteAddress } from '../protocol/remote-address.ts'
import { type CacheNote, openRepository, type RepositoryOptions } from './repository.ts'

/** git creates no branch with this name. */
const DETACHED = 'HEAD'

/**
 * Read-only.
 * @throws Failure BP4010 for an unsupported address
 */
export function openCheckedOut(options: RepositoryOptions, note?: CacheNote): PackageRepository {
  const repository = openRepository(options, note)
  const address = parseRemoteAddress(options.remote, options.workingDirectory ?? process.cwd())
  if (address.kind !== 'local' || !address.inPlace) return repository
  const environment = options.environment ?? process.env
  const git =
    (signal: AbortSignal): Git =>
    (args) =>
      ask(address.path, args, environment, signal)
  return {
    remote: repository.remote,
    listCloneOrigins: async (signal) => (await repository.listCloneOrigins?.(signal)) ?? [],
    listRefs: async (signal) => addTrackedBranches(await repository.listRefs(signal), git(signal)),
    commit: (id, signal) => repository.commit(id, signal),
    list: (commit, folder, signal) => repository.list(commit, folder, signal),
    read: (blobs, signal, most) => repository.read(blobs, signal, most),
    prepare: (blobs, signal) => repository.prepare(blobs, signal),
    write: (draft) => repository.write(draft),
    takeCommit: (content) => repository.takeCommit(content),
    push: () => Promise.reject(new TypeError('the repository was opened to be read')),
  }
}

type Git = (args: readonly string[]) => Promise<string | undefined>

async function addTrackedBranches(local: RepositoryRefs, git: Git): Promise<RepositoryRefs> {
  const refs = new Map(local.refs)
  for (const [ref, commit] of await listTrackedBranches(git)) {
    const own = refs.get(ref)
    const isNewer =
      own !== undefined &&
      ref === LEDGER &&
      (await git(['merge-base', '--is-ancestor', own, commit])) !== undefined
    if (own === undefined || isNewer) refs.set(ref, commit)
  }
  const isDetached =
    local.defaultBranch === undefined &&
    (await git(['symbolic-ref', '--quiet', 'HEAD'])) === undefined
  const head = isDetached
    ? (await git(['rev-parse', '--quiet', '--verify', 'HEAD^{commit}']))?.trim()
    : undefined
  if (head === undefined) return { ...local, refs }
  const named = [...refs].flatMap(([ref, commit]) =>
    commit === head && ref.startsWith(BRANCH) ? [ref.slice(BRANCH.length)] : [],
  )
  const branches = named.filter(isBaseBranch).sort()
  const branch = ['main', 'master'].find((name) => branches.includes(name)) ?? branches[0]
  if (branch !== undefined) return { ...local, refs, defaultBranch: branch }
  return {
    ...local,
    refs: refs.set(`${BRANCH}${DETACHED}`, parseObjectId(head)),
    defaultBranch: DETACHED,
  }
}

const BRANCH = 'refs/heads/'
const LEDGER = `${BRANCH}${LEDGER_BRANCH}`

/** Of several remotes `origin`, else the first by name. */
async function listTrackedBranches(git: Git): Promise<ReadonlyMap<string, ObjectId>> {
  const listed = splitLines(
    await git(['for-each-ref', '--format=%(objectname) %(refname)', 'refs/remotes/']),
  )
  if (listed.length === 0) return new Map()
  const configured = splitLines(
    await git(['config', '--name-only', '--get-regexp', '^remote\\..*\\.url$']),
  )
  const remotes = [...new Set(configured.map((key) => key.slice('remote.'.length, -'.url'.length)))]
  const branches = new Map<string, ObjectId>()
  // The last one counts.
  for (const remote of remotes.sort(
    (left, right) =>
      Number(left === 'origin') - Number(right === 'origin') || (left < right ? 1 : -1),
  )) {
    const prefix = `refs/remotes/${remote}/`
    for (const line of listed) {
      const [commit, ref] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]
      const branch = ref.startsWith(prefix) ? ref.slice(prefix.length) : 'HEAD'
      if (branch !== 'HEAD') branches.set(`${BRANCH}${branch}`, parseObjectId(commit))
    }
  }
  return branches
}

function splitLines(text = ''): readonly string[] {
  return text.split('\n').filter((line) => line !== '')
}
