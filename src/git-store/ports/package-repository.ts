/** A git repository that holds packages: https, ssh or a local path. No work tree is ever touched. */
import { Failure, type FailureDetail } from '@backporch/kyaml/failure'
import type { FileMode, ObjectId } from '@backporch/kyaml/files'
import { MAX_YAML_BYTES } from '@backporch/kyaml/read-yaml'

export interface RepositoryRefs {
  /** Short name of the branch that HEAD of the remote names: `main`. Empty where HEAD is detached or unborn, or names no base branch. */
  readonly defaultBranch: string
  /** Short name of the branch of Porch or Backporch that HEAD names: then `main` or else `master` is the default branch. */
  readonly head?: string
  /** Full ref name (`refs/heads/main`, `refs/tags/apps/web/v3`) to the object it names; annotated tags peeled to their commit. */
  readonly refs: ReadonlyMap<string, ObjectId>
}

/** As a base branch: the one that HEAD of the remote names, as `refs` gave it last. */
export const DEFAULT_BRANCH = Symbol('default branch')

/** Short name, or the default branch. */
export type BaseBranch = string | typeof DEFAULT_BRANCH

/** A file to write, or to delete (`content: null`), by its path from the repository's root. */
export interface FileChange {
  readonly path: string
  readonly content: Uint8Array | null
}

/** A commit to make. The same draft gives the same object id on every machine. */
export interface CommitDraft {
  /** Full name of the branch that gets it; absent where it is only compared, and by a rehearsal. */
  readonly ref?: string
  readonly parents: readonly ObjectId[]
  /** Commit whose tree the changes are laid over; undefined starts from the empty tree. */
  readonly base: ObjectId | undefined
  readonly changes: readonly FileChange[]
  readonly message: string
  /** Whether it ends in a sign-off of its author; true unless given. */
  readonly signOff?: boolean
  /** Seconds since 1970, UTC; taken from the observation, not from a clock. */
  readonly at: number
}

export interface CommitView {
  readonly id: ObjectId
  readonly parents: readonly ObjectId[]
  readonly tree: ObjectId
  readonly message: string
  readonly author: {
    readonly name: string
    readonly email: string /** Seconds since 1970, UTC. */
    readonly at: number
  }
  /** Who created this very object: differs from the author after an amend or a rebase. */
  readonly committer: {
    readonly name: string
    readonly email: string /** Seconds since 1970, UTC. */
    readonly at: number
  }
  /** Whether it has a valid signature of a key of ours; absent where no key was given. */
  readonly signed?: boolean
}

/** A file of a commit's tree. */
export interface TreeFile {
  /** Relative to the folder that was listed, with `/`. */
  readonly path: string
  readonly mode: FileMode
  readonly id: ObjectId
}

/** One ref to move: from its last observed commit to the new one; `null` is "not there". */
export interface RefUpdate {
  readonly ref: string
  readonly from: ObjectId | null
  readonly to: ObjectId | null
}

/** Most bytes of one file: more is not parsed. */
export const MOST_FILE_BYTES = MAX_YAML_BYTES
/** Most bytes of the files that one request is about, unless it sets a lower limit. */
export const MOST_READ_BYTES = 256 * 1024 * 1024

/** BP1111: one file, or all of one question together, are more than what is read. */
export class OversizedRead extends Failure {
  /** The file; undefined where it is all of them together. */
  readonly blob: ObjectId | undefined
  readonly #limits: { readonly most: number; readonly size: number | undefined }

