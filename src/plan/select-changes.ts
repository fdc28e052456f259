/** Selectors: `1,3` by the number that `diff` prints, `2:spec.replicas` a field of the object of number 2, `deployment/web`. */
import { Failure } from '../failure.ts'
import { formatFieldPath, parseFieldPath } from '../krm/field-path.ts'
import { hasSecretText } from '../krm/looks-secret.ts'
import type { Change } from '../record/schema.ts'

/**
 * Fingerprints of the selected changes; undefined when no selector is given, which means all.
 * @throws Failure BP1011 for the first selector that names nothing
 */
export function selectChanges(selectors: readonly string[], changes: readonly Change[]): ReadonlySet<string> | undefined {
  if (selectors.length === 0 || selectors.includes('all')) return undefined
  const selected = new Set<string>()
  for (const selector of selectors.flatMap((text) => splitNumbers(text))) {
    const found = matching(selector, changes)
    if (found.length === 0) throw namesNothing(selector, changes)
    for (const { fingerprint } of found) selected.add(fingerprint)
  }
  return selected
}

function splitNumbers(text: string): string[] {
  return /^[0-9]+(,[0-9]+)+$/.test(text) ? text.split(',') : [text]
}

/** Whether an argument is a selector and not the path of a package. */
export function isSelector(text: string): boolean {
  return /^([0-9]+(,[0-9]+)*|[0-9]+:.+|all)$/.test(text)
}

function matching(selector: string, changes: readonly Change[]): readonly Change[] {
  const numbered = /^([0-9]+)(?::(.+))?$/.exec(selector)
  if (numbered !== null) {
    const change = changes[Number(numbered[1]) - 1]
    if (change === undefined || numbered[2] === undefined) return change === undefined ? [] : [change]
    const parsed = parseFieldPath(numbered[2])
    const path = 'path' in parsed ? formatFieldPath(parsed.path) : numbered[2]
    return changes.filter((other) => sameObject(other, change) && other.path === path)
  }
  const [kind, name] = selector.split('/')
  return changes.filter(({ ref }) => ref.kind.toLowerCase() === kind?.toLowerCase() && ref.name === name)
}

function sameObject({ ref: left }: Change, { ref: right }: Change): boolean {
  return left.group === right.group && left.kind === right.kind && left.namespace === right.namespace && left.name === right.name
}

function namesNothing(selector: string, changes: readonly Change[]): Failure {
  return new Failure({
    code: 'BP1011',
    // A credential that stands in a path is not repeated: `diff` prints such a path without it.
    what: `the selector ${hasSecretText(selector) ? 'with the credential in it' : JSON.stringify(selector)} names no open change`,
    why: changes.length === 0 ? 'nothing is open' : `there are ${changes.length}, numbered from 1 as in backporch diff`,
    remedy: 'use a number (1,3), a number with a field (2:spec.replicas) or kind/name (deployment/web)',
  })
}
