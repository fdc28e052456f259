/** Reads through a cache of packs, and pushes objects from memory in one pack. */
import * as nodeFiles from 'node:fs/promises'
import { resolve } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import type { Environment } from '@backporch/system/child-environment'
import type { Trace } from '@backporch/system/trace'
import type { CommitSigner } from '../commit/commit-signer.ts'
import { BOT, normalizeMessage, signOff } from '../commit/sign-off.ts'
import type { FileOperations } from '../objects/atomic-fs.ts'
import { assertMemory, freeMemory } from '../objects/free-memory.ts'
import { LocalObjects } from '../objects/local-objects.ts'
import { NewObjects } from '../objects/new-objects.ts'
import { ObjectCache } from '../objects/object-cache.ts'
import { commitObject, createGitObject, parseCommit } from '../objects/object-format.ts'
import type { ObjectSource } from '../objects/object-source.ts'
import { RemoteObjects } from '../objects/remote-objects.ts'
import { SparedObjects } from '../objects/spared-objects.ts'
import { editTree } from '../objects/tree-edit.ts'
import {
  type BaseBranch,
  type CommitDraft,
  type CommitView,
  DEFAULT_BRANCH,
  MOST_READ_BYTES,
  type PackageRepository,
  type RefUpdate,
  type RepositoryRefs,
  type TreeFile,
} from '../ports/package-repository.ts'
import { assertPushable } from '../ports/ref-name.ts'
import {
  listRemotes,
  workTreeChanges,
  workTreeNotClean,
  workTreeOfBranch,
} from '../program/work-tree.ts'
import type { GitTransport, TransportLimits } from '../protocol/git-transport.ts'
import { HttpTransport, type TokenSource } from '../protocol/http-transport.ts'
import { ProcessTransport } from '../protocol/process-transport.ts'
import { parseRemoteAddress, type RemoteAddress } from '../protocol/remote-address.ts'
import { createTracedTransport } from '../protocol/traced-transport.ts'
import { findDefaultBranch } from '../protocol/what-to-fetch.ts'
import { pushRefs } from '../push/push-refs.ts'
import { ParsedObjects } from './parsed-objects.ts'

export interface RepositoryOptions {
  /** `http://` on this machine only. */
  readonly remote: string
  /** Processes may share it, and it may be deleted at any time. */
  readonly cacheDir: string
  /** For https. Userinfo in the address precedes it; git credential helpers come last. */
  readonly token?: string | TokenSource
  readonly signer?: CommitSigner
  readonly baseBranch?: BaseBranch
  readonly fs?: FileOperations
  readonly workingDirectory?: string
  readonly environment?: Environment
  readonly limits?: Partial<TransportLimits>
  readonly trace?: Trace
  /** Bytes. */
  readonly memory?: () => number
  /** Only if the server limits pushes; call the result when the push has ended. */
  readonly admitPush?: (signal: AbortSignal) => Promise<() => void>
}

/** 2 GiB is the largest pack that isomorphic-git can index. */
const LIMITS: TransportLimits = { silence: 60_000, bytes: 2 ** 31 - 1 }
/** After a push, for rereading. */
const MOST_NEW_BYTES = 64 * 1024 * 1024
/** To check that the base branch only moves forwards. */
const MOST_STEPS = 10_000

export type CacheNote = (text: string) => void

/**
 * Reads and writes nothing before the first call.
 * @throws Failure BP4010 for an unsupported address
 */
export function openRepository(
  options: RepositoryOptions,
  note: CacheNote = () => {},
): PackageRepository {
  const workingDirectory = options.workingDirectory ?? process.cwd()
  const address = parseRemoteAddress(options.remote, workingDirectory)
  return new GitRepository(address, resolve(workingDirectory, options.cacheDir), options, note)
}

class GitRepository implements PackageRepository {
  readonly remote: string
  readonly limitsPushes: boolean
  readonly #address: RemoteAddress
  readonly #signer: CommitSigner | undefined
  readonly #baseBranch: BaseBranch | undefined
  #defaultBranch: string | undefined
  readonly #environment: Environment
  readonly #admitPush: RepositoryOptions['admitPush']
  readonly #memory: () => number
  readonly #transport: GitTransport
  readonly #objects: ObjectSource
  readonly #created = new NewObjects()
  readonly #parsed: ParsedObjects

