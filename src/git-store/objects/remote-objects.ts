/**
 * Fetches only what is needed if the server supports that (ADR 29), and again once if the cache is
 * damaged.
 */
import type { ObjectId } from '@backporch/kyaml/files'
import { formatForeignLine } from '@backporch/kyaml/text'
import { MOST_FILE_BYTES, OversizedRead } from '../ports/package-repository.ts'
import {
  createDamagedFailure,
  createOversizedObjectFailure,
  emptyRepository,
} from '../program/git-failure.ts'
import { type Advertisement, RefusedService } from '../protocol/advertisement.ts'
import { StreamFault } from '../protocol/byte-reader.ts'
import type { FetchRequest, Filter } from '../protocol/fetch-pack.ts'
import type { GitTransport } from '../protocol/git-transport.ts'
import {
  chooseFetchWay,
  DEEPEST,
  DEPTHS,
  FURTHEST,
  listBranchesAndTags,
  listLatestRevisions,
  listTipsNaming,
  orderLongestFirst,
  SMALL_FILES,
  selectOurTips,
} from '../protocol/what-to-fetch.ts'
import { CachedObjects } from './cached-objects.ts'
import { DamagedCache, type ObjectCache, type TipsFile } from './object-cache.ts'
import { BrokenObject, type GitObject, type ObjectType } from './object-format.ts'
import type { ObjectSource } from './object-source.ts'
import { OversizedObject } from './pack-entries.ts'
import { PackRequests } from './pack-requests.ts'

interface Tips {
  readonly tips: ReadonlyMap<string, ObjectId>
  readonly depth?: number | undefined
  readonly filter?: Filter | undefined
}

/** Bytes of one that arrives with others and is not read. */
const MOST_OBJECT = 256 * 1024 * 1024
/** Bytes. */
const MOST_PACK = 128 * 1024 * 1024
const MOST_HALVES = 64

class Refused extends Error {}

export class RemoteObjects implements ObjectSource {
  readonly #remote: string
  readonly #transport: GitTransport
  readonly #cache: ObjectCache
  readonly #cached: CachedObjects
  readonly #requests: PackRequests
  readonly #baseBranch: string | undefined
  /** Contrary to its advertisement, the server gives no object by id. */
  #whole = false
  #givesById = false
  #deepened = 0
  readonly #wanted = new Map<ObjectType, Set<ObjectId>>()
  #turn: Promise<unknown> = Promise.resolve()

  /** @param baseBranch short name; the default branch is always fetched */
  constructor(
    remote: string,
    transport: GitTransport,
    cache: ObjectCache,
    baseBranch: string | undefined,
  ) {
    this.#remote = remote
    this.#transport = transport
    this.#cache = cache
    this.#cached = new CachedObjects(remote, cache)
    this.#requests = new PackRequests(transport)
    this.#baseBranch = baseBranch
  }

  get known(): Advertisement | undefined {
    return this.#requests.known
  }

  advertise(signal: AbortSignal): Promise<Advertisement> {
    return this.#requests.advertise(signal)
  }

  async read(
    ids: readonly ObjectId[],
    type: ObjectType,
    signal: AbortSignal,
    most = Number.POSITIVE_INFINITY,
  ): Promise<ReadonlyMap<ObjectId, GitObject>> {
    this.#cached.assertSmall(ids)
    const found = await this.#cached.look(ids, most)
    const missing = ids.filter((id) => !found.has(id))
    if (missing.length === 0) return found
    await this.#ensure(missing, type, signal)
    this.#cached.assertSmall(missing)
    const here = await this.#cached.look(missing, most - countBytes(found))
    if (here.size < missing.length) throw this.#cached.createMissingError(missing)
    return new Map([...found, ...here])
  }

