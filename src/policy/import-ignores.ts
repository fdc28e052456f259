/**
 * Ignore rules that the syncers of a cluster have already, as rules of ours. Each is scoped to the packages that its syncer applies: a
 * rule of one application must not hide drift in another one's package. What cannot be said exactly is listed with the reason.
 * Sources: argo-cd `docs/user-guide/diffing.md`; fluxcd/helm-controller `docs/spec/v2/helmreleases.md` (drift detection) and
 * kustomize-controller `docs/spec/v1/kustomizations.md`; projectsveltos addon-controller `api/v1beta1` DriftExclusion; k0rdent kcm
 * `api/v1beta1/multiclusterservice_types.go`.
 */

import { parseLabelSelector } from '../krm/label-selector.ts'
import { annotationsOf, type Resource } from '../krm/resource.ts'
import { describeResourceId, type ResourceId, resourceKey } from '../krm/resource-id.ts'
import { type Claim, partOf } from '../status/applier-claims.ts'
import { hasWildcard } from '../text/glob.ts'
import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from '../text/json.ts'
import { oneLine } from '../text/one-line.ts'
import type { IgnoreEntry } from './ignore-schema.ts'
import { jqPath, literalGlob, literalTexts, pointerPath, type Translated } from './import-ignores-paths.ts'

type Target = NonNullable<IgnoreEntry['target']>

/** A package as it runs in the clusters that were looked at. */
export interface AppliedPackage {
  /** From the root; empty where the repository is the package. */
  readonly path: string
  readonly claims: readonly Claim[]
  /** Its live objects. */
  readonly objects: readonly Resource[]
}

/** Packages and one rule for them. */
export interface ImportedRule {
  /** Paths, sorted. */
  readonly packages: readonly string[]
  readonly rule: IgnoreEntry
}

/** Texts from a cluster, on one line each. */
export interface NotImported {
  /** `Argo CD Application argocd/shop` */
  readonly source: string
  /** `Deployment /spec/template/spec/containers/0/image` */
  readonly rule: string
  readonly why: string
}

export interface ImportedIgnores {
  readonly imported: readonly ImportedRule[]
  readonly notImported: readonly NotImported[]
}

/** Kinds of resources that may have ignore rules: group, kind, and how people call it. */
export const IGNORING_KINDS = [
  ['argoproj.io', 'Application', 'Argo CD'],
  ['kustomize.toolkit.fluxcd.io', 'Kustomization', 'Flux'],
  ['helm.toolkit.fluxcd.io', 'HelmRelease', 'Flux'],
  ['config.projectsveltos.io', 'ClusterProfile', 'Sveltos'],
  ['config.projectsveltos.io', 'Profile', 'Sveltos'],
  ['k0rdent.mirantis.com', 'MultiClusterService', 'k0rdent'],
  ['k0rdent.mirantis.com', 'ServiceSet', 'k0rdent'],
] as const

/** One rule as its tool has it, without the packages; `whole`: it covers objects and not fields of them. */
interface Found {
  readonly target: Target
  readonly paths?: readonly string[]
  readonly managers?: readonly string[]
  /** For people. */
  readonly shown: string
}

interface Read {
  readonly found: Found[]
  readonly refused: { readonly shown: string; readonly why: string }[]
}

/** @param sources resources of the kinds above; each counts once, however often it is given */
export function importIgnores(sources: readonly Resource[], packages: readonly AppliedPackage[]): ImportedIgnores {
  const rules = new Map<string, { rule: IgnoreEntry; packages: Set<string> }>()
  const notImported: NotImported[] = []
  const add = (rule: IgnoreEntry, path: string): void => {
    const key = JSON.stringify(rule)
    const known = rules.get(key) ?? { rule, packages: new Set<string>() }
    known.packages.add(path)
    rules.set(key, known)
  }
  const byKey = new Map(sources.map((source) => [resourceKey(source.id), source]))
  for (const [, source] of [...byKey].sort(([left], [right]) => (left < right ? -1 : 1))) {
    const name = sourceName(source.id)
    const { found, refused } = readRules(source)
    for (const { shown, why } of refused) notImported.push({ source: name, rule: oneLine(shown, 200), why: oneLine(why, 200) })
    if (found.length === 0) continue
    const mine = packages.filter(({ claims }) => claims.some((claim) => names(claim, source.id)))
    for (const one of found) {
      const allowed = mine.filter(({ claims }) => claims.length === 1 || namesOne(one.target))
      for (const { path } of allowed) add(ruleOf(one, `${name} ignores it`), path)
      if (allowed.length === mine.length && mine.length > 0) continue
      const why =
        mine.length === 0
          ? 'it applies no package of this repository in the clusters that were looked at'
          : `somebody else applies objects of ${mine
              .filter((each) => !allowed.includes(each))
              .map(({ path }) => path)
              .join(', ')} too, which the rule would cover`
      notImported.push({ source: name, rule: oneLine(one.shown, 200), why: oneLine(why, 300) })
    }
  }
  for (const { path, objects } of packages) for (const { id, object } of objects) if (isMarked(object)) add(markedRule(id), path)
  const imported = [...rules]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, one]) => ({ rule: one.rule, packages: [...one.packages].sort() }))
  return { imported, notImported }
}

