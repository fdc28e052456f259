/**
 * The objects of a repository on this machine, read where they are: nothing is copied, and what is not needed does not matter. What
 * a partial clone lacks comes from its promisor remote, into our cache and never into the clone.
 */
import { dirname, join, resolve } from 'node:path'
import { Failure } from '../../failure.ts'
import type { ObjectId } from '../../package/object-id.ts'
import { foreignLine } from '../../text/foreign-text.ts'
import type { Advertisement } from './advertisement.ts'
import type { FileOperations } from './atomic-fs.ts'
import { CatFile, NoGitProgram, UnreadableObject } from './cat-file.ts'
import { damaged, emptyRepository, gitNotInstalled } from './git-failure.ts'
import { type Environment, runGit } from './git-program.ts'
import type { GitTransport } from './git-transport.ts'
import type { GitObject, ObjectType } from './object-format.ts'
import type { ObjectSource } from './object-source.ts'

export interface LocalParts {
  /** As it may be printed. */
  readonly remote: string
  readonly transport: GitTransport
  /** Where git keeps it. */
  readonly gitFolder: (signal: AbortSignal) => Promise<string>
  readonly environment: Environment
  readonly files: FileOperations
  readonly cacheFolder: string
  /** Longest time without a byte, milliseconds. */
  readonly silence: number
  /** The promisor remote of a partial clone. `folder` is what a relative address is relative to. @throws Failure BP4010 */
  readonly openPromisor: (address: string, folder: string) => ObjectSource
}

/** What a clone is without, on purpose. */
interface Gaps {
  readonly shallow: boolean
  /** Addresses of promisor remotes, as the clone's configuration has them. */
  readonly promisors: readonly string[]
}

export class LocalObjects implements ObjectSource {
  readonly #parts: LocalParts
  #reader: Promise<CatFile> | undefined
  #gaps: Promise<Gaps> | undefined
  readonly #promisors = new Map<string, ObjectSource>()
  #known: Advertisement | undefined

  constructor(parts: LocalParts) {
    this.#parts = parts
  }

  get known(): Advertisement | undefined {
    return this.#known
  }

  async advertise(signal: AbortSignal): Promise<Advertisement> {
    const session = await this.#parts.transport.open('git-upload-pack', signal)
    await session.close()
    this.#known = session.advertisement
    return session.advertisement
  }

  async read(ids: readonly ObjectId[], type: ObjectType, signal: AbortSignal): Promise<ReadonlyMap<ObjectId, GitObject>> {
    const found = await this.#look(ids, signal)
    const missing = ids.filter((id) => !found.has(id))
    const [first] = missing
    return first === undefined ? found : new Map([...found, ...(await this.#readMissing(missing, first, type, signal))])
  }

  async #look(ids: readonly ObjectId[], signal: AbortSignal): Promise<ReadonlyMap<ObjectId, GitObject>> {
    const { remote } = this.#parts
    this.#reader ??= this.#openReader(signal)
    try {
      const reader = await this.#reader.catch((thrown: unknown) => {
        this.#reader = undefined
        throw thrown
      })
      return await reader.read(ids, signal)
    } catch (thrown) {
      if (thrown instanceof NoGitProgram) throw gitNotInstalled(remote)
      if (thrown instanceof UnreadableObject) throw damaged(remote, foreignLine(thrown.message), thrown)
      throw thrown
    }
  }

  async #openReader(signal: AbortSignal): Promise<CatFile> {
    const { gitFolder, environment, files, cacheFolder, silence } = this.#parts
    const folder = await gitFolder(signal)
    const shared = (await this.#ask(folder, ['rev-parse', '--git-path', 'objects'], signal)).replace(/\n$/, '')
    return new CatFile({ objects: resolve(shared), empty: join(cacheFolder, 'in-place.git'), files, environment, silence })
  }

  async #readMissing(
    missing: readonly ObjectId[],
    first: ObjectId,
    type: ObjectType,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<ObjectId, GitObject>> {
    const { remote } = this.#parts
    if ((this.#known ?? (await this.advertise(signal))).refs.size === 0) throw emptyRepository(remote)
    this.#gaps ??= this.#findGaps(signal)
    const { shallow, promisors } = await this.#gaps.catch((thrown: unknown) => {
      this.#gaps = undefined
      throw thrown
    })
    let failure: unknown
    for (const promisor of promisors) {
      try {
        return await (await this.#promisor(promisor, signal)).read(missing, type, signal)
      } catch (thrown) {
        signal.throwIfAborted()
        failure ??= thrown
      }
    }
    if (failure !== undefined) throw notPromised(remote, first, failure)
    throw shallow && type === 'commit' ? beyondShallow(remote, first) : damaged(remote, `${first} is not in this repository`)
  }

  async #findGaps(signal: AbortSignal): Promise<Gaps> {
    const folder = await this.#parts.gitFolder(signal)
    const shallow = (await this.#ask(folder, ['rev-parse', '--is-shallow-repository'], signal)) === 'true\n'
    const settings = await this.#ask(
      folder,
      ['config', '-z', '--get-regexp', '^(extensions\\.partialclone|remote\\..*\\.promisor)$'],
      signal,
    )
    const names = settings.split('\0').flatMap((setting) => {
      const [key = '', value = ''] = setting.split('\n', 2)
      if (key === 'extensions.partialclone') return [value]
      return key.startsWith('remote.') && value !== 'false' ? [key.slice('remote.'.length, -'.promisor'.length)] : []
    })
    const addresses: string[] = []
    for (const name of new Set(names)) addresses.push((await this.#ask(folder, ['remote', 'get-url', '--', name], signal)).trimEnd())
    return { shallow, promisors: addresses.filter((address) => address !== '') }
  }

  async #promisor(address: string, signal: AbortSignal): Promise<ObjectSource> {
    const { gitFolder, openPromisor } = this.#parts
    const opened = this.#promisors.get(address) ?? openPromisor(address, dirname(await gitFolder(signal)))
    this.#promisors.set(address, opened)
    return opened
  }

  /** Empty where git ends with an error. */
  async #ask(folder: string, args: readonly string[], signal: AbortSignal): Promise<string> {
    const { remote, environment } = this.#parts
    const answer = await runGit(['--git-dir', folder, ...args], environment, signal)
    if (answer === 'not-installed') throw gitNotInstalled(remote)
    return answer.status === 0 ? answer.stdout.toString('utf8') : ''
  }
}

/** BP4011: the history of the clone was cut off on purpose, and this lies beyond. */
function beyondShallow(remote: string, id: ObjectId): Failure {
  return new Failure({
    code: 'BP4011',
    what: 'cannot read an older commit of the repository',
    where: remote,
    why: `commit ${id} is needed, and the clone is shallow: its history ends before it`,
    remedy: 'run `git fetch --unshallow` in the clone (with actions/checkout: `fetch-depth: 0`), or name the remote itself with --repo',
    retry: 'on-change',
  })
}

/** The failure of the promisor remote, as one of the clone: its code and remedy stay. */
function notPromised(remote: string, id: ObjectId, thrown: unknown): unknown {
  if (!(thrown instanceof Failure)) return thrown
  const { code, what, where, why, remedy, retry } = thrown
  const place = where === undefined ? '' : ` ${where}`
  return new Failure({
    code,
    what: 'cannot read an object that the partial clone is without',
    where: remote,
    why: `${id} is not there, and its promisor remote${place} does not give it: ${what}: ${why}`,
    remedy,
    retry,
    cause: thrown,
  })
}
