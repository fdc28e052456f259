/**
 * A process that dies, or loses an answer, at one of the writes that a scene makes on its forge and in git; then it is started
 * again until it has nothing more to write. What is there in the end is told in full, to be compared.
 */
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import type { MemoryForge } from '../fakes/memory-forge.ts'
import type { MemoryRepository } from '../fakes/memory-repository.ts'

/** People and clusters did what they did, and now backporch runs. */
export interface Scene {
  readonly repository: MemoryRepository
  readonly forge: MemoryForge
  /** What the controller does once, at the time that it is. @returns what failed and did not end it */
  turn(): Promise<readonly Failure[]>
  /** Lets minutes go by. */
  pass(minutes: number): void
}

export interface Scenario {
  readonly name: string
  begin(): Promise<Scene>
  /** What the undisturbed run has to write at least, so that a scenario cannot become an empty one: parts of names of writes. */
  readonly writes: readonly string[]
  /** Minutes until a process that died is started again, besides at once; 3 otherwise. */
  readonly away?: number
}

/** What happens to the process at one write. To die before a write is to die after the one before it. */
export const FATES = ['dies after', 'cannot send', 'loses the answer of'] as const
export type Fate = (typeof FATES)[number]

export interface Kill {
  /** Which write of the whole run, from 1; undefined is every one that was not done before: a process that dies again and again. */
  readonly at: number | undefined
  readonly fate: Fate
  /** Minutes until it is started again. */
  readonly away: number
}

/** More turns than any scenario needs. */
const MOST_TURNS = 40

class Killed extends Error {}

export interface Run {
  /** What was written or tried, in order: pushes as `push <refs>`. */
  readonly writes: readonly string[]
  /** How long it took. */
  readonly minutes: number
  /** The missing answer ended the turn: it was not started again. */
  readonly isEnded: boolean
}

/** Turns until one has nothing to write, a minute apart. @param moment called before and after each write */
export async function runToQuiet(
  scene: Scene,
  kill?: Kill,
  moment: () => void = () => undefined,
): Promise<Run> {
  const { repository, forge } = scene
  const writes: string[] = []
  let isDead = false
  let isHit = false
  let minutes = 0
  const isMeant = (what: string): boolean =>
    kill !== undefined &&
    (kill.at === undefined ? writes.indexOf(what) === writes.length - 1 : kill.at === writes.length)
  const begins = (what: string): void => {
    if (isDead) throw new Killed('a dead process writes nothing')
    moment()
    writes.push(what)
    if (kill?.fate !== 'cannot send' || !isMeant(what)) return
    isHit = true
    throw noAnswer(what)
  }
  const ends = (what: string): void => {
    moment()
    if (isDead || kill?.fate === 'cannot send' || !isMeant(what)) return
    isHit = true
    if (kill?.fate === 'loses the answer of') throw noAnswer(what)
    isDead = true
    throw new Killed(what)
  }
  forge.beforeWrite = begins
  forge.afterWrite = ends
  repository.beforePush = (updates) => begins(pushName(updates))
  repository.afterPush = (updates) => ends(pushName(updates))
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const before = writes.length
    isHit = false
    try {
      const [failed] = await scene.turn()
      if (failed !== undefined && !isHit)
        throw new Error(`nothing disturbed this turn: ${failed.message}`)
    } catch (thrown) {
      if (!isHit || !(thrown instanceof Killed || thrown instanceof Failure)) throw thrown
      // What an error ends leaves what a kill leaves, and a kill is tried there as well.
      if (thrown instanceof Failure) return { writes, minutes, isEnded: true }
    }
    isDead = false
    if (!isHit && writes.length === before) return { writes, minutes, isEnded: false }
    const away = isHit ? (kill?.away ?? 1) : 1
    scene.pass(away)
    minutes += away
  }
  throw new Error(`${MOST_TURNS} turns, and still it writes:\n${writes.join('\n')}`)
}

function noAnswer(what: string): Failure {
  const code = what.startsWith('push ') ? 'BP4001' : 'BP5001'
  return new Failure({ code, what, why: 'no answer', remedy: 'again', retry: 'backoff' })
}

function pushName(
  updates: readonly { readonly ref: string; readonly to: ObjectId | null }[],
): string {
  return `push ${updates.map(({ ref, to }) => `${to === null ? '-' : '+'}${ref.replace(/^refs\/(heads|tags)\//, '')}`).join(' ')}`
}

/** @returns what puts everything back as it is now, but for the time */
export function remember({ repository, forge }: Scene): () => void {
  const branches = [...repository.branches]
  const lists = [forge.proposals, forge.comments, forge.conversation].map(
    (list) => [list, structuredClone(list)] as const,
  )
  const maps = [forge.statuses, forge.issues].map((map) => [map, [...map]] as const)
  return () => {
    refill(repository.branches, branches)
    for (const [list, before] of lists)
      list.splice(0, list.length, ...(structuredClone(before) as never[]))
    for (const [map, before] of maps) refill(map as Map<unknown, unknown>, before)
  }
}

function refill<Key, Value>(
  map: Map<Key, Value>,
  entries: readonly (readonly [Key, Value])[],
): void {
  map.clear()
  for (const [key, value] of entries) map.set(key, value)
}

/** Everything that people can see. Of the ledger the content: how many commits it took says nothing. */
export async function endOf({ repository, forge }: Scene): Promise<unknown> {
  // The forge closes what has no branch any longer, whether somebody looks or not.
  await forge.readProposals('main', [])
  const refs: Record<string, unknown> = {}
  for (const [ref, id] of [...repository.branches].sort()) {
    const { message, parents } = await repository.commit(id)
    const files = await repository.list(id, '')
    const blobs = await repository.read(files.map((file) => file.id))
    const content = Object.fromEntries(
      files.map((file) => [file.path, new TextDecoder().decode(blobs.get(file.id))]),
    )
    refs[ref] = ref === 'refs/heads/drift-ledger' ? content : { id, message, parents, content }
  }
  return {
    refs,
    // Clones: the next run goes on with the same lists.
    proposals: structuredClone(forge.proposals),
    statuses: [...forge.statuses]
      .map(([key, status]) => ({ commit: key.split(' ')[0], ...status }))
      .sort(byText),
    comments: forge.comments.toSorted(byText),
    text: structuredClone(forge.conversation),
    issues: Object.fromEntries([...forge.issues].sort()),
  }
}

function byText(left: unknown, right: unknown): number {
  return JSON.stringify(left) < JSON.stringify(right) ? -1 : 1
}

/** Without times and what follows from them, for a process that was away for a while. */
export function timeless(end: unknown): unknown {
  const text = JSON.stringify(end)
    .replaceAll(/2026-1[12]-\d\d[T ]\d\d:\d\d(:\d\dZ)?/g, 'TIME')
    // Of what was pushed, which has times in it.
    .replaceAll(/(content: |- )['"\\]*[0-9a-f]{16}\b['"\\]*?(?=\\n)/g, '$1HASH')
    .replaceAll(/\b[0-9a-f]{40}\b/g, 'COMMIT')
  const read = JSON.parse(text)
  return { ...read, statuses: read.statuses.sort(byText) }
}
