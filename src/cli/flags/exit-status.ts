/**
 * docs/guides/first-look.md: 0 none, 1 drift or a stuck syncer, 2 error, 3 incomplete, 4
 * credentials or rights, 130 and 143 interrupted. Error takes precedence over drift.
 */
import { type Failure, getExitCode, Interrupted } from '@backporch/kyaml/failure'
import { listUnitFailures, type UnitResult } from '../../plan/unit/unit-result.ts'
import type { ExitOptions } from './options.ts'

/**
 * @param silencedCounts false: rejected drift does not count, because the decision was to leave it
 */
export function computeExitStatus(
  units: readonly UnitResult[],
  { partial, exitCode }: ExitOptions,
  silencedCounts: boolean,
): number {
  const partialOk = partial === 'ok'
  const failures = units.flatMap(listUnitFailures)
  const codes = failures.map(({ code }) => getExitCode(code))
  if (codes.includes(2)) return 2
  const incomplete = units.flatMap((unit) =>
    unit.state === 'planned' ? unit.observation.incomplete : [],
  )
  const unread = [...codes, ...incomplete.map(({ code }) => (isAuth(code) ? 4 : 3))]
  if (!partialOk && unread.includes(4)) return 4
  if (!partialOk && unread.length > 0) return 3
  const drifted = units.some((unit) => {
    if (unit.state === 'failed' || (unit.plan.outcome === 'silenced' && !silencedCounts))
      return false
    const { spec, status } = unit.plan.report
    return spec.changes.length > 0 || status.stuckSince !== undefined
  })
  return drifted && exitCode !== false ? 1 : 0
}

function isAuth(code: string): boolean {
  return code === 'BP3002' || code === 'BP3003'
}

export function getWorstExitStatus(failures: readonly Failure[]): number {
  const codes = failures.map(({ code }) => getExitCode(code))
  return codes.includes(2) ? 2 : codes.includes(4) ? 4 : 3
}

export function getInterruptedExit({ reason }: AbortSignal): number {
  return reason instanceof Interrupted ? reason.exitCode : 130
}
