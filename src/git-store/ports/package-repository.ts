/** Never touches a work tree. */
import { Failure, type FailureDetail } from '@backporch/kyaml/failure'
import type { FileMode, ObjectId } from '@backporch/kyaml/files'
import { MAX_YAML_BYTES } from '@backporch/kyaml/read-yaml'

export interface RepositoryRefs {
  /** Short name of HEAD's branch. Undefined if HEAD is detached or unborn, or names no base branch. */
  readonly defaultBranch: string | undefined
  /**
   * The Porch or Backporch branch that HEAD names: the default branch is then `main` or else
   * `master`.
   */
  readonly head?: string
  /** By full ref name; annotated tags are peeled. */
  readonly refs: ReadonlyMap<string, ObjectId>
}

/** By HEAD of the remote, from the last `refs`. */
export const DEFAULT_BRANCH = Symbol('default branch')

export type BaseBranch = string | typeof DEFAULT_BRANCH

export interface FileChange {
  readonly path: string
  readonly content: Uint8Array | null
}

/** The same draft gives the same object id on every machine. */
export interface CommitDraft {
  /** Absent if the commit is only compared, and for a rehearsal. */
  readonly ref?: string
  readonly parents: readonly ObjectId[]
  /** Undefined: the empty tree. */
  readonly base: ObjectId | undefined
  readonly changes: readonly FileChange[]
  readonly message: string
  /** Default true. */
  readonly signOff?: boolean
  /** Seconds since 1970, UTC; not from a clock. */
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
  /** Differs from the author after an amend or a rebase. */
  readonly committer: {
    readonly name: string
    readonly email: string /** Seconds since 1970, UTC. */
    readonly at: number
  }
  /** By a Backporch key; absent if no key was given. */
  readonly signed?: boolean
}

export interface TreeFile {
  readonly path: string
  readonly mode: FileMode
  readonly id: ObjectId
}

/** From its last observed commit; `null` means absent. */
export interface RefUpdate {
  readonly ref: string
  readonly from: ObjectId | null
  readonly to: ObjectId | null
}

/** Bytes. */
export const MOST_FILE_BYTES = MAX_YAML_BYTES
/** Bytes per request, unless it sets a lower limit. */
export const MOST_READ_BYTES = 256 * 1024 * 1024

export class OversizedRead extends Failure {
  /** Undefined: all together. */
  readonly blob: ObjectId | undefined
  readonly #limits: { readonly most: number; readonly size: number | undefined }

  /**
   * @param size undefined if unknown
   * @param most bytes, both
   */
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

  copyWithLocation(location: string): OversizedRead {
    return new OversizedRead(location, this.#limits.most, this.blob, this.#limits.size)
  }
}

export class RefusedPush extends Failure {
  readonly refused: ReadonlyMap<string, Failure>

  constructor(detail: FailureDetail, refused: ReadonlyMap<string, Failure>) {
    super(detail)
    this.refused = refused
  }
}

export interface PackageRepository {
  /** Without credentials. */
  readonly remote: string
  /** Pushes then wait for each other. */
  readonly limitsPushes?: boolean
  /** For a local clone. May contain credentials. */
  listCloneOrigins?(signal: AbortSignal): Promise<readonly string[]>
  listRefs(signal: AbortSignal): Promise<RepositoryRefs>
  commit(id: ObjectId, signal: AbortSignal): Promise<CommitView>
  /**
   * At any depth; empty without the folder. `''` is the root. A file gives itself with the path
   * `''`.
   */
  list(commit: ObjectId, path: string, signal: AbortSignal): Promise<readonly TreeFile[]>
  /**
   * @param most bytes of all together, if they become a package's objects
   * @throws OversizedRead before anything too large is in memory
   */
  read(
    blobs: readonly ObjectId[],
    signal: AbortSignal,
    most?: number,
  ): Promise<ReadonlyMap<ObjectId, Uint8Array>>
  /**
   * In one request, without keeping it in memory.
   * @returns bytes of each that `read` can give
   */
  prepare(blobs: readonly ObjectId[], signal: AbortSignal): Promise<ReadonlyMap<ObjectId, number>>
  /** Nothing is sent until `push` names it. */
  write(draft: CommitDraft): Promise<ObjectId>
  /**
   * Made by a forge over the tree of one of `write`.
   * @throws Failure BP4006 if it is not a commit
   */
  takeCommit(content: Uint8Array): Promise<ObjectId>
  /**
   * All refs or none, each only from its last observed commit (compare and swap). Without atomic
   * pushes, refs that the ledger names are pushed before the ledger, and those that it no longer
   * names are removed after it.
   * @throws RefusedPush if a rule refused; Failure BP4003 if a ref moved, BP4004 if a name is not
   * allowed, BP40xx otherwise
   */
  push(updates: readonly RefUpdate[], signal: AbortSignal): Promise<void>
}

export interface PushAnswer {
  readonly ref: string
  /** `unclear`: unknown. */
  readonly answer: 'let-through' | 'refused' | 'unclear'
  /** The server's message, one line; empty if it was let through. */
  readonly why: string
}

/** Of a server that is not git's own. Other texts have no known meaning. */
export interface PushTexts {
  readonly agent: RegExp
  readonly stale: RegExp
  readonly refused: RegExp
}
