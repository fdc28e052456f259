import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { PackageMarks } from '../../ports/package-marks.ts'

/** A single process may have been stopped for other reasons. */
const MOST_ENDINGS = 2

/** Packages that crashed a process and were not observed since. */
const MOST_KEPT = 1_000

interface State {
  /** A process that is still running has not crashed. */
  readonly pid: number
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

  /** An unreadable file counts as missing. */
  constructor(path: string, version: string) {
    this.path = path
    this.version = version
    const left = readState(path, version)
    this.endings = new Map(Object.entries(left?.endings ?? {}))
    for (const key of left === undefined || isRunning(left.pid) ? [] : left.observed)
      this.endings.set(key, (this.endings.get(key) ?? 0) + 1)
    // Memory or other conditions may have changed.
    const before = new Set(left?.refused)
    this.refused = new Set(
      [...this.endings].flatMap(([key, count]) =>
        count >= MOST_ENDINGS && !before.has(key) ? [key] : [],
      ),
    )
    if (this.endings.size > 0) void this.write()
  }

  getEndings(key: string): { readonly count: number; readonly isRefused: boolean } {
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

export function createPackageMarks(folder: string, remote: string, version: string): PackageMarks {
  return new PackageMarkFile(join(folder, `${hash('sha256', remote).slice(0, 32)}.json`), version)
}

function isRunning(pid: number): boolean {
  // In a container every process has the same id.
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
