import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

interface Holder {
  readonly pid: number
  readonly nonce: string
}

/** How often a holder says that it is alive, and how long a silent one is believed. Milliseconds. */
const HEARTBEAT_MS = 2_000
const BELIEVED_MS = 30_000
const POLL_MS = 250

/**
 * Runs `work` while no other process that uses the same `path` does, and returns its result.
 *
 * A lock left by a killed process is taken over: at once when its process id is gone, and after `BELIEVED_MS` without
 * a heartbeat when that id has gone to another process. Two processes that take over the same lock in the same instant
 * can at worst both run, so `work` must be safe to do twice; the lock saves effort, it does not guard correctness.
 *
 * @param onWait called once, with the holder's process id, when the lock is not free.
 * @param signal ends the wait, which then rejects.
 */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  onWait: (pid: number) => void,
  signal?: AbortSignal,
): Promise<T> {
  const mine: Holder = { pid: process.pid, nonce: randomUUID() }
  let reported = false
  while (!(await acquire(path, mine))) {
    signal?.throwIfAborted()
    const holder = await read(path)
    if (holder === undefined) continue
    if (await isStale(path, holder)) {
      await takeAway(path, holder)
      continue
    }
    if (!reported) onWait(holder.pid)
    reported = true
    await sleep(POLL_MS)
  }
  const heartbeat = setInterval(() => void beat(path), HEARTBEAT_MS)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    if ((await read(path))?.nonce === mine.nonce) await rm(path, { force: true })
  }
}

/** By a link to a complete file: a lock file created empty and then written could be read in between. */
async function acquire(path: string, mine: Holder): Promise<boolean> {
  const own = `${path}.${mine.nonce}`
  await writeFile(own, JSON.stringify(mine))
  try {
    await link(own, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(own, { force: true })
  }
}

async function isStale(path: string, holder: Holder): Promise<boolean> {
  if (!isAlive(holder.pid)) return true
  try {
    return Date.now() - (await stat(path)).mtimeMs > BELIEVED_MS
  } catch {
    return false // released meanwhile
  }
}

/** Moves the lock aside, and puts it back when it turns out to be a newer one than the one judged stale. */
async function takeAway(path: string, judged: Holder): Promise<void> {
  const aside = `${path}.${randomUUID()}`
  try {
    await rename(path, aside)
    if ((await read(aside))?.nonce !== judged.nonce) await link(aside, path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error
  } finally {
    await rm(aside, { force: true })
  }
}

async function read(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

async function beat(path: string): Promise<void> {
  const now = new Date()
  // Only the file's time matters; when somebody took it away there is nothing to do here.
  await utimes(path, now, now).catch(() => {})
}

/** `EPERM` means the process exists and is another user's. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined
}
