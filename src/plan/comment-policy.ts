/** Ignore rules that somebody asked for in a comment, as edits of a policy file that touch nothing else in it. */
import { Failure } from '../failure.ts'
import { field } from '../krm/field-path.ts'
import { parseGoYaml } from '../krm/go-yaml.ts'
import { isJsonObject, type Json, jsonEquals } from '../krm/json.ts'
import { resourceKey } from '../krm/resource-id.ts'
import { withoutHashes } from '../krm/shown-path.ts'
import { editYaml, type YamlEdit } from '../package/edit-yaml.ts'
import { effectivePolicy } from '../policy/effective-policy.ts'
import { type Policy, type PolicyFile, type PolicySet, parsePolicyFiles } from '../policy/parse-policy.ts'
import type { DriftPolicyDocument } from '../policy/schema.ts'
import { API_VERSION, type Change, LOCAL_CONFIG } from '../record/schema.ts'
import { formatInertDocument } from '../record/write-document.ts'

export type IgnoreDocument = NonNullable<DriftPolicyDocument['spec']['ignore']>[number]

export interface PolicyUnit {
  readonly cluster: string
  readonly packagePath: string
  readonly slug: string
}

/** A rule where it stands. */
export interface PlacedRule {
  readonly rule: IgnoreDocument
  readonly policy: Policy
  readonly index: number
}

/** The rules that hold for a unit, in the order in which they are tried: `/unignore 2` is the second. */
export function rulesFor(set: PolicySet, unit: PolicyUnit): readonly PlacedRule[] {
  return effectivePolicy(set, unit.cluster, unit.packagePath).ignore.flatMap((wanted) => {
    const policy = set.policies.find(({ ignore }) => ignore.includes(wanted))
    const index = policy?.ignore.indexOf(wanted) ?? -1
    const rule = policy?.document.spec.ignore?.[index]
    return policy === undefined || rule === undefined ? [] : [{ rule, policy, index }]
  })
}

/**
 * One rule for each object, with exactly the fields that were named.
 * @param until RFC 3339 UTC; the rule holds until the end of that day
 * @throws Failure BP2001 for a field whose path has a credential in it
 */
export function ignoreRules(changes: readonly Change[], reason: string, until: string | undefined): readonly IgnoreDocument[] {
  const expires = until === undefined ? {} : { expires: until.slice(0, 10) }
  return [...Map.groupBy(changes, ({ ref }) => resourceKey(ref)).values()].map((own) => {
    const paths = own.flatMap(({ path }) => (path === undefined ? [] : [path]))
    const hidden = paths.find((path) => withoutHashes(path) !== path)
    if (hidden !== undefined) throw hiddenPath()
    const [first] = own
    const { group, kind, namespace, name } = first?.ref ?? { group: '', kind: '', namespace: '', name: '' }
    const target = { ...(group === '' ? {} : { group }), kind, ...(namespace === '' ? {} : { namespace }), name }
    // A rule without paths hides the whole object, whatever it is about.
    const whole = own.some(({ path }) => path === undefined)
    return { target, ...(whole ? {} : { paths: [...new Set(paths)].sort() }), reason, ...expires }
  })
}

/** The edited file; undefined where every rule is there already. @throws Failure BP1005, BP2007 where the file cannot be edited */
export function addRules(
  files: readonly PolicyFile[],
  set: PolicySet,
  unit: PolicyUnit,
  rules: readonly IgnoreDocument[],
): PolicyFile | undefined {
  const there = rulesFor(set, unit).map(({ rule }) => rule)
  const missing = rules.filter((rule) => !there.some((other) => jsonEquals(plain(other), plain(rule))))
  if (missing.length === 0) return undefined
  const { place } = effectivePolicy(set, unit.cluster, unit.packagePath)
  const policy = set.policies.find(({ where }) => where === place)
  if (policy === undefined) return proven(files, newPolicy(files, unit, missing))
  const count = policy.document.spec.ignore?.length ?? 0
  return edited(files, policy, (document) =>
    missing.map((rule, index) => ({
      document,
      kind: 'set',
      path: [field('spec'), field('ignore'), { kind: 'index', index: count + index }],
      value: plain(rule),
    })),
  )
}

