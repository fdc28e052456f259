import { availableParallelism } from 'node:os'
import { PROGRAMS, type ProgramName } from './programs.ts'

export interface MissingProgram {
  readonly name: ProgramName
  /** How long its build takes on this machine where nothing else runs. */
  readonly expectedSeconds: number
}

/** How far the builds are. */
export interface BuildProgress {
  readonly name: ProgramName
  /** From 1. */
  readonly place: number
  readonly of: number
  readonly elapsedSeconds: number
  readonly expectedSeconds: number
  /** Of all that is not built yet, at the pace of what was. */
  readonly remainingSeconds: number
  /** All of it in a sentence. */
  readonly text: string
}

export interface BuildClock {
  /** The program at this index is being built from now on, and those before it are not any more. */
  begin(index: number): void
  end(): void
  /** `undefined` where nothing is being built. */
  progress(): BuildProgress | undefined
}

/** How much of each core the builds used that were measured. */
const CORE_USE = 0.9
/** With more, a build waits for its longest packages and its linker. */
const USEFUL_CORES = 4

/** How long a build takes on this machine where nothing else runs. */
export function expectedSeconds(name: ProgramName): number {
  return PROGRAMS[name].cpuSeconds / (CORE_USE * Math.min(availableParallelism(), USEFUL_CORES))
}

/** @param now in seconds */
export function buildClock(
  missing: readonly MissingProgram[],
  now: () => number = () => performance.now() / 1_000,
): BuildClock {
  let current: { readonly index: number; readonly since: number } | undefined
  const built = { expected: 0, elapsed: 0 }
  const end = (): void => {
    if (current === undefined) return
    built.expected += missing[current.index]?.expectedSeconds ?? 0
    built.elapsed += now() - current.since
    current = undefined
  }
  return {
    begin: (index) => {
      end()
      current = { index, since: now() }
    },
    end,
    progress: () => {
      const one = missing[current?.index ?? -1]
      if (one === undefined || current === undefined) return undefined
      const elapsedSeconds = now() - current.since
      // Tests that run beside the builds slow them down.
      const pace = Math.max(
        built.expected > 0 ? built.elapsed / built.expected : 1,
        (built.elapsed + elapsedSeconds) / (built.expected + one.expectedSeconds),
      )
      const later = missing
        .slice(current.index + 1)
        .reduce((sum, { expectedSeconds }) => sum + expectedSeconds, 0)
      const remainingSeconds =
        Math.max(0, one.expectedSeconds * pace - elapsedSeconds) + later * pace
      const place = current.index + 1
      const left = remainingSeconds < 1 ? '' : `, about ${duration(remainingSeconds)} left for all`
      const times = `${duration(elapsedSeconds)} of about ${duration(one.expectedSeconds)}${left}`
      const text = `${PROGRAMS[one.name].title} (${place} of ${missing.length}): ${times}`
      return { ...one, place, of: missing.length, elapsedSeconds, remainingSeconds, text }
    },
  }
}

/** `35 s`, `4 min`. */
export function duration(seconds: number): string {
  return seconds < 100 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`
}
