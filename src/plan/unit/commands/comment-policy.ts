import { editYaml, type YamlEdit } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import { field, parseFieldPath } from '@backporch/kyaml/field'
import { isJsonObject, type Json, jsonEquals } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { withoutHashes } from '@backporch/kyaml/redaction'
import { given, literalGlob } from '@backporch/kyaml/text'
import { literalRulePath } from '../../../drift/noise/rule-path.ts'
import { effectivePolicy } from '../../../policy/effective-policy.ts'
import type { IgnoreEntry } from '../../../policy/ignore-schema.ts'
import {
  type Policy,
  type PolicyFile,
  type PolicySet,
  parsePolicyFiles,
} from '../../../policy/parse-policy.ts'
import type { Change } from '../../../record/documents/change.ts'
import { documentHead } from '../../../record/documents/document.ts'
import { formatDocument, NO_MANIFEST } from '../../../record/write-document.ts'
import { POLICY_LINE, POLICY_PATH } from './plan-onboarding-files.ts'

export type IgnoreDocument = IgnoreEntry

export interface PolicyUnit {
  readonly cluster: string
  readonly packagePath: string
  readonly slug: string
}

export interface PlacedRule {
  readonly rule: IgnoreDocument
  readonly policy: Policy
  readonly index: number
}

/** In matching order: `/unignore 2` is the second. */
export function rulesFor(set: PolicySet, unit: PolicyUnit): readonly PlacedRule[] {
  return effectivePolicy(set, unit.cluster, unit.packagePath).ignore.flatMap((wanted) => {
    const policy = set.policies.find(({ ignore }) => ignore.includes(wanted))
    const index = policy?.ignore.indexOf(wanted) ?? -1
    const rule = policy?.document.spec.ignore?.[index]
    return policy === undefined || rule === undefined ? [] : [{ rule, policy, index }]
  })
}

/**
 * Names are literal. The core group is omitted, as people write it; a kind of that name in another
 * group is rare.
 */
export function targetOf({
  group,
  kind,
  namespace,
  name,
}: Change['ref']): NonNullable<IgnoreDocument['target']> {
  return {
    ...(group === '' ? {} : { group: literalGlob(group) }),
    kind: literalGlob(kind),
    ...(namespace === '' ? {} : { namespace: literalGlob(namespace) }),
    name: literalGlob(name),
  }
}

/** @throws Failure BP2001 for a path that contains a credential */
export function literalPath(shown: string): string {
  if (withoutHashes(shown) !== shown) throw hiddenPath()
  const parsed = parseFieldPath(shown)
  const literal = 'problem' in parsed ? shown : literalRulePath(parsed.path)
  // People read a policy before it is merged, so JSON escapes such characters.
  return literal.replace(/[\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) =>
    [...Array(sign.length).keys()]
      .map((at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/**
 * Undefined if the file already has every rule.
 * @throws Failure BP1005, BP2007 if the file cannot be edited
 */
export function addRules(
  files: readonly PolicyFile[],
  set: PolicySet,
  unit: PolicyUnit,
  rules: readonly IgnoreDocument[],
): PolicyFile | undefined {
  const there = rulesFor(set, unit).map(({ rule }) => rule)
  const missing = rules.filter(
    (rule) => !there.some((other) => jsonEquals(plain(other), plain(rule))),
  )
  if (missing.length === 0) return undefined
  const { location } = effectivePolicy(set, unit.cluster, unit.packagePath)
  const policy = set.policies.find(({ where }) => where === location)
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

/** @throws Failure BP1005, BP2007 if the file cannot be edited */
export function removeRules(
  files: readonly PolicyFile[],
  placed: readonly PlacedRule[],
): readonly PolicyFile[] {
  const byPolicy = Map.groupBy(placed, ({ policy }) => policy)
  let now = files
  const changed = new Map<string, PolicyFile>()
  for (const [policy, own] of byPolicy) {
    const indexes = [...new Set(own.map(({ index }) => index))].sort((left, right) => right - left)
    const file = edited(now, policy, (document) =>
      indexes.map((index) => ({
        document,
        kind: 'remove',
        path: [field('spec'), field('ignore'), { kind: 'index', index }],
      })),
    )
    now = now.map((other) => (other.path === file.path ? file : other))
    changed.set(file.path, file)
  }
  return [...changed.values()]
}

function edited(
  files: readonly PolicyFile[],
  policy: Policy,
  edits: (document: number) => readonly YamlEdit[],
): PolicyFile {
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

/** Matches only this unit. */
export function policyOfUnit(
  { cluster, packagePath, slug }: PolicyUnit,
  rules: readonly IgnoreDocument[],
) {
  const match = { clusters: [cluster], ...(packagePath === '' ? {} : { packages: [packagePath] }) }
  return {
    ...documentHead('DriftPolicy', `ignore-${slug}-in-${cluster}`),
    spec: { match, ignore: rules.map(plain) },
  }
}

export function policyFileText(policy: ReturnType<typeof policyOfUnit>): string {
  return `${POLICY_LINE}\n${formatDocument(policy)}${NO_MANIFEST}`
}

function newPolicy(
  files: readonly PolicyFile[],
  unit: PolicyUnit,
  rules: readonly IgnoreDocument[],
): PolicyFile {
  const { slug } = unit
  const paths = files.map(({ path }) => path)
  const object = policyOfUnit(unit, rules)
  const own = files.find(
    ({ path }) => path === `.drift/ignore-${slug}.policy` || path === `.drift/ignore-${slug}.yaml`,
  )
  if (own !== undefined)
    return {
      path: own.path,
      text: editYaml(own.text, [{ kind: 'append-object', object }], own.path),
    }
  const isFirst = ![POLICY_PATH, '.drift/policy.yaml'].some((path) => paths.includes(path))
  return {
    path: isFirst ? POLICY_PATH : `.drift/ignore-${slug}.policy`,
    text: policyFileText(object),
  }
}

function proven(files: readonly PolicyFile[], file: PolicyFile): PolicyFile {
  parsePolicyFiles([...files.filter(({ path }) => path !== file.path), file])
  return file
}

function plain({
  target,
  changes,
  paths,
  pathExpressions,
  valueExpressions,
  managers,
  reason,
  expires,
}: IgnoreDocument) {
  const { group, kind, namespace, name, labels } = target ?? {}
  const named = given({ group, kind, namespace, name, labels })
  return {
    ...(Object.keys(named).length === 0 ? {} : { target: named }),
    ...given({ changes, paths, pathExpressions, valueExpressions, managers }),
    reason,
    ...given({ expires }),
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