/** @throws Failure BP1005, BP2007 where the file cannot be edited */
export function removeRules(files: readonly PolicyFile[], placed: readonly PlacedRule[]): readonly PolicyFile[] {
  const byPolicy = Map.groupBy(placed, ({ policy }) => policy)
  let now = files
  const changed = new Map<string, PolicyFile>()
  for (const [policy, own] of byPolicy) {
    const indexes = [...new Set(own.map(({ index }) => index))].sort((left, right) => right - left)
    const file = edited(now, policy, (document) =>
      indexes.map((index) => ({ document, kind: 'remove', path: [field('spec'), field('ignore'), { kind: 'index', index }] })),
    )
    now = now.map((other) => (other.path === file.path ? file : other))
    changed.set(file.path, file)
  }
  return [...changed.values()]
}

function edited(files: readonly PolicyFile[], policy: Policy, edits: (document: number) => readonly YamlEdit[]): PolicyFile {
  const path = policy.where.replace(/:[0-9]+$/, '')
  const text = files.find((file) => file.path === path)?.text ?? ''
  const { name } = policy.document.metadata
  const document = parseGoYaml(text, path).documents.findIndex(({ value }) => isPolicy(value, name))
  return proven(files, { path, text: editYaml(text, edits(document), path) })
}

function isPolicy(value: Json, name: string): boolean {
  if (!isJsonObject(value) || value['kind'] !== 'DriftPolicy') return false
  const { metadata } = value
  return isJsonObject(metadata) && metadata['name'] === name
}

/** Where no policy is about the unit: one that is about nothing else. */
function newPolicy(files: readonly PolicyFile[], { cluster, packagePath, slug }: PolicyUnit, rules: readonly IgnoreDocument[]): PolicyFile {
  const taken = new Set(files.map(({ path }) => path))
  const wanted = ['.drift/policy.yaml', `.drift/ignore-${slug}.yaml`].find((path) => !taken.has(path))
  const match = { clusters: [cluster], ...(packagePath === '' ? {} : { packages: [packagePath] }) }
  const object = {
    apiVersion: API_VERSION,
    kind: 'DriftPolicy',
    metadata: { name: `ignore-${slug}-in-${cluster}`, annotations: LOCAL_CONFIG },
    spec: { match, ignore: rules.map(plain) },
  }
  if (wanted !== undefined) return { path: wanted, text: formatInertDocument(object) }
  const path = `.drift/ignore-${slug}.yaml`
  const text = files.find((file) => file.path === path)?.text ?? ''
  return { path, text: editYaml(text, [{ kind: 'append-object', object }], path) }
}

/** Nobody is asked to review what could not be read afterwards. */
function proven(files: readonly PolicyFile[], file: PolicyFile): PolicyFile {
  parsePolicyFiles([...files.filter(({ path }) => path !== file.path), file])
  return file
}

function plain({ target, paths, managers, reason, expires }: IgnoreDocument) {
  const { group, kind, namespace, name } = target ?? {}
  const given = Object.entries({ group, kind, namespace, name }).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    ...(given.length === 0 ? {} : { target: Object.fromEntries(given) }),
    ...(paths === undefined ? {} : { paths }),
    ...(managers === undefined ? {} : { managers }),
    reason,
    ...(expires === undefined ? {} : { expires }),
  }
}

function hiddenPath(): Failure {
  return new Failure({
    code: 'BP2001',
    what: 'the field cannot be named in a policy',
    why: 'there is a credential in its path, and what is in the policy can be read by everybody',
    remedy: 'write a rule for the object by hand, and call the credential off',
    retry: 'on-change',
  })
}
