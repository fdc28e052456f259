/**
 * In place: nothing is copied. What a partial clone lacks comes from its promisor remote into
 * Backporch's cache, never into the clone.
 */
import { dirname, join, resolve } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import { formatForeignLine } from '@backporch/kyaml/text'
import type { Environment } from '@backporch/system/child-environment'
import { MOST_FILE_BYTES, OversizedRead } from '../ports/package-repository.ts'
import {
  createDamagedFailure,
  createGitNotInstalledFailure,
  createUnansweredFailure,
  emptyRepository,
} from '../program/git-failure.ts'
import { runGit } from '../program/git-program.ts'
import type { Advertisement } from '../protocol/advertisement.ts'
import type { GitTransport } from '../protocol/git-transport.ts'
import type { FileOperations } from './atomic-fs.ts'
import {
  type CatFile,
  NoGitProgram,
  openObjects,
  openSizes,
  UnansweredProgram,
  UnreadableObject,
} from './cat-file.ts'
import type { GitObject, ObjectType } from './object-format.ts'
import type { ObjectSource } from './object-source.ts'

interface LocalParts {
  readonly remote: string
  readonly transport: GitTransport
  readonly gitFolder: (signal: AbortSignal) => Promise<string>
  readonly environment: Environment
  readonly files: FileOperations
  readonly cacheFolder: string
  /** Milliseconds. */
  readonly silence: number
  /**
   * @param folder base of a relative address
   * @throws Failure BP4010
   */
  readonly openPromisor: (address: string, folder: string) => ObjectSource
}

interface Gaps {
  readonly shallow: boolean
  readonly promisors: readonly string[]
}

interface Readers {
  readonly objects: CatFile<GitObject>
  readonly sizes: CatFile<number>
}

export class LocalObjects implements ObjectSource {
  readonly #parts: LocalParts
  #readers: Promise<Readers> | undefined
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

  async read(
    ids: readonly ObjectId[],
    type: ObjectType,
    signal: AbortSignal,
    most = Number.POSITIVE_INFINITY,
  ): Promise<ReadonlyMap<ObjectId, GitObject>> {
    const sizes =
      type === 'blob' ? await this.#look('sizes', ids, signal) : new Map<ObjectId, number>()
    let rest = most
    for (const [id, size] of sizes) {
      if (size > MOST_FILE_BYTES)
        throw new OversizedRead(`${this.#parts.remote}: ${id}`, MOST_FILE_BYTES, id, size)
      rest -= size
      if (rest < 0) throw new OversizedRead(this.#parts.remote, most)
    }
    const found = await this.#look('objects', ids, signal)
    const missing = ids.filter((id) => !found.has(id))
    if (missing.length === 0) return found
    const fetched = await this.#askPromisors(missing, signal, (promisor) =>
      promisor.read(missing, type, signal, rest),
    )
    if (fetched === undefined) throw await this.#createMissingFailure(missing, type, signal)
    return new Map([...found, ...fetched])
  }

