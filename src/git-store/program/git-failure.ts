/** The failures of a repository, each built in one place so that code, remedy and retry stay the same everywhere. */
import { Failure } from '@backporch/kyaml/failure'

/** File system errors of a full or read-only disk. */
const DISK_CODES = new Set([
  'ENOSPC',
  'EROFS',
  'EMFILE',
  'ENFILE',
  'EDQUOT',
  'EIO',
  'EACCES',
  'EPERM',
  'ENOTDIR',
  'EEXIST',
])

/** BP4001: no answer, or an answer that breaks off. The same call may work later. */
export function unreachable(remote: string, why: string, cause?: unknown): Failure {
  return new Failure({
    code: 'BP4001',
    what: 'cannot reach the repository',
    where: remote,
    why,
    remedy: 'check the address, the network and your access, then run again',
    retry: 'backoff',
    cause,
  })
}

/** BP4001: a program that reads the repository on this machine fell silent or was killed. `why` is a clause. */
export function unanswered(remote: string, why: string, cause?: unknown): Failure {
  return new Failure({
    code: 'BP4001',
    what: 'git does not read the repository',
    where: remote,
    why,
    remedy:
      'look whether the machine has free memory and processors and its disk answers, then run again',
    retry: 'backoff',
    cause,
  })
}

/** BP1002: something answers there, and it is not a git repository. */
export function notARepository(remote: string, why: string): Failure {
  return new Failure({
    code: 'BP1002',
    what: 'there is no git repository',
    where: remote,
    why,
    remedy: 'name a folder or an address that holds a git repository',
    retry: 'on-change',
  })
}

/** BP4005: the server wants other credentials. `why` never holds them. */
export function credentialsRefused(remote: string, why: string): Failure {
  return new Failure({
    code: 'BP4005',
    what: 'the repository does not accept the credentials',
    where: remote,
    why,
    remedy: 'give a token that may read and write this repository in BACKPORCH_TOKEN',
    retry: 'on-change',
  })
}

/** BP4006: objects are missing or broken although they were fetched anew. */
export function damaged(remote: string, why: string, cause?: unknown): Failure {
  return new Failure({
    code: 'BP4006',
    what: 'cannot read an object of the repository',
    where: remote,
    why,
    remedy:
      'run `git fsck` in the repository; if it is clean, the object is no longer reachable from any branch or tag',
    retry: 'on-change',
    cause,
  })
}

/** BP1111: a pack is not taken apart. `cause` says what it has, and the limit. */
export function oversizedObject(remote: string, cause: Error): Failure {
  return new Failure({
    code: 'BP1111',
    what: 'the repository is not read',
    where: remote,
    why: `its server gives the whole history only, and ${cause.message}`,
    remedy:
      'let the server speak version 2 of the git protocol, or name a clone on this machine with --repo; in a clone, ' +
      "`git rev-list --objects --all | git cat-file --batch-check='%(objectsize) %(objectname) %(rest)' | sort -n | tail -1` names the object and its file",
    retry: 'on-change',
    cause,
  })
}

/** BP1003: there is no commit at all. */
export function emptyRepository(remote: string): Failure {
  return new Failure({
    code: 'BP1003',
    what: 'the repository is empty',
    where: remote,
    why: 'it has no branch yet',
    remedy: 'push a first commit to its default branch',
    retry: 'on-change',
  })
}

/** BP4010: an address or a repository format that Backporch does not handle. */
export function unsupported(remote: string, why: string, remedy: string): Failure {
  return new Failure({
    code: 'BP4010',
    what: 'cannot use this repository',
    where: remote,
    why,
    remedy,
  })
}

/** BP4010: its server lists more branches and tags than are kept in memory. `why` is a clause. */
export function tooManyRefs(remote: string, why: string): Failure {
  return unsupported(
    remote,
    why,
    'delete branches and tags that nobody needs, or declare the packages in a repository of their own',
  )
}

/** BP4009: the `git` program is needed and is not there. */
export function gitNotInstalled(remote: string): Failure {
  return new Failure({
    code: 'BP4009',
    what: 'cannot run git',
    where: remote,
    why: 'there is no program `git` on the PATH, and a repository on disk is read and written through it',
    remedy: 'install git, or name the repository by its https address',
    retry: 'on-change',
  })
}

export function systemCode(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined
  return typeof thrown.code === 'string' ? thrown.code : undefined
}

/**
 * BP4008 for a file system error of a full or read-only disk, otherwise undefined.
 * @param masked another code of a read-only disk: making folders that are missing, Node answers ENOENT there (nodejs/node#47098)
 */
export function diskFailure(
  location: string,
  thrown: unknown,
  masked?: 'ENOENT',
): Failure | undefined {
  const code = systemCode(thrown)
  if (code === undefined || (!DISK_CODES.has(code) && code !== masked)) return undefined
  return new Failure({
    code: 'BP4008',
    what: 'cannot store what was fetched',
    where: location,
    why: `the file system answered ${code}${code === masked ? ', as a full or read-only one does for a new folder' : ''}`,
    remedy:
      'free space, or name a folder that can be written in XDG_CACHE_HOME; nothing in the cache has to be kept',
    retry: 'backoff',
    cause: thrown,
  })
}
