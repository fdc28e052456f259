/**
 * A rule is scoped to the packages that its syncer applies: a rule of one application must not hide
 * drift in another one's package. A rule without an exact equivalent is listed with the reason.
 */
import {
  describeResourceId,
  getAnnotations,
  getResourceKey,
  parseLabelSelector,
  type Resource,
  type ResourceId,
} from '@backporch/kyaml/resource'
import { convertToOneLine, hasWildcard } from '@backporch/kyaml/text'
import { IGNORE_SOURCES, SYNCERS } from '../syncers/registry.ts'
import type { Claim, ForeignIgnore, IgnoreSource } from '../syncers/syncer.ts'
import type { IgnoreEntry } from './ignore-schema.ts'
import {
  type Translated,
  translateGlob,
  translateJqPath,
  translateLiteralTexts,
  translatePointer,
} from './import-ignores-paths.ts'

type Target = NonNullable<IgnoreEntry['target']>

export interface AppliedPackage {
  /** From the root; empty if the repository is the package. */
  readonly path: string
  readonly claims: readonly Claim[]
  readonly objects: readonly Resource[]
}

export interface ImportedRule {
  readonly packages: readonly string[]
  readonly rule: IgnoreEntry
}

interface NotImported {
  readonly source: string
  readonly rule: string
  readonly why: string
}

export interface ImportedIgnores {
  readonly imported: readonly ImportedRule[]
  readonly notImported: readonly NotImported[]
}

interface Found {
  readonly target: Target
  readonly paths?: readonly string[]
  readonly managers?: readonly string[]
  readonly shown: string
}

interface Read {
  readonly found: Found[]
  readonly refused: { readonly shown: string; readonly why: string }[]
}

export function importIgnores(
  sources: readonly Resource[],
  packages: readonly AppliedPackage[],
): ImportedIgnores {
  const rules = new Map<string, { rule: IgnoreEntry; packages: Set<string> }>()
  const notImported: NotImported[] = []
  const add = (rule: IgnoreEntry, path: string): void => {
    const key = JSON.stringify(rule)
    const known = rules.get(key) ?? { rule, packages: new Set<string>() }
    known.packages.add(path)
    rules.set(key, known)
  }
  const byKey = new Map(sources.map((source) => [getResourceKey(source.id), source]))
  for (const [, source] of [...byKey].sort(([left], [right]) => (left < right ? -1 : 1))) {
    const name = formatSourceName(source.id)
    const { found, refused } = readRules(source)
    for (const { shown, why } of refused)
      notImported.push({
        source: name,
        rule: convertToOneLine(shown, 200),
        why: convertToOneLine(why, 200),
      })
    if (found.length === 0) continue
    const mine = packages.filter(({ claims }) =>
      claims.some((claim) => coversResource(claim, source.id)),
    )
    for (const one of found) {
      const allowed = mine.filter(({ claims }) => claims.length === 1 || hasOneName(one.target))
      for (const { path } of allowed) add(createIgnoreEntry(one, `${name} ignores it`), path)
      if (allowed.length === mine.length && mine.length > 0) continue
      const why =
        mine.length === 0
          ? 'it applies no package of this repository in the observed clusters'
          : `another syncer also applies objects of ${mine
              .filter((each) => !allowed.includes(each))
              .map(({ path }) => path)
              .join(', ')}, which the rule would cover`
      notImported.push({
        source: name,
        rule: convertToOneLine(one.shown, 200),
        why: convertToOneLine(why, 300),
      })
    }
  }
  for (const { path, objects } of packages)
    for (const { id, object } of objects)
      for (const { ignoreMark: mark } of SYNCERS)
        if (mark !== 'none' && getAnnotations(object).has(mark.annotation))
          add(createMarkedRule(id, mark.reason), path)
  const imported = [...rules]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, one]) => ({ rule: one.rule, packages: [...one.packages].sort() }))
  return { imported, notImported }
}

function createIgnoreEntry({ target, paths, managers }: Found, reason: string): IgnoreEntry {
  return {
    ...(Object.keys(target).length === 0 ? {} : { target }),
    ...(paths === undefined || paths.length === 0 ? {} : { paths: [...paths] }),
    ...(managers === undefined ? {} : { managers: [...managers] }),
    reason,
  }
}

/** A pattern may cover what another manager applies. */
function hasOneName({ name }: Target): boolean {
  return name !== undefined && !hasWildcard(name)
}

/** If the marks lack its namespace, any resource with the name matches. */
function coversResource(claim: Claim, id: ResourceId): boolean {
  if (claim.wanted.some((wanted) => getResourceKey(wanted.id) === getResourceKey(id))) return true
  return claim.wanted.length === 0 && claim.kind === id.kind && claim.name === id.name
}

function listIgnores({ group, kind }: ResourceId): IgnoreSource | undefined {
  return IGNORE_SOURCES.find((known) => known.group === group && known.kind === kind)
}

function formatSourceName(id: ResourceId): string {
  const { kind, namespace, name } = id
  return convertToOneLine(
    `${listIgnores(id)?.product ?? ''} ${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`,
    200,
  )
}

function createMarkedRule(
  { group, kind, namespace, name }: ResourceId,
  reason: string,
): IgnoreEntry {
  return { target: { group, kind, ...(namespace === '' ? {} : { namespace }), name }, reason }
}

