/** Code, remedy and retry are the same everywhere. */
import { Failure } from '@backporch/kyaml/failure'

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

/** BP4001: no answer, or an incomplete one. A retry may succeed. */
export function createUnreachableFailure(remote: string, why: string, cause?: unknown): Failure {
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

export function createUnansweredFailure(remote: string, why: string, cause?: unknown): Failure {
  return new Failure({
    code: 'BP4001',
    what: 'git does not read the repository',
    where: remote,
    why,
    remedy:
      'check that the machine has free memory and processors and that its disk answers, then run again',
    retry: 'backoff',
    cause,
  })
}

export function createNotARepositoryFailure(remote: string, why: string): Failure {
  return new Failure({
    code: 'BP1002',
    what: 'there is no git repository',
    where: remote,
    why,
    remedy: 'name a folder or an address that holds a git repository',
    retry: 'on-change',
  })
}

/** @param why never contains credentials */
export function createCredentialsRefusedFailure(remote: string, why: string): Failure {
  return new Failure({
    code: 'BP4005',
    what: 'the repository does not accept the credentials',
    where: remote,
    why,
    remedy: 'give a token that may read and write this repository in BACKPORCH_TOKEN',
    retry: 'on-change',
  })
}

export function createDamagedFailure(remote: string, why: string, cause?: unknown): Failure {
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

export function createOversizedObjectFailure(remote: string, cause: Error): Failure {
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

export function createUnsupportedFailure(remote: string, why: string, remedy: string): Failure {
  return new Failure({
    code: 'BP4010',
    what: 'cannot use this repository',
    where: remote,
    why,
    remedy,
  })
}

export function createTooManyRefsFailure(remote: string, why: string): Failure {
  return createUnsupportedFailure(
    remote,
    why,
    'delete unused branches and tags, or declare the packages in a repository of their own',
  )
}

export function createGitNotInstalledFailure(remote: string): Failure {
  return new Failure({
    code: 'BP4009',
    what: 'cannot run git',
    where: remote,
    why: 'there is no program `git` on the PATH, and a repository on disk is read and written through it',
    remedy: 'install git, or name the repository by its https address',
    retry: 'on-change',
  })
}

export function getSystemCode(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined
  return typeof thrown.code === 'string' ? thrown.code : undefined
}

/**
 * Undefined for other errors.
 * @param masked another code of a read-only disk: Node answers ENOENT when it makes missing folders
 * (nodejs/node#47098)
 */
export function findDiskFailure(
  location: string,
  thrown: unknown,
  masked?: 'ENOENT',
): Failure | undefined {
  const code = getSystemCode(thrown)
  if (code === undefined || (!DISK_CODES.has(code) && code !== masked)) return undefined
  return new Failure({
    code: 'BP4008',
    what: 'cannot store the fetched objects',
    where: location,
    why: `the file system answered ${code}${code === masked ? ', as a full or read-only one does for a new folder' : ''}`,
    remedy:
      'free space, or name a folder that can be written in XDG_CACHE_HOME; nothing in the cache has to be kept',
    retry: 'backoff',
    cause: thrown,
  })
}