  async prepare(
    blobs: readonly ObjectId[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<ObjectId, number>> {
    const sizes = await this.#cached.readSizes(blobs)
    const missing = blobs.filter((id) => !sizes.has(id) && !this.#cached.oversized.has(id))
    if (missing.length === 0) return sizes
    await this.#ensure(missing, 'blob', signal)
    return new Map([...sizes, ...(await this.#cached.readSizes(missing))])
  }

  async #ensure(ids: readonly ObjectId[], type: ObjectType, signal: AbortSignal): Promise<void> {
    const waiting = this.#wanted.get(type) ?? new Set()
    this.#wanted.set(type, waiting)
    for (const id of ids) waiting.add(id)
    const mine = this.#turn.then(() => this.#obtain(ids, type, signal))
    this.#turn = mine.catch(() => {}) // the next in line tries for itself
    await mine
  }

  async #obtain(ids: readonly ObjectId[], type: ObjectType, signal: AbortSignal): Promise<void> {
    const waiting = this.#wanted.get(type) ?? new Set()
    try {
      signal.throwIfAborted()
      if (await this.#cached.isHere(ids)) return
      if (this.#cached.damage !== undefined) await this.#cached.startAnew()
      await this.#fetchMissing([...new Set([...ids, ...waiting])], ids, type, signal)
      if (await this.#cached.isHere(ids)) return
      if (this.#requests.known?.refs.size === 0) throw emptyRepository(this.#remote)
      if (!this.#cached.fresh || this.#cached.damage !== undefined) {
        await this.#cached.startAnew()
        await this.#fetchMissing(ids, ids, type, signal)
        if (await this.#cached.isHere(ids)) return
      }
      throw this.#cached.createMissingError(ids)
    } finally {
      for (const id of ids) waiting.delete(id)
    }
  }

  async #fetchMissing(
    all: readonly ObjectId[],
    ids: readonly ObjectId[],
    type: ObjectType,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await this.#fetchAll(all, type, signal)
    } catch (thrown) {
      if (!(thrown instanceof Refused || thrown instanceof OversizedRead)) throw thrown
      if (all.length > ids.length) return await this.#fetchMissing(ids, ids, type, signal)
      if (thrown instanceof OversizedRead) throw thrown
      throw createDamagedFailure(
        this.#remote,
        `the server refuses: ${formatForeignLine(thrown.message, { secrets: this.#transport.secrets })}`,
        thrown,
      )
    }
  }

  async #fetchAll(ids: readonly ObjectId[], type: ObjectType, signal: AbortSignal): Promise<void> {
    for (let anew = this.#requests.known === undefined; ; anew = true) {
      const known = anew ? undefined : this.#requests.known
      const advertisement = known ?? (await this.advertise(signal))
      const way = this.#whole ? 'whole' : chooseFetchWay(advertisement)
      try {
        if (way === 'partial') await this.#fetchPartly(advertisement, ids, type, signal)
        else await this.#fetchWhole(advertisement, ids, signal)
        if (anew || this.#cached.damage !== undefined || (await this.#cached.isHere(ids))) return
      } catch (thrown) {
        if (!(thrown instanceof Refused)) throw thrown
        // A file that a folder names exists; a commit may be gone.
        if (
          anew &&
          (way === 'whole' || this.#givesById || (type === 'commit' && advertisement.version === 2))
        )
          throw thrown
        if (anew) this.#whole = true
      }
    }
  }

  async #fetchPartly(
    advertisement: Advertisement,
    ids: readonly ObjectId[],
    type: ObjectType,
    signal: AbortSignal,
  ): Promise<void> {
    const ask = (filter: Filter): Filter | undefined =>
      this.#requests.filterFor(advertisement, filter)
    if (type !== 'commit') {
      if (type === 'blob') await this.#fetchFiles(advertisement, ids, signal)
      else
        await this.#fetch(
          advertisement,
          { wants: ids, haves: [], filter: type === 'tree' ? ask('blob:none') : undefined },
          signal,
        )
      this.#givesById = true
      return
    }
    const { base, branches, ledger } = selectOurTips(advertisement, this.#baseBranch)
    const tips = new Set([base, branches, ledger].flatMap((each) => [...each.values()]))
    const here = await this.#cached.readTips('tips')
    if (here.size === 0 || ids.some((id) => tips.has(id))) {
      const depthOf = (group: ReadonlyMap<string, ObjectId>) =>
        [...group.keys()].some((name) => here.has(name)) ? FURTHEST : 1
      await this.#fetchTips(
        advertisement,
        { tips: base, depth: depthOf(base), filter: ask('blob:none') },
        signal,
      )
      await this.#fetchTips(advertisement, { tips: ledger, depth: depthOf(ledger) }, signal)
      await this.#fetchTips(advertisement, { tips: branches, filter: ask(SMALL_FILES) }, signal)
    }
    const missing = await this.#cached.listMissing(ids)
    const tagged = [...listTipsNaming(advertisement, missing).keys()].some((name) =>
      name.startsWith('refs/tags/'),
    )
    if (tagged) {
      const wants =
        ask('tree:0') === undefined ? missing : [...missing, ...listLatestRevisions(advertisement)]
      await this.#fetch(
        advertisement,
        { wants, haves: [], depth: 1, filter: ask('tree:0') },
        signal,
      )
    }
    const older = await this.#cached.listMissing(missing)
    if (older.length === 0) return
    // For a commit that it knows, a server assumes that its ancestors are present too.
    await this.#fetch(
      advertisement,
      {
        wants: older,
        haves: [],
        depth: DEPTHS[this.#deepened] ?? DEEPEST,
        filter: ask('blob:none'),
      },
      signal,
    )
    this.#deepened += 1
    this.#givesById = true
  }

  /** A file's size is unknown before it arrives. */
  async #fetchFiles(
    advertisement: Advertisement,
    ids: readonly ObjectId[],
    signal: AbortSignal,
    halves: { left: number; oversized?: ObjectId } = { left: MOST_HALVES },
  ): Promise<void> {
    try {
      await this.#fetch(advertisement, { wants: ids, haves: [], most: MOST_PACK }, signal)
      return
    } catch (thrown) {
      if (!(thrown instanceof OversizedObject)) throw thrown
    }
    const [first] = ids
    if (ids.length === 1 && first !== undefined) {
      this.#cached.oversized.add(first)
      halves.oversized ??= first
      return
    }
    const middle = Math.ceil(ids.length / 2)
    for (const half of [ids.slice(0, middle), ids.slice(middle)]) {
      halves.left -= 1
      if (halves.left < 0 && halves.oversized !== undefined)
        throw this.#cached.createOversizedRead(halves.oversized)
      await this.#fetchFiles(advertisement, half, signal, halves)
    }
  }

  /** Branches that are read with their whole history come first. */
  async #fetchWhole(
    advertisement: Advertisement,
    ids: readonly ObjectId[],
    signal: AbortSignal,
  ): Promise<void> {
    const { base, branches, ledger } = selectOurTips(advertisement, this.#baseBranch)
    const near = new Map([...base, ...branches, ...ledger, ...listTipsNaming(advertisement, ids)])
    for (const tips of [near, listBranchesAndTags(advertisement)]) {
      if ((await this.#cached.listMissing(ids)).length > 0)
        await this.#fetchTips(advertisement, { tips }, signal, 'packed-refs')
    }
  }

  async #fetchTips(
    advertisement: Advertisement,
    { tips, depth, filter }: Tips,
    signal: AbortSignal,
    file: TipsFile = 'tips',
  ): Promise<void> {
    const here = await this.#cached.readTips(file)
    const have = new Set(here.values())
    const wants = [...new Set(tips.values())].filter((id) => !have.has(id))
    const haves = depth === 1 ? [] : orderLongestFirst(here, advertisement, this.#baseBranch)
    await this.#fetch(advertisement, { wants, haves, depth, filter }, signal, async (pack) => {
      const retained = [...here].filter(([name, tip]) => advertisement.refs.get(name) === tip)
      await this.#cache.store(addLimit(pack), new Map([...retained, ...tips]), file)
    })
  }

  async #fetch(
    known: Advertisement,
    request: FetchRequest,
    signal: AbortSignal,
    store: (pack: Buffer | undefined) => Promise<void> = (pack) =>
      this.#cache.store(addLimit(pack, request.most === undefined ? MOST_OBJECT : MOST_FILE_BYTES)),
  ): Promise<void> {
    if (this.#cached.damage !== undefined) return
    try {
      await store(
        request.wants.length === 0
          ? undefined
          : await this.#requests.request(known, request, signal),
      )
    } catch (thrown) {
      if (request.most !== undefined && isTooLarge(thrown))
        throw new OversizedObject('a file is too large', { cause: thrown })
      this.#pass(thrown, signal)
    }
  }

  #pass(thrown: unknown, signal: AbortSignal): void {
    if (thrown instanceof DamagedCache) this.#cached.damage = thrown
    else if (thrown instanceof OversizedObject)
      throw createOversizedObjectFailure(this.#remote, thrown)
    else if (thrown instanceof BrokenObject)
      throw createDamagedFailure(this.#remote, thrown.message, thrown)
    else if (thrown instanceof RefusedService) throw new Refused(thrown.message, { cause: thrown })
    else throw this.#transport.explain(thrown, signal)
  }
}

function countBytes(objects: ReadonlyMap<ObjectId, GitObject>): number {
  return [...objects.values()].reduce((sum, { content }) => sum + content.length, 0)
}

function addLimit(
  content: Buffer | undefined,
  most = MOST_OBJECT,
): { readonly content: Buffer; readonly most: number } | undefined {
  return content === undefined ? undefined : { content, most }
}

function isTooLarge(thrown: unknown): boolean {
  return (
    thrown instanceof OversizedObject ||
    (thrown instanceof StreamFault && thrown.kind === 'too-large')
  )
}
