/** An unknown unit may hide any drift. */
import { FAILURE_CODES, Failure, type FailureCode } from '@backporch/kyaml/failure'
import { formatLoggableName, formatLoggableText, type Loggable } from '@backporch/kyaml/redaction'
import type { PlannedResult } from '../plan/unit/unit-result.ts'
import { count } from '../proposal/text/words.ts'
import type { Incomplete } from '../record/documents/drift-report.ts'

const FORBIDDEN = 'BP3003'
/** Per failure. */
const MOST_NAMED = 5

export interface UnreadObjects {
  readonly cluster: Loggable
  readonly package: Loggable
  readonly code: FailureCode
  readonly why: string
  readonly remedy: string
  readonly objects: readonly string[]
}

/** Includes those that a missing right leaves unproven. */
export function isUnread({ state, code }: Incomplete): boolean {
  return state === 'unreadable' || code === FORBIDDEN
}

export function listUnreadObjects({ unit, observation }: PlannedResult): readonly UnreadObjects[] {
  const place = {
    cluster: formatLoggableName(unit.cluster),
    package: formatLoggableName(unit.packageName || '.'),
  }
  const causes = Map.groupBy(observation.incomplete.filter(isUnread), (one) =>
    JSON.stringify(getCause(one)),
  )
  return [...causes.values()].flatMap((same) => {
    const [first] = same
    return first === undefined ? [] : [{ ...place, ...getCause(first), objects: same.map(getName) }]
  })
}

function getCause({
  code,
  why,
  remedy = 'backporch status names the objects',
}: Incomplete): Pick<UnreadObjects, 'code' | 'why' | 'remedy'> {
  // The rule that grants a missing right identifies it.
  return {
    code: code in FAILURE_CODES ? (code as FailureCode) : 'BP3012',
    why: code === FORBIDDEN ? '' : why,
    remedy,
  }
}

function getName({ ref, package: path = '' }: Incomplete): string {
  if (ref === undefined) return path
  return `${ref.kind} ${ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`}`
}

export function getUnreadCauseKey({ cluster, code, why, remedy }: UnreadObjects): string {
  return JSON.stringify([cluster, code, why, remedy])
}

/** A cluster's missing rights are one failure with all rules. */
export function createUnreadFailures(
  unread: readonly UnreadObjects[],
): readonly { readonly failure: Failure; readonly cluster: Loggable }[] {
  const groups = Map.groupBy(unread, (one) =>
    one.code === FORBIDDEN ? one.cluster : getUnreadCauseKey(one),
  )
  return [...groups.values()].flatMap((same) => {
    const [first] = same
    return first === undefined
      ? []
      : [{ failure: createGroupFailure(first, same), cluster: first.cluster }]
  })
}

function createGroupFailure(
  { cluster, code, why, remedy }: UnreadObjects,
  same: readonly UnreadObjects[],
): Failure {
  const objects = [...new Set(same.flatMap((one) => one.objects))]
  const packages = new Set(same.map((one) => one.package))
  const seen = `${count(objects.length, 'object')} of ${count(packages.size, 'package')}`
  const where = `cluster ${cluster}: ${formatNameList(objects)}`
  if (code !== FORBIDDEN)
    return new Failure({ code, what: `cannot read ${seen}`, where, why, remedy, retry: 'backoff' })
  return new Failure({
    code,
    what: `the account lacks rights for ${seen}`,
    where,
    why: 'cannot tell whether they differ from git (403)',
    remedy: formatNameList([...new Set(same.map((one) => one.remedy))], '; '),
    retry: 'on-change',
  })
}

function formatNameList(names: readonly string[], between = ', '): string {
  const more = names.length - MOST_NAMED
  return formatLoggableText(
    `${names.slice(0, MOST_NAMED).join(between)}${more > 0 ? `${between}and ${more} more` : ''}`,
  )
}
