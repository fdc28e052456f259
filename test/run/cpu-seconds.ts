import { readFileSync } from 'node:fs'

/** Ticks in a second, as `/proc` counts them on every Linux. */
const TICKS = 100

/**
 * CPU seconds of this process and of the processes that it started and that have ended, with theirs. Where there is no `/proc`, of this process
 * alone. Source: `proc_pid_stat(5)`, fields 14 to 17.
 */
export function readCpuSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    // The second field is the program's name in parentheses, and may have spaces in it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000_000
  }
}
