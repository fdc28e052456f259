/**
 * Parses selectors of changes: `1,3` and `2-4` are the numbers that `diff` prints,
 * `2:spec.replicas` is a field of the object of number 2, `deployment/web` is an object as in
 * kubectl, and `deployment/web:spec.replicas` a field of it.
 */
import { Failure } from '@backporch/kyaml/failure'
import { formatFieldPath, parseFieldPath } from '@backporch/kyaml/field'
import { hasSecretText } from '@backporch/kyaml/redaction'
import { describeResourceId } from '@backporch/kyaml/resource'
import { convertToOneLine, findNearestNames } from '@backporch/kyaml/text'
import type { Change } from '../../../record/documents/change.ts'
import { isNameOfKind } from './kind-names.ts'

const NUMBERS = /^[0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*,?$/
const MOST_LISTED = 10

export interface SelectableLine extends Pick<Change, 'ref' | 'path' | 'fingerprint'> {
  readonly change: string
}

/**
 * Fingerprints; undefined without a selector, which means all.
 * @param open number of open changes; later ones are no drift, only listed
 * @throws Failure BP1011 for the first selector that names nothing, or objects of several API
 * groups
 */
export function selectChanges(
  selectors: readonly string[],
  changes: readonly SelectableLine[],
  open = changes.length,
): ReadonlySet<string> | undefined {
  if (isAllSelected(selectors)) return undefined
  const selected = new Set<string>()
  for (const selector of selectors.flatMap(splitNumbers)) {
    const found = selectMatching(selector, changes)
    if (found.length === 0) throw createNoMatchFailure(selector, changes, open)
    for (const { fingerprint } of found) selected.add(fingerprint)
  }
  return selected
}

export function isAllSelected(selectors: readonly string[]): boolean {
  return selectors.length === 0 || selectors.includes('all')
}

function splitNumbers(text: string): string[] {
  return NUMBERS.test(text) ? text.split(',').filter((part) => part !== '') : [text]
}

export function isSelector(text: string): boolean {
  return NUMBERS.test(text) || /^(?:[0-9]+:.+|all)$/.test(text)
}

function selectMatching(
  selector: string,
  changes: readonly SelectableLine[],
): readonly SelectableLine[] {
  const range = /^([0-9]+)-([0-9]+)$/.exec(selector)
  if (range !== null) {
    const [first, last] = [Number(range[1]), Number(range[2])]
    return first >= 1 && first <= last && last <= changes.length
      ? changes.slice(first - 1, last)
      : []
  }
  const numbered = /^([0-9]+)(?::(.+))?$/.exec(selector)
  if (numbered === null) return selectOfObject(selector, changes)
  const change = changes[Number(numbered[1]) - 1]
  if (change === undefined || numbered[2] === undefined) return change === undefined ? [] : [change]
  return selectByField(
    changes.filter((other) => isSameObject(other, change)),
    numbered[2],
  )
}

/** A name may contain colons, such as `system:node`. */
function selectOfObject(
  selector: string,
  changes: readonly SelectableLine[],
): readonly SelectableLine[] {
  const slash = selector.indexOf('/')
  if (slash === -1) return []
  const [kind, rest] = [selector.slice(0, slash), selector.slice(slash + 1)]
  const ofKind = changes.filter(({ ref }) => isNameOfKind(kind, ref))
  const named = ofKind.filter(({ ref }) => ref.name === rest)
  if (named.length > 0) return selectOfOneGroup(selector, named)
  const withPath = ofKind.filter(({ ref }) => rest.startsWith(`${ref.name}:`))
  const longest = Math.max(0, ...withPath.map(({ ref }) => ref.name.length))
  return selectOfOneGroup(
    selector,
    selectByField(
      withPath.filter(({ ref }) => ref.name.length === longest),
      rest.slice(longest + 1),
    ),
  )
}

function selectByField(
  changes: readonly SelectableLine[],
  text: string,
): readonly SelectableLine[] {
  const parsed = parseFieldPath(text)
  const path = 'path' in parsed ? formatFieldPath(parsed.path) : text
  return changes.filter((other) => other.path === path)
}

/** @throws Failure BP1011 */
function selectOfOneGroup(
  selector: string,
  changes: readonly SelectableLine[],
): readonly SelectableLine[] {
  const kinds = [
    ...new Set(
      changes.map(({ ref: { kind, group } }) =>
        group === '' ? `${kind.toLowerCase()}.v1.` : `${kind.toLowerCase()}.${group}`,
      ),
    ),
  ]
  if (kinds.length < 2) return changes
  throw new Failure({
    code: 'BP1011',
    what: `the selector ${quoteSelector(selector)} names objects of ${kinds.length} API groups`,
    why: `there are ${convertToOneLine(kinds.join(' and '), 300)}`,
    remedy: `say which, as in ${convertToOneLine(kinds[0] ?? '', 200)}/NAME, or give its number`,
  })
}

function isSameObject({ ref: left }: SelectableLine, { ref: right }: SelectableLine): boolean {
  return (
    left.group === right.group &&
    left.kind === right.kind &&
    left.namespace === right.namespace &&
    left.name === right.name
  )
}

function createNoMatchFailure(
  selector: string,
  changes: readonly SelectableLine[],
  open: number,
): Failure {
  const near = listNearestSelectors(selector, changes)
  return new Failure({
    code: 'BP1011',
    what: `the selector ${quoteSelector(selector)} names no ${open < changes.length ? 'difference' : 'open change'}`,
    why: `${near.length === 0 ? '' : `did you mean ${near.join(' or ')}? `}${describeOpenChanges(changes, open)}`,
    remedy: `${near.length === 0 ? '' : `write ${near.join(' or ')}, or `}${FORMS}`,
  })
}

const FORMS =
  'use numbers (1,3 or 2-4), a number with a field (2:spec.replicas), or an object as kubectl names it (deployment/web, deploy/web, deployments.apps/web), also with a field (deployment/web:spec.replicas)'

const MOST_OFFERED = 3

function listNearestSelectors(
  selector: string,
  changes: readonly SelectableLine[],
): readonly string[] {
  if (hasSecretText(selector)) return []
  const near = listNearestOfNumber(selector, changes) ?? listNearestOfObject(selector, changes)
  return [...new Set(near)].slice(0, MOST_OFFERED).map((each) => convertToOneLine(each, 200))
}

function listNearestOfNumber(
  selector: string,
  changes: readonly SelectableLine[],
): readonly string[] | undefined {
  const [, number, field = ''] = /^([0-9]+):(.+)$/.exec(selector) ?? []
  if (number === undefined) return undefined
  const change = changes[Number(number) - 1]
  const paths = changes.flatMap((other) =>
    change !== undefined && isSameObject(other, change) && other.path !== undefined
      ? [other.path]
      : [],
  )
  return findNearestNames(field, paths).map((path) => `${number}:${path}`)
}

function listNearestOfObject(
  selector: string,
  changes: readonly SelectableLine[],
): readonly string[] {
  const [kind = ''] = selector.split('/', 1)
  const byText = new Map<string, string>()
  const ofKind: string[] = []
  for (const { ref, path } of changes) {
    const object = `${isNameOfKind(kind, ref) ? kind : ref.kind.toLowerCase()}/${ref.name}`
    if (isNameOfKind(selector, ref)) ofKind.push(`${selector}/${ref.name}`)
    for (const text of [object, ref.name]) byText.set(text, object)
    if (path !== undefined)
      for (const text of [`${object}:${path}`, path]) byText.set(text, `${object}:${path}`)
  }
  return [
    ...ofKind,
    ...findNearestNames(selector, byText.keys()).map((text) => byText.get(text) ?? text),
  ]
}

function quoteSelector(selector: string): string {
  return hasSecretText(selector) ? 'with the credential in it' : JSON.stringify(selector)
}

function describeOpenChanges(changes: readonly SelectableLine[], open: number): string {
  if (changes.length === 0) return 'nothing is open'
  const listed = changes
    .slice(0, Math.min(open, MOST_LISTED))
    .map(
      ({ ref, path, change }, index) =>
        `${index + 1} ${convertToOneLine(describeResourceId(ref), 120)} ${convertToOneLine(path ?? change, 120)}`,
    )
  const more = open > MOST_LISTED ? ` and ${open - MOST_LISTED} more, as in backporch diff` : ''
  const aside = changes.length - open
  const behind =
    aside === 0
      ? undefined
      : `${aside} that ${aside === 1 ? 'is' : 'are'} not drift: ${open + 1}${aside === 1 ? '' : `-${changes.length}`} (diff --show-ignored)`
  return [listed.length === 0 ? 'nothing is open' : `open: ${listed.join(', ')}${more}`, behind]
    .filter((part) => part !== undefined)
    .join('; ')
}