function ruleOf({ target, paths, managers }: Found, reason: string): IgnoreEntry {
  return {
    ...(Object.keys(target).length === 0 ? {} : { target }),
    ...(paths === undefined || paths.length === 0 ? {} : { paths: [...paths] }),
    ...(managers === undefined ? {} : { managers: [...managers] }),
    reason,
  }
}

/** A pattern may cover what somebody else applies. */
function namesOne({ name }: Target): boolean {
  return name !== undefined && !hasWildcard(name)
}

/** Whether the claim is of this resource; where the marks leave its namespace open, of any that has the name. */
function names(claim: Claim, id: ResourceId): boolean {
  if (claim.wanted.some((wanted) => resourceKey(wanted.id) === resourceKey(id))) return true
  return claim.tool === 'sveltos' && claim.wanted.length === 0 && claim.kind === id.kind && claim.name === id.name
}

function sourceName({ group, kind, namespace, name }: ResourceId): string {
  const tool = IGNORING_KINDS.find((known) => known[0] === group && known[1] === kind)?.[2] ?? ''
  return oneLine(`${tool} ${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`, 200)
}

/** `projectsveltos.io/driftDetectionIgnore` on an object: whatever its value, Sveltos leaves the object alone. */
function isMarked(object: JsonObject): boolean {
  return annotationsOf(object).has('projectsveltos.io/driftDetectionIgnore')
}

function markedRule({ group, kind, namespace, name }: ResourceId): IgnoreEntry {
  return {
    target: { group, kind, ...(namespace === '' ? {} : { namespace }), name },
    reason: 'Sveltos ignores it: the object is marked driftDetectionIgnore',
  }
}

function readRules({ id, object }: Resource): Read {
  switch (id.kind) {
    case 'Application':
      return readAll(partOf(object, 'spec', 'ignoreDifferences'), argoRules)
    case 'Kustomization':
      return readAll(partOf(object, 'spec', 'ignore'), (rule) => selectedRules(rule, true))
    case 'HelmRelease':
      return readAll(partOf(object, 'spec', 'driftDetection', 'ignore'), (rule) => selectedRules(rule, true))
    case 'ClusterProfile':
    case 'Profile':
      return readAll(partOf(object, 'spec', 'driftExclusions'), (rule) => selectedRules(rule, false))
    case 'MultiClusterService':
    case 'ServiceSet':
      return k0rdentRules(object)
    default:
      return { found: [], refused: [] }
  }
}

/** k0rdent hands its rules to a Sveltos profile, and the objects name only that. */
function k0rdentRules(object: JsonObject): Read {
  const places = [
    partOf(object, 'spec', 'serviceSpec'),
    partOf(object, 'spec', 'provider', 'config'),
    partOf(object, 'spec', 'serviceSpec', 'provider', 'config'),
  ]
  const rules = places.flatMap((place) =>
    isJsonObject(place)
      ? ['driftIgnore', 'driftExclusions'].flatMap((name) => objectsIn(getKey(place, name)).map((rule) => `${name} ${shownTarget(rule)}`))
      : [],
  )
  const why = 'k0rdent hands it to a Sveltos profile, from which it is imported where that profile is in a cluster that was looked at'
  return { found: [], refused: rules.map((shown) => ({ shown, why })) }
}

function readAll(rules: Json | undefined, read: (rule: JsonObject) => Read): Read {
  const all = objectsIn(rules).map(read)
  return { found: all.flatMap(({ found }) => found), refused: all.flatMap(({ refused }) => refused) }
}

