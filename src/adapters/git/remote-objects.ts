/** The objects of a remote: from the cache where they are there, otherwise fetched, and fetched anew once when the cache is damaged. */
import type { ObjectId } from '../../package/object-id.ts'
import { LEDGER_BRANCH } from '../../package/ref-name.ts'
import { type Advertisement, RefusedService } from './advertisement.ts'
import { fetchPack } from './fetch-pack.ts'
import { damaged, emptyRepository } from './git-failure.ts'
import type { GitTransport } from './git-transport.ts'
import { DamagedCache, type ObjectCache } from './object-cache.ts'
import { BrokenObject, type GitObject, type ObjectType } from './object-format.ts'
import type { ObjectSource } from './object-source.ts'
import { printable } from './untrusted-text.ts'

/** `ours`: the branches that backporch works with, and the object asked for. `all`: every branch and tag. */
type Scope = 'ours' | 'all'

const OURS = new RegExp(`^refs/heads/(?:drafts/|proposed/|deletionProposed/|${LEDGER_BRANCH}$)`)

export class RemoteObjects implements ObjectSource {
  readonly #remote: string
  readonly #transport: GitTransport
  readonly #cache: ObjectCache
  readonly #baseBranch: string | undefined
  #known: Advertisement | undefined
  #damage: unknown
  /** The clone was built from nothing by us: what it lacks, the remote lacks. */
  #fresh = false
  #turn: Promise<unknown> = Promise.resolve()

  /** @param remote as it may be printed. @param baseBranch short name; the remote's default branch is fetched in any case */
  constructor(remote: string, transport: GitTransport, cache: ObjectCache, baseBranch: string | undefined) {
    this.#remote = remote
    this.#transport = transport
    this.#cache = cache
    this.#baseBranch = baseBranch
  }

  /** The last advertisement that was seen for reading. */
  get known(): Advertisement | undefined {
    return this.#known
  }

  /** Asks the remote what it has. @throws Failure BP40xx or BP1002 */
  async advertise(signal: AbortSignal): Promise<Advertisement> {
    const session = await this.#transport.open('git-upload-pack', signal)
    await session.close()
    this.#known = session.advertisement
    return session.advertisement
  }

  async read(ids: readonly ObjectId[], _type: ObjectType, signal: AbortSignal): Promise<ReadonlyMap<ObjectId, GitObject>> {
    const found = new Map<ObjectId, GitObject>()
    for (const id of ids) found.set(id, await this.#readOne(id, signal))
    return found
  }

  async #readOne(id: ObjectId, signal: AbortSignal): Promise<GitObject> {
    const object = await this.#look(id)
    if (object !== undefined) return object
    const mine = this.#turn.then(() => this.#obtain(id, signal))
    this.#turn = mine.catch(() => {}) // the next in line tries for itself
    return await mine
  }

  async #obtain(id: ObjectId, signal: AbortSignal): Promise<GitObject> {
    signal.throwIfAborted()
    const here = await this.#look(id)
    if (here !== undefined) return here
    if (this.#damage !== undefined) await this.#startAnew()
    return (await this.#fetchUntil(id, signal)) ?? (await this.#fetchAnew(id, signal))
  }

  async #fetchUntil(id: ObjectId, signal: AbortSignal): Promise<GitObject | undefined> {
    if (this.#known !== undefined) {
      await this.#fetch('ours', id, signal, this.#known)
      const object = await this.#look(id)
      if (object !== undefined) return object
    }
    for (const scope of ['ours', 'all'] as const) {
      await this.#fetch(scope, id, signal)
      const object = await this.#look(id)
      if (object !== undefined) return object
    }
    return undefined
  }

  async #fetchAnew(id: ObjectId, signal: AbortSignal): Promise<GitObject> {
    if (this.#known?.refs.size === 0) throw emptyRepository(this.#remote)
    if (!this.#fresh || this.#damage !== undefined) {
      await this.#startAnew()
      const object = await this.#fetchUntil(id, signal)
      if (object !== undefined) return object
    }
    const damage = this.#damage
    throw damaged(
      this.#remote,
      damage === undefined ? `${id} is reached from no branch and no tag` : `${id} is broken in a fresh copy too`,
      damage,
    )
  }

  async #startAnew(): Promise<void> {
    await this.#cache.discard()
    this.#damage = undefined
    this.#fresh = false
  }

  /** From the cache; undefined where it is missing or the cache is damaged, which is noted. */
  async #look(id: ObjectId): Promise<GitObject | undefined> {
    try {
      return await this.#cache.read(id)
    } catch (thrown) {
      if (!(thrown instanceof DamagedCache)) throw thrown
      this.#damage = thrown
      return undefined
    }
  }

  async #fetch(scope: Scope, id: ObjectId, signal: AbortSignal, known?: Advertisement): Promise<void> {
    const session = await this.#transport.open('git-upload-pack', signal, known)
    try {
      this.#known = session.advertisement
      const complete = await this.#cache.tips()
      if (complete.size === 0) this.#fresh = true
      const asked = this.#tipsOf(session.advertisement, scope, id)
      const have = new Set(complete.values())
      const wants: ObjectId[] = []
      for (const tip of new Set(asked.values())) {
        if (!have.has(tip) && (await this.#look(tip)) === undefined) wants.push(tip)
      }
      if (this.#damage !== undefined) return
      const pack = wants.length === 0 ? undefined : await fetchPack(session, wants, this.#haves(complete, session.advertisement))
      const kept = [...complete].filter(([name, tip]) => session.advertisement.refs.get(name) === tip)
      await this.#cache.store(pack, new Map([...kept, ...asked]))
    } catch (thrown) {
      this.#pass(thrown, known !== undefined, signal)
    } finally {
      await session.close()
    }
  }

  /** The branches with the long histories come first: a request names only so many. */
  #haves(complete: ReadonlyMap<string, ObjectId>, { head }: Advertisement): readonly ObjectId[] {
    const long = [head, `refs/heads/${this.#baseBranch}`, `refs/heads/${LEDGER_BRANCH}`].flatMap((name) => complete.get(name ?? '') ?? [])
    return [...new Set([...long, ...complete.values()])]
  }

  #tipsOf(advertisement: Advertisement, scope: Scope, id: ObjectId): ReadonlyMap<string, ObjectId> {
    const { refs, head, peeled } = advertisement
    const wanted = ([name, tip]: readonly [string, ObjectId]) => {
      if (tip === id || peeled.get(name) === id) return true
      if (scope === 'all') return name.startsWith('refs/heads/') || name.startsWith('refs/tags/')
      return name === head || name === `refs/heads/${this.#baseBranch}` || OURS.test(name)
    }
    return new Map([...refs].filter(wanted))
  }

  /** A want from an old advertisement may be gone; then the next step asks anew. */
  #pass(thrown: unknown, old: boolean, signal: AbortSignal): void {
    if (thrown instanceof DamagedCache) {
      this.#damage = thrown
    } else if (thrown instanceof BrokenObject) {
      throw damaged(this.#remote, thrown.message, thrown)
    } else if (thrown instanceof RefusedService) {
      if (!old) throw damaged(this.#remote, `the server refuses: ${printable(thrown.message, this.#transport.secrets)}`)
    } else throw this.#transport.explain(thrown, signal)
  }
}
