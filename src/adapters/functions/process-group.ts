/**
 * Finds, measures and kills programs with all their children, also when this process exits first.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'

/** Environment variable that also marks children outside the process group. */
const MARK = 'BACKPORCH_FUNCTION'

const running = new Set<ProcessGroup>()
const endAll = (): void => {
  for (const group of running) group.end()
}

export class ProcessGroup {
  private readonly leader: number
  private readonly mark: string
  private readonly folder: string

  /**
   * @param leader leads its own group and has `markOf(name)` in its environment
   * @param folder removed when this process exits
   */
  constructor(leader: number, name: string, folder: string) {
    this.leader = leader
    this.folder = folder
    this.mark = `${MARK}=${name}`
    if (running.size === 0) process.on('exit', endAll)
    running.add(this)
  }

  static createMark(name: string): { readonly [name: string]: string } {
    return { [MARK]: name }
  }

  /** A process spawned at this moment is found in the next round. */
  kill(): void {
    signal(process.platform === 'win32' ? this.leader : -this.leader)
    for (let round = 0; round < 5; round += 1) {
      const left = this.listEscapedProcesses()
      for (const id of left) signal(id)
      if (left.length === 0) return
    }
  }

  end(): void {
    this.kill()
    try {
      rmSync(this.folder, { recursive: true, force: true })
    } catch {
      // No caller is left to receive an error.
    }
  }

  forget(): void {
    running.delete(this)
    if (running.size === 0) process.off('exit', endAll)
  }

  /** Bytes; undefined except on Linux. */
  async measureMemory(): Promise<number | undefined> {
    if (process.platform !== 'linux') return undefined
    const members = await Promise.all(
      (await processIds()).map(async (id) =>
        (await readGroup(id)) === this.leader ? readResidentSize(id) : 0,
      ),
    )
    return members.reduce((sum, size) => sum + size, 0)
  }

  private listEscapedProcesses(): readonly number[] {
    if (process.platform !== 'linux') return []
    return readdirSync('/proc')
      .filter(
        (name) => /^\d+$/.test(name) && Number(name) !== process.pid && isMarked(name, this.mark),
      )
      .map(Number)
  }
}

function signal(id: number): void {
  try {
    process.kill(id, 'SIGKILL')
  } catch {
    // Already ended.
  }
}

function isMarked(id: string, mark: string): boolean {
  try {
    // A zombie process has an empty environment.
    return readFileSync(`/proc/${id}/environ`, 'latin1').split('\0').includes(mark)
  } catch {
    return false
  }
}

async function processIds(): Promise<readonly string[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
}

async function readGroup(id: string): Promise<number | undefined> {
  const text = await readFile(`/proc/${id}/stat`, 'latin1').catch(() => '')
  // `pid (any name) state parent group …`
  const group = text.slice(text.lastIndexOf(')') + 2).split(' ')[2]
  return group === undefined ? undefined : Number(group)
}

async function readResidentSize(id: string): Promise<number> {
  const text = await readFile(`/proc/${id}/status`, 'latin1').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024
}
