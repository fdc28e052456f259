/**
 * `git cat-file --batch` reads loose objects, packs and alternates, also during a repack. It gets
 * the objects folder inside an empty repository, so no foreign configuration is read: none of its
 * programs run, no object is replaced, and nothing is fetched for a partial clone
 * (docs/facts/git-cat-file.md).
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { ObjectId } from '@backporch/kyaml/files'
import type { Environment } from '@backporch/system/child-environment'
import { findDiskFailure, getSystemCode } from '../program/git-failure.ts'
import { buildReadingEnvironment, getNeutralFolder, OWN_SESSION } from '../program/git-program.ts'
import { ByteReader, StreamFault } from '../protocol/byte-reader.ts'
import { type FileOperations, writeWhole } from './atomic-fs.ts'
import { createGitObject, type GitObject, isObjectType, type ObjectType } from './object-format.ts'

/** The message may contain git's text. */
export class UnreadableObject extends Error {}
/** Says nothing about the objects. The message is a clause. */
export class UnansweredProgram extends Error {}

export class NoGitProgram extends Error {}

/** Milliseconds. An idle program must not hold a deleted pack open. */
const IDLE = 2_000
const AT_ONCE = 2_000

interface CatFileParts {
  readonly objects: string
  /** Several processes may share it. */
  readonly empty: string
  readonly files: FileOperations
  readonly environment: Environment
  /** Milliseconds. */
  readonly silence: number
}

/** Bytes: no file to read is larger. */
const MOST_OBJECT = 64 * 1024 * 1024

type ReadAnswer<Answer> = (reader: ByteReader, id: ObjectId) => Promise<Answer | undefined>

interface Running {
  readonly child: ChildProcessWithoutNullStreams
  readonly reader: ByteReader
  stderr: string
}

export function openObjects(parts: CatFileParts): CatFile<GitObject> {
  return new CatFile(parts, '--batch', readObject)
}

export function openSizes(parts: CatFileParts): CatFile<number> {
  return new CatFile(parts, '--batch-check', readSize)
}

export class CatFile<Answer> {
  readonly #parts: CatFileParts
  readonly #mode: '--batch' | '--batch-check'
  readonly #readAnswer: ReadAnswer<Answer>
  #running: Running | undefined
  #idle: NodeJS.Timeout | undefined
  #turn: Promise<unknown> = Promise.resolve()

  constructor(
    parts: CatFileParts,
    mode: '--batch' | '--batch-check',
    readAnswer: ReadAnswer<Answer>,
  ) {
    this.#parts = parts
    this.#mode = mode
    this.#readAnswer = readAnswer
  }