function readRules({ id, object }: Resource): Read {
  const source = listIgnores(id)
  if (source === undefined) return { found: [], refused: [] }
  const { names, notImported } = source
  const all = source.rules(object).map((rule): Read => {
    if (notImported !== 'none') return createRefusedRule(describeTarget(rule.target), notImported)
    return names === 'globs'
      ? translateGlobRules(rule)
      : translateSelectedRules(rule, names === 'patterns')
  })
  return {
    found: all.flatMap(({ found }) => found),
    refused: all.flatMap(({ refused }) => refused),
  }
}

/**
 * Pointers, jq paths and managers of one rule each hide independently there; a Backporch rule
 * requires all.
 */
function translateGlobRules({ target: given, pointers, jq, managers: all }: ForeignIgnore): Read {
  const shown = describeTarget(given)
  const [group, kind] = [translateGlob(given.group), translateGlob(given.kind)]
  if ('problem' in group) return createRefusedRule(shown, group.problem)
  if ('problem' in kind) return createRefusedRule(shown, kind.problem)
  const { namespace, name } = given
  const target: Target = {
    ...(group.value === undefined ? {} : { group: group.value }),
    ...(kind.value === undefined || kind.value === '' ? {} : { kind: kind.value }),
    ...(namespace === '' ? {} : { namespace }),
    ...(name === '' ? {} : { name }),
  }
  const byPointer = translate(pointers, shown, (pointer) =>
    refuseWholeObject(translatePointer(pointer)),
  )
  const byJq = translate(jq, shown, (expression) => translateJqPath(expression, kind.value ?? ''))
  const paths = [...new Set([...byPointer.paths, ...byJq.paths])]
  const managers = all.filter((manager) => manager !== '')
  return {
    found: [
      ...(paths.length === 0 ? [] : [{ target, paths, shown: `${shown} ${paths.join(', ')}` }]),
      ...(managers.length === 0
        ? []
        : [{ target, managers, shown: `${shown} by ${managers.join(', ')}` }]),
    ],
    refused: [...byPointer.refused, ...byJq.refused],
  }
}

/** @param patterns names are regular expressions */
function translateSelectedRules(
  { target: selector, pointers }: ForeignIgnore,
  patterns: boolean,
): Read {
  const shown = describeTarget(selector)
  const labels = selector.labelSelector
  if (selector.annotationSelector !== '')
    return createRefusedRule(shown, 'its target selects by annotations, and a rule here cannot')
  // Flux uses the labels of the applied object, as a rule here; for others that is unknown.
  if (labels !== '' && (!patterns || 'problem' in parseLabelSelector(labels))) {
    return createRefusedRule(
      shown,
      'its target selects by labels, and a rule here may not select the same objects',
    )
  }
  if (!['', '.*'].includes(selector.version))
    return createRefusedRule(
      shown,
      'its target names a version, and a rule here holds for all of them',
    )
  const targets = translateTargets(selector, patterns)
  if ('problem' in targets) return createRefusedRule(shown, targets.problem)
  const { paths, refused } = translate(pointers, shown, (pointer) => translatePointer(pointer))
  if (paths.length === 0) return { found: [], refused }
  const whole = paths.includes('')
  const found = targets.value.map((target) => ({
    target: { ...target, ...(labels === '' ? {} : { labels }) },
    paths: whole ? [] : paths,
    shown: `${shown} ${whole ? '' : paths.join(', ')}`.trim(),
  }))
  const everything = found.filter(({ target }) => whole && Object.keys(target).length === 0)
  if (everything.length === 0) return { found, refused }
  return { found: [], refused: [...refused, { shown, why: 'it hides everything' }] }
}

const MOST_TARGETS = 32

function translateTargets(
  selector: ForeignIgnore['target'],
  patterns: boolean,
): Translated<readonly Target[]> {
  let targets: readonly Target[] = [{}]
  for (const part of ['group', 'kind', 'namespace', 'name'] as const) {
    const text = selector[part]
    if (text === '') continue
    // Sveltos may treat them as patterns: only texts that mean the same both ways are accepted.
    const texts = patterns
      ? translateLiteralTexts(text, part === 'group')
      : translatePlainText(text)
    if ('problem' in texts) return texts
    if (texts.value === undefined) continue
    targets = targets.flatMap((target) =>
      (texts.value ?? []).map((value) => ({ ...target, [part]: value })),
    )
  }
  return targets.length > MOST_TARGETS
    ? { problem: 'its target matches too many objects to name each' }
    : { value: targets }
}

function translatePlainText(text: string): Translated<readonly string[]> {
  return /^[A-Za-z0-9.-]+$/.test(text)
    ? { value: [text] }
    : { problem: 'its target is a pattern, and a rule here names objects exactly' }
}

interface Paths {
  readonly paths: readonly string[]
  readonly refused: Read['refused']
}

function translate(
  texts: readonly string[],
  shown: string,
  read: (text: string) => Translated<string>,
): Paths {
  const paths: string[] = []
  const refused: Read['refused'] = []
  for (const text of texts) {
    const path = read(text)
    if ('problem' in path) refused.push({ shown: `${shown} ${text}`, why: path.problem })
    else if (!paths.includes(path.value)) paths.push(path.value)
  }
  return { paths, refused }
}

function refuseWholeObject(path: Translated<string>): Translated<string> {
  return 'value' in path && path.value === '' ? { problem: 'it names the whole object' } : path
}

function createRefusedRule(shown: string, why: string): Read {
  return { found: [], refused: [{ shown, why }] }
}

function describeTarget({ group, kind, namespace, name }: ForeignIgnore['target']): string {
  if (name !== '' && kind !== '') return describeResourceId({ group, kind, namespace, name })
  return [kind === '' ? 'every kind' : kind, namespace === '' ? '' : `in ${namespace}`]
    .filter((part) => part !== '')
    .join(' ')
}