/** Pointers, jq paths and managers of one rule each hide for themselves; ours demand all that is given. */
function argoRules(rule: JsonObject): Read {
  const shown = shownTarget(rule)
  const [group, kind] = [literalGlob(textAt(rule, 'group')), literalGlob(textAt(rule, 'kind'))]
  if ('problem' in group) return refusedRule(shown, group.problem)
  if ('problem' in kind) return refusedRule(shown, kind.problem)
  const [namespace, name] = [textAt(rule, 'namespace'), textAt(rule, 'name')]
  const target: Target = {
    ...(group.value === undefined ? {} : { group: group.value }),
    ...(kind.value === undefined || kind.value === '' ? {} : { kind: kind.value }),
    ...(namespace === '' ? {} : { namespace }),
    ...(name === '' ? {} : { name }),
  }
  const pointers = translate(stringsAt(rule, 'jsonPointers'), shown, (pointer) => notWhole(pointerPath(pointer)))
  const jq = translate(stringsAt(rule, 'jqPathExpressions'), shown, (expression) => jqPath(expression, kind.value ?? ''))
  const paths = [...new Set([...pointers.paths, ...jq.paths])]
  const managers = stringsAt(rule, 'managedFieldsManagers').filter((manager) => manager !== '')
  return {
    found: [
      ...(paths.length === 0 ? [] : [{ target, paths, shown: `${shown} ${paths.join(', ')}` }]),
      ...(managers.length === 0 ? [] : [{ target, managers, shown: `${shown} by ${managers.join(', ')}` }]),
    ],
    refused: [...pointers.refused, ...jq.refused],
  }
}

/** Flux and Sveltos: paths with a target. @param patterns whether its names are regular expressions */
function selectedRules(rule: JsonObject, patterns: boolean): Read {
  const given = getKey(rule, 'target')
  const selector = isJsonObject(given) ? given : {}
  const shown = shownTarget(selector)
  const labels = textAt(selector, 'labelSelector')
  if (textAt(selector, 'annotationSelector') !== '') return refusedRule(shown, 'its target selects by annotations, and a rule here cannot')
  // Flux takes the labels of the object that it applies, as a rule here does; of Sveltos that is not known.
  if (labels !== '' && (!patterns || 'problem' in parseLabelSelector(labels))) {
    return refusedRule(shown, 'its target selects by labels, and whether a rule here selects the same is not known')
  }
  if (!['', '.*'].includes(textAt(selector, 'version')))
    return refusedRule(shown, 'its target names a version, and a rule here holds for all of them')
  const targets = targetsOf(selector, patterns)
  if ('problem' in targets) return refusedRule(shown, targets.problem)
  const { paths, refused } = translate(stringsAt(rule, 'paths'), shown, (pointer) => pointerPath(pointer))
  if (paths.length === 0) return { found: [], refused }
  // The empty pointer names the object as a whole, and then the others say nothing more.
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

function targetsOf(selector: JsonObject, patterns: boolean): Translated<readonly Target[]> {
  let targets: readonly Target[] = [{}]
  for (const part of ['group', 'kind', 'namespace', 'name'] as const) {
    const text = textAt(selector, part)
    if (text === '') continue
    // Of Sveltos it is not known whether it takes them for patterns: only what is the same both ways.
    const texts = patterns ? literalTexts(text, part === 'group') : plainText(text)
    if ('problem' in texts) return texts
    if (texts.value === undefined) continue
    targets = targets.flatMap((target) => (texts.value ?? []).map((value) => ({ ...target, [part]: value })))
  }
  return targets.length > MOST_TARGETS ? { problem: 'its target stands for too many objects to name each' } : { value: targets }
}

function plainText(text: string): Translated<readonly string[]> {
  return /^[A-Za-z0-9.-]+$/.test(text) ? { value: [text] } : { problem: 'its target is a pattern, and a rule here names objects exactly' }
}

interface Paths {
  readonly paths: readonly string[]
  readonly refused: Read['refused']
}

function translate(texts: readonly string[], shown: string, read: (text: string) => Translated<string>): Paths {
  const paths: string[] = []
  const refused: Read['refused'] = []
  for (const text of texts) {
    const path = read(text)
    if ('problem' in path) refused.push({ shown: `${shown} ${text}`, why: path.problem })
    else if (!paths.includes(path.value)) paths.push(path.value)
  }
  return { paths, refused }
}

function notWhole(path: Translated<string>): Translated<string> {
  return 'value' in path && path.value === '' ? { problem: 'it names the whole object' } : path
}

function refusedRule(shown: string, why: string): Read {
  return { found: [], refused: [{ shown, why }] }
}

function shownTarget(rule: JsonObject): string {
  const [kind, namespace, name] = [textAt(rule, 'kind'), textAt(rule, 'namespace'), textAt(rule, 'name')]
  if (name !== '' && kind !== '') return describeResourceId({ group: textAt(rule, 'group'), kind, namespace, name })
  return [kind === '' ? 'every kind' : kind, namespace === '' ? '' : `in ${namespace}`].filter((part) => part !== '').join(' ')
}

function textAt(object: JsonObject, key: string): string {
  const value = getKey(object, key)
  return typeof value === 'string' ? value : ''
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : []
}

function stringsAt(object: JsonObject, key: string): readonly string[] {
  const value = getKey(object, key)
  return isJsonArray(value) ? value.filter((item) => typeof item === 'string') : []
}