  /**
   * Without missing objects.
   * @throws UnreadableObject, UnansweredProgram, NoGitProgram, Failure BP4008, the signal's reason
   */
  async read(
    ids: readonly ObjectId[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<ObjectId, Answer>> {
    const mine = this.#turn.then(() => this.#readAll(ids, signal))
    this.#turn = mine.catch(() => {}) // the next in line starts over
    return await mine
  }

  async #readAll(
    ids: readonly ObjectId[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<ObjectId, Answer>> {
    signal.throwIfAborted()
    const found = new Map<ObjectId, Answer>()
    const running = await this.#start()
    const stop = (): void => this.#end(running)
    signal.addEventListener('abort', stop, { once: true })
    try {
      for (let first = 0; first < ids.length; first += AT_ONCE) {
        const some = ids.slice(first, first + AT_ONCE)
        running.child.stdin.write(some.map((id) => `${id}\n`).join(''))
        for (const id of some) {
          const answer = await this.#readAnswer(running.reader, id)
          if (answer !== undefined) found.set(id, answer)
        }
      }
    } catch (thrown) {
      const error = await this.#explain(running, thrown)
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
      this.#scheduleEnd(running)
    }
    return found
  }

  async #start(): Promise<Running> {
    clearTimeout(this.#idle)
    const known = this.#running
    if (known !== undefined && known.child.exitCode === null && known.child.signalCode === null) {
      hold(known.child, true)
      return known
    }
    const { empty, objects, environment, silence } = this.#parts
    await this.#makeEmpty()
    const env = { ...buildReadingEnvironment(environment), GIT_OBJECT_DIRECTORY: objects }
    const options = { cwd: getNeutralFolder(), env, stdio: 'pipe', detached: OWN_SESSION } as const
    const child = spawn('git', ['--git-dir', empty, 'cat-file', this.#mode], options)
    const running: Running = {
      child,
      reader: new ByteReader(child.stdout, { silence, bytes: Number.POSITIVE_INFINITY }),
      stderr: '',
    }
    child.stdin.on('error', () => {}) // the end of the answers reports it
    child.on('error', () => child.stdout.destroy())
    child.stderr.on('data', (chunk: Buffer) => {
      running.stderr = (running.stderr + chunk.toString('utf8')).slice(-4096)
    })
    this.#running = running
    return running
  }

  async #makeEmpty(): Promise<void> {
    const { empty, files } = this.#parts
    try {
      await files.mkdir(join(empty, 'refs'), { recursive: true })
      if (!(await files.readdir(empty)).includes('HEAD'))
        await writeWhole(files, join(empty, 'HEAD'), 'ref: refs/heads/main\n')
    } catch (thrown) {
      throw findDiskFailure(empty, thrown, 'ENOENT') ?? thrown
    }
  }

  /** An idle program does not keep the process alive. */
  #scheduleEnd(running: Running): void {
    if (this.#running !== running) return
    hold(running.child, false)
    this.#idle = setTimeout(() => this.#end(running), IDLE).unref()
  }

  #end(running: Running): void {
    if (this.#running === running) this.#running = undefined
    running.child.stdin.destroy()
    running.child.stdout.destroy()
    running.child.stderr.destroy()
    running.child.kill('SIGKILL')
  }

  async #explain(running: Running, thrown: unknown): Promise<unknown> {
    const { child } = running
    if (
      thrown instanceof StreamFault &&
      thrown.kind === 'ended' &&
      child.exitCode === null &&
      child.signalCode === null &&
      child.pid !== undefined
    ) {
      await once(child, 'close') // its message arrives with its end
    }
    const missing = child.pid === undefined
    const killed = child.signalCode
    this.#end(running)
    if (missing) return new NoGitProgram('there is no program git', { cause: thrown })
    if (!(thrown instanceof StreamFault) && getSystemCode(thrown) === undefined) return thrown
    if (killed !== null)
      return new UnansweredProgram(`\`git cat-file\` was killed (${killed})`, { cause: thrown })
    if (thrown instanceof StreamFault && (thrown.kind === 'silent' || thrown.kind === 'slow'))
      return new UnansweredProgram(`\`git cat-file\`: ${thrown.message}`, { cause: thrown })
    const words = running.stderr === '' && thrown instanceof Error ? thrown.message : running.stderr
    return new UnreadableObject(words, { cause: thrown })
  }
}

function hold(child: ChildProcessWithoutNullStreams, wanted: boolean): void {
  const parts = [
    child,
    ...[child.stdin, child.stdout, child.stderr].filter((stream) => stream instanceof Socket),
  ]
  for (const part of parts) {
    if (wanted) part.ref()
    else part.unref()
  }
}

/** `<id> <type> <size>`, a line break, the content, a line break; or `<id> missing`. */
async function readObject(reader: ByteReader, id: ObjectId): Promise<GitObject | undefined> {
  const head = await readHead(reader, id)
  if (head === undefined) return undefined
  if (head.size > MOST_OBJECT) throw new UnreadableObject(`object ${id} has ${head.size} bytes`)
  const content = await reader.read(head.size)
  if (content === undefined) throw new StreamFault('ended', 'the answer broke off')
  await reader.read(1)
  const object = createGitObject(head.type, Buffer.from(content))
  if (object.id !== id) throw new UnreadableObject(`object ${id} has another content`)
  return object
}

async function readSize(reader: ByteReader, id: ObjectId): Promise<number | undefined> {
  return (await readHead(reader, id))?.size
}

async function readHead(
  reader: ByteReader,
  id: ObjectId,
): Promise<{ readonly type: ObjectType; readonly size: number } | undefined> {
  const line = await reader.readLine(300)
  if (line === `${id} missing`) return undefined
  const [, type, size] = /^[0-9a-f]{40} ([a-z]+) ([0-9]+)$/.exec(line) ?? []
  if (!isObjectType(type)) throw new StreamFault('malformed', `git does not answer for ${id}`)
  return { type, size: Number(size) }
}
