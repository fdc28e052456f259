/** `PackageMarks` in one small file: written when a process observes packages for the first time, and not in later turns. */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { PackageMarks } from '../../ports/package-marks.ts'

/** Processes that end in a row before the next one leaves the package alone: one may have been stopped by anybody. */
const MOST_ENDINGS = 2

/** Of packages that ended a process and were not observed since, for example because they changed. */
const MOST_KEPT = 1_000

interface State {
  /** Another process that still runs did not end. */
  readonly pid: number
  /** Another version may read the package in another way. */
  readonly version: string
  readonly observed: readonly string[]
  readonly endings: { readonly [key: string]: number }
  readonly refused: readonly string[]
}

export class PackageMarkFile implements PackageMarks {
  private readonly path: string
  private readonly version: string
  private readonly observed = new Set<string>()
  private readonly survived = new Set<string>()
  private readonly endings: Map<string, number>
  private readonly refused: ReadonlySet<string>
  private writing: Promise<void> = Promise.resolve()

  /** Reads what the process before left. A file that cannot be read is none. */
  constructor(path: string, version: string) {
    this.path = path
    this.version = version
    const left = readState(path, version)
    this.endings = new Map(Object.entries(left?.endings ?? {}))
    for (const key of left === undefined || isRunning(left.pid) ? [] : left.observed)
      this.endings.set(key, (this.endings.get(key) ?? 0) + 1)
    // What was refused is tried again: memory, or luck, may be another.
    const before = new Set(left?.refused)
    this.refused = new Set(
      [...this.endings].flatMap(([key, count]) =>
        count >= MOST_ENDINGS && !before.has(key) ? [key] : [],
      ),
    )
    if (this.endings.size > 0) void this.write()
  }

  endingsOf(key: string): { readonly count: number; readonly isRefused: boolean } {
    return { count: this.endings.get(key) ?? 0, isRefused: this.refused.has(key) }
  }

  async begin(keys: readonly string[]): Promise<void> {
    const fresh = keys.filter((key) => !this.survived.has(key))
    if (fresh.length === 0) return
    for (const key of fresh) this.observed.add(key)
    await this.write()
  }

  async end(keys: readonly string[]): Promise<void> {
    const marked = keys.filter((key) => this.observed.delete(key))
    for (const key of marked) {
      this.survived.add(key)
      this.endings.delete(key)
    }
    if (marked.length > 0) await this.write()
  }

  /** One after the other, each with the state of its time. */
  private write(): Promise<void> {
    this.writing = this.writing.then(() => this.writeNow())
    return this.writing
  }

  private async writeNow(): Promise<void> {
    const { path, version } = this
    const endings = Object.fromEntries([...this.endings].slice(-MOST_KEPT))
    const state: State = {
      pid: process.pid,
      version,
      observed: [...this.observed],
      endings,
      refused: [...this.refused],
    }
    const fresh = `${path}.${process.pid}`
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await writeFile(fresh, JSON.stringify(state), { mode: 0o600 })
      await rename(fresh, path)
    } catch {
      await rm(fresh, { force: true }).catch(() => undefined)
    }
  }
}

/** @param remote address of the repository */
export function packageMarks(folder: string, remote: string, version: string): PackageMarks {
  return new PackageMarkFile(join(folder, `${hash('sha256', remote).slice(0, 32)}.json`), version)
}

function isRunning(pid: number): boolean {
  // In a container each process has the same number.
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function readState(path: string, version: string): State | undefined {
  try {
    const state = JSON.parse(readFileSync(path, 'utf8')) as State
    const isWhole =
      Array.isArray(state.observed) &&
      Array.isArray(state.refused) &&
      typeof state.endings === 'object'
    return isWhole && state.version === version ? state : undefined
  } catch {
    return undefined
  }
}