  constructor(
    address: RemoteAddress,
    cacheFolder: string,
    options: RepositoryOptions,
    note: CacheNote,
  ) {
    this.remote = address.printed
    this.#address = address
    this.#signer = options.signer
    this.#baseBranch = options.baseBranch
    this.#environment = options.environment ?? process.env
    this.#admitPush = options.admitPush
    this.limitsPushes = options.admitPush !== undefined
    this.#memory = options.memory ?? freeMemory
    const limits = { ...LIMITS, ...options.limits }
    const traced = (transport: GitTransport, { printed }: RemoteAddress): GitTransport =>
      options.trace === undefined
        ? transport
        : createTracedTransport(transport, printed, options.trace)
    const files = options.fs ?? nodeFiles
    const spared = (open: (folder: string) => ObjectSource): ObjectSource =>
      new SparedObjects({ cacheFolder, files, open, note })
    const baseBranch = typeof options.baseBranch === 'string' ? options.baseBranch : undefined
    const openRemote = (at: RemoteAddress, transport: GitTransport): ObjectSource =>
      spared(
        (folder) =>
          new RemoteObjects(
            at.printed,
            transport,
            new ObjectCache(folder, at.printed, files),
            baseBranch,
          ),
      )
    if (address.kind === 'local' && address.inPlace) {
      const transport = new ProcessTransport(address, this.#environment, limits)
      this.#transport = traced(transport, address)
      const openPromisor = (text: string, folder: string): ObjectSource => {
        const promisor = parseRemoteAddress(text, folder)
        return openRemote(
          promisor,
          traced(openTransport(promisor, undefined, this.#environment, limits), promisor),
        )
      }
      const parts = {
        remote: this.remote,
        transport: this.#transport,
        environment: this.#environment,
        files,
        openPromisor,
      }
      const gitFolder = (signal: AbortSignal): Promise<string> => transport.getGitFolder(signal)
      this.#objects = spared(
        (folder) =>
          new LocalObjects({ ...parts, gitFolder, cacheFolder: folder, silence: limits.silence }),
      )
    } else {
      this.#transport = traced(
        openTransport(address, options.token, this.#environment, limits),
        address,
      )
      this.#objects = openRemote(address, this.#transport)
    }
    this.#parsed = new ParsedObjects(this.remote, this.#objects, this.#created)
  }

  async listCloneOrigins(signal: AbortSignal): Promise<readonly string[]> {
    const address = this.#address
    return address.kind === 'local' && address.inPlace
      ? listRemotes(address.path, signal, this.#environment)
      : []
  }

  async listRefs(signal: AbortSignal): Promise<RepositoryRefs> {
    const { refs, peeled, head } = await this.#objects.advertise(signal)
    const shown = [...refs].filter(
      ([name]) => name.startsWith('refs/heads/') || name.startsWith('refs/tags/'),
    )
    const { named, base } = findDefaultBranch({ refs, head })
    this.#defaultBranch = base
    const shownRefs = new Map(shown.map(([name, id]) => [name, peeled.get(name) ?? id]))
    return {
      defaultBranch: base,
      ...(named === undefined || named === base ? {} : { head: named }),
      refs: shownRefs,
    }
  }

  async commit(id: ObjectId, signal: AbortSignal): Promise<CommitView> {
    const object = await this.#parsed.readOne(id, 'commit', signal)
    const view = this.#parsed.parse(object, ({ content }) => parseCommit(id, content))
    return this.#signer === undefined
      ? view
      : { ...view, signed: this.#signer.isOurs(object.content) }
  }

  async list(commit: ObjectId, path: string, signal: AbortSignal): Promise<readonly TreeFile[]> {
    const { tree } = await this.commit(commit, signal)
    return this.#parsed.listFiles(tree, path, signal)
  }

  async prepare(
    blobs: readonly ObjectId[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<ObjectId, number>> {
    return await this.#objects.prepare([...new Set(blobs)], signal)
  }

  async read(
    blobs: readonly ObjectId[],
    signal: AbortSignal,
    most?: number,
  ): Promise<ReadonlyMap<ObjectId, Uint8Array>> {
    const objects = await this.#parsed.read(blobs, 'blob', signal, most ?? MOST_READ_BYTES)
    assertMemory(
      this.remote,
      [...objects.values()],
      most === undefined ? 'texts' : 'objects',
      this.#memory,
    )
    return new Map([...objects].map(([id, { content }]) => [id, content]))
  }

  async write(draft: CommitDraft): Promise<ObjectId> {
    if (
      !Number.isSafeInteger(draft.at) ||
      draft.at < 0 ||
      draft.message.includes('\0') ||
      draft.message.trim() === ''
    ) {
      throw new TypeError(
        'a commit needs a message without NUL and a time in whole seconds since 1970',
      )
    }
    const { signal } = new AbortController()
    const base = draft.base === undefined ? undefined : (await this.commit(draft.base, signal)).tree
    const edited = await editTree((id) => this.#parsed.readTree(id, signal), base, draft.changes)
    const message =
      draft.signOff === false ? normalizeMessage(draft.message) : signOff(draft.message, BOT)
    const created = {
      tree: edited.tree,
      parents: draft.parents,
      identity: BOT,
      at: draft.at,
      message,
    }
    const commit = commitObject(created, this.#signer?.sign)
    for (const object of [commit, ...edited.objects]) this.#created.add(object)
    return commit.id
  }

  async takeCommit(content: Uint8Array): Promise<ObjectId> {
    const commit = createGitObject('commit', content)
    this.#parsed.parse(commit, (object) => parseCommit(object.id, object.content))
    this.#created.add(commit)
    return commit.id
  }

  async push(updates: readonly RefUpdate[], signal: AbortSignal): Promise<void> {
    for (const update of updates) assertPushable(update, this.#base)
    assertOnce(updates)
    for (const update of updates) await this.#assertForwards(update, signal)
    if (updates.length === 0) return
    // After a minute's wait, refs may be elsewhere.
    const ended = await this.#admitPush?.(signal)
    const { remote } = this
    const explainRefusal = (refused: readonly RefUpdate[]) =>
      this.#findDirtyWorkTree(refused, signal)
    const parts = {
      remote,
      transport: this.#transport,
      objects: this.#objects,
      created: this.#created,
      explainRefusal,
    }
    try {
      await pushRefs(parts, updates, signal)
    } finally {
      ended?.()
    }
    if (this.#created.bytes > MOST_NEW_BYTES)
      this.#created.forget(updates.flatMap(({ to }) => (to === null ? [] : [to])))
  }

  get #base(): string | undefined {
    return this.#baseBranch === DEFAULT_BRANCH ? this.#defaultBranch : this.#baseBranch
  }

  async #assertForwards({ ref, from, to }: RefUpdate, signal: AbortSignal): Promise<void> {
    if (ref !== `refs/heads/${this.#base}` || from === null || to === null) return
    const observed = new Set<ObjectId>()
    const open = [to]
    for (let id = open.shift(); id !== undefined && observed.size < MOST_STEPS; id = open.shift()) {
      if (id === from) return
      if (observed.has(id)) continue
      observed.add(id)
      open.push(...(await this.commit(id, signal)).parents)
    }
    throw new Failure({
      code: 'BP4004',
      what: `cannot move ${ref} there`,
      where: this.remote,
      why: `${to} is not a descendant of ${from}, and the base branch is never rewritten`,
      remedy: 'make the change on top of the base branch as it is now',
    })
  }

  /** BP4007 if the branch is checked out and files are in the way. */
  async #findDirtyWorkTree(
    updates: readonly RefUpdate[],
    signal: AbortSignal,
  ): Promise<Failure | undefined> {
    if (this.#address.kind !== 'local') return undefined
    for (const { ref, to } of updates) {
      const top = await workTreeOfBranch(this.#address.path, ref, signal, this.#environment)
      if (top === undefined || to === null) continue
      const { tracked, untracked } = await workTreeChanges(top, signal, this.#environment)
      const written = new Set(
        untracked.length === 0 ? [] : (await this.list(to, '', signal)).map((file) => file.path),
      )
      const inTheWay = [...tracked, ...untracked.filter((path) => written.has(path))]
      if (inTheWay.length > 0) return workTreeNotClean(top, inTheWay)
    }
    return undefined
  }
}

function openTransport(
  address: RemoteAddress,
  token: RepositoryOptions['token'],
  environment: Environment,
  limits: TransportLimits,
): GitTransport {
  return address.kind === 'http'
    ? new HttpTransport(address, token, environment, limits)
    : new ProcessTransport(address, environment, limits)
}

function assertOnce(updates: readonly RefUpdate[]): void {
  const twice = updates.find(
    ({ ref }, at) => updates.findIndex((other) => other.ref === ref) !== at,
  )
  if (twice !== undefined) throw new TypeError(`a push names ${twice.ref} twice`)
}