  async prepare(
    blobs: readonly ObjectId[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<ObjectId, number>> {
    const sizes = await this.#look('sizes', blobs, signal)
    const missing = blobs.filter((id) => !sizes.has(id))
    if (missing.length === 0) return sizes
    const fetched = await this.#askPromisors(missing, signal, (promisor) =>
      promisor.prepare(missing, signal),
    )
    return fetched === undefined ? sizes : new Map([...sizes, ...fetched])
  }

  async #look<Which extends keyof Readers>(
    which: Which,
    ids: readonly ObjectId[],
    signal: AbortSignal,
  ): Promise<Awaited<ReturnType<Readers[Which]['read']>>> {
    const { remote } = this.#parts
    this.#readers ??= this.#openReaders(signal)
    try {
      const readers = await this.#readers.catch((thrown: unknown) => {
        this.#readers = undefined
        throw thrown
      })
      return (await readers[which].read(ids, signal)) as Awaited<ReturnType<Readers[Which]['read']>>
    } catch (thrown) {
      if (thrown instanceof NoGitProgram) throw createGitNotInstalledFailure(remote)
      if (thrown instanceof UnansweredProgram)
        throw createUnansweredFailure(remote, thrown.message, thrown)
      if (thrown instanceof UnreadableObject)
        throw createDamagedFailure(remote, formatForeignLine(thrown.message), thrown)
      throw thrown
    }
  }

  async #openReaders(signal: AbortSignal): Promise<Readers> {
    const { gitFolder, environment, files, cacheFolder, silence } = this.#parts
    const folder = await gitFolder(signal)
    const shared = (
      await this.#ask(folder, ['rev-parse', '--git-path', 'objects'], signal)
    ).replace(/\n$/, '')
    const parts = {
      objects: resolve(shared),
      empty: join(cacheFolder, 'in-place.git'),
      files,
      environment,
      silence,
    }
    return { objects: openObjects(parts), sizes: openSizes(parts) }
  }

  /**
   * Undefined if there is no promisor remote.
   * @throws Failure of the first, if none answers
   */
  async #askPromisors<Answer>(
    missing: readonly ObjectId[],
    signal: AbortSignal,
    ask: (promisor: ObjectSource) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const { remote } = this.#parts
    const { shallow, promisors } = await this.#getGaps(signal)
    // A shallow CI checkout may have no branch.
    if (!shallow && (this.#known ?? (await this.advertise(signal))).refs.size === 0)
      throw emptyRepository(remote)
    let failure: unknown
    for (const promisor of promisors) {
      try {
        return await ask(await this.#getPromisor(promisor, signal))
      } catch (thrown) {
        signal.throwIfAborted()
        if (thrown instanceof OversizedRead) throw thrown
        failure ??= thrown
      }
    }
    if (failure !== undefined) throw explainNotPromised(remote, missing[0], failure)
    return undefined
  }

  async #createMissingFailure(
    missing: readonly ObjectId[],
    type: ObjectType,
    signal: AbortSignal,
  ): Promise<Failure> {
    const { remote } = this.#parts
    const { shallow } = await this.#getGaps(signal)
    return shallow && type === 'commit'
      ? createShallowFailure(remote, missing[0])
      : createDamagedFailure(remote, `${missing[0]} is not in this repository`)
  }

  async #getGaps(signal: AbortSignal): Promise<Gaps> {
    this.#gaps ??= this.#findGaps(signal)
    return await this.#gaps.catch((thrown: unknown) => {
      this.#gaps = undefined
      throw thrown
    })
  }

  async #findGaps(signal: AbortSignal): Promise<Gaps> {
    const folder = await this.#parts.gitFolder(signal)
    const shallow =
      (await this.#ask(folder, ['rev-parse', '--is-shallow-repository'], signal)) === 'true\n'
    const settings = await this.#ask(
      folder,
      ['config', '-z', '--get-regexp', '^(extensions\\.partialclone|remote\\..*\\.promisor)$'],
      signal,
    )
    const names = settings.split('\0').flatMap((setting) => {
      const [key = '', value = ''] = setting.split('\n', 2)
      if (key === 'extensions.partialclone') return [value]
      return key.startsWith('remote.') && value !== 'false'
        ? [key.slice('remote.'.length, -'.promisor'.length)]
        : []
    })
    const addresses: string[] = []
    for (const name of new Set(names))
      addresses.push((await this.#ask(folder, ['remote', 'get-url', '--', name], signal)).trimEnd())
    return { shallow, promisors: addresses.filter((address) => address !== '') }
  }

  async #getPromisor(address: string, signal: AbortSignal): Promise<ObjectSource> {
    const { gitFolder, openPromisor } = this.#parts
    const opened =
      this.#promisors.get(address) ?? openPromisor(address, dirname(await gitFolder(signal)))
    this.#promisors.set(address, opened)
    return opened
  }

  async #ask(folder: string, args: readonly string[], signal: AbortSignal): Promise<string> {
    const { remote, environment } = this.#parts
    const answer = await runGit(['--git-dir', folder, ...args], environment, signal)
    if (answer === 'not-installed') throw createGitNotInstalledFailure(remote)
    return answer.status === 0 ? answer.stdout.toString('utf8') : ''
  }
}

function createShallowFailure(remote: string, id: ObjectId | undefined): Failure {
  return new Failure({
    code: 'BP4011',
    what: 'cannot read an older commit of the repository',
    where: remote,
    why: `commit ${id} is needed, and the clone is shallow: its history ends before it`,
    remedy:
      'run `git fetch --unshallow` in the clone (with actions/checkout: `fetch-depth: 0`), or name the remote itself with --repo',
    retry: 'on-change',
  })
}

function explainNotPromised(remote: string, id: ObjectId | undefined, thrown: unknown): unknown {
  if (!(thrown instanceof Failure)) return thrown
  const { what, where, why } = thrown
  const location = where === undefined ? '' : ` ${where}`
  return new Failure({
    ...thrown.toJSON(),
    what: 'cannot read an object that the partial clone is without',
    where: remote,
    why: `${id} is missing, and its promisor remote${location} does not give it: ${what}: ${why}`,
    cause: thrown,
  })
}