  /** @param location the file or folder for people. @param size of `blob`, undefined where unknown. @param most bytes, both */
  constructor(location: string, most: number, blob?: ObjectId, size?: number) {
    const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MiB`
    super({
      code: 'BP1111',
      what: blob === undefined ? 'the files are not read' : 'the file is not read',
      where: location,
      why:
        blob === undefined
          ? `together they are larger than ${mebibytes(most)}`
          : `it is ${size === undefined ? 'larger' : `${mebibytes(size)}, more`} than ${mebibytes(most)}`,
      remedy:
        blob === undefined
          ? 'split the package, or keep large files outside of it'
          : 'split the file, or keep it outside of the package',
      retry: 'on-change',
    })
    this.blob = blob
    this.#limits = { most, size }
  }

  /** The same, of a file or folder whose name is known. */
  at(location: string): OversizedRead {
    return new OversizedRead(location, this.#limits.most, this.blob, this.#limits.size)
  }
}

/** BP4002: the remote refused refs of a push. */
export class RefusedPush extends Failure {
  /** By full name of each ref that was refused for itself; all of the push where the remote does not tell them apart. */
  readonly refused: ReadonlyMap<string, Failure>

  constructor(detail: FailureDetail, refused: ReadonlyMap<string, Failure>) {
    super(detail)
    this.refused = refused
  }
}

export interface PackageRepository {
  /** The remote as it may be printed: no credentials in it. */
  readonly remote: string
  /** Whether its forge limits how often is pushed, and pushes therefore wait for each other. */
  readonly limitsPushes?: boolean
  /** Of a clone on this machine: the addresses of its own remotes, as its configuration has them. They may have credentials. */
  clonedFrom?(signal: AbortSignal): Promise<readonly string[]>
  /** Reads the remote, each time. */
  refs(signal: AbortSignal): Promise<RepositoryRefs>
  /** Reads a commit that a ref names, or one that is reachable from it, with the object id of its tree at `path`. */
  commit(id: ObjectId, signal: AbortSignal): Promise<CommitView>
  /**
   * Everything below a folder of a commit, at any depth, without contents; empty where the folder is not there.
   * `path` is from the root, `''` is the root. A path that names a file gives that one file with the path `''`.
   */
  list(commit: ObjectId, path: string, signal: AbortSignal): Promise<readonly TreeFile[]>
  /**
   * Contents of blobs, one for each requested id.
   * @param most bytes of all of them together, where they are files of one package, which become its objects
   * @throws OversizedRead before anything too large is in memory
   */
  read(
    blobs: readonly ObjectId[],
    signal: AbortSignal,
    most?: number,
  ): Promise<ReadonlyMap<ObjectId, Uint8Array>>
  /**
   * Fetches what `read` would have to fetch for these, all of it in one request, and does not keep it in memory.
   * @returns bytes of each that `read` can give
   */
  prepare(blobs: readonly ObjectId[], signal: AbortSignal): Promise<ReadonlyMap<ObjectId, number>>
  /** Makes a commit in memory. Nothing is sent until `push` names it. */
  write(draft: CommitDraft): Promise<ObjectId>
  /** Takes a commit that a forge made over the tree of one of `write`, to be pushed and read back. @throws Failure BP4006 where it is none */
  takeCommit(content: Uint8Array): Promise<ObjectId>
  /**
   * Moves all refs or none, each only from its last observed commit (compare and swap), with the objects they need.
   * Where the remote cannot move all or none, whatever the ledger says is there before the ledger, and what it does not name any more goes after it.
   * @throws RefusedPush when a rule refused; Failure BP4003 when a ref moved, BP4004 when a name is not allowed, BP40xx otherwise
   */
  push(updates: readonly RefUpdate[], signal: AbortSignal): Promise<void>
}

/** The server's answer to a push that could not move anything. */
export interface PushAnswer {
  /** Full ref name. */
  readonly ref: string
  /** `let-through`: its rules did not object. `unclear`: this is unknown. */
  readonly answer: 'let-through' | 'refused' | 'unclear'
  /** The server's message, one line; empty where it was let through. */
  readonly why: string
}

/**
 * The reports of a git server that is not git's own. Its other texts mean nothing that is known.
 */
export interface PushTexts {
  /** Of its advertisement. */
  readonly agent: RegExp
  /** The ref is not where the push claims. */
  readonly stale: RegExp
  /** A rule refused the push. */
  readonly refused: RegExp
}
