import { editYaml, type YamlEdit } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import { createFieldStep, parseFieldPath } from '@backporch/kyaml/field'
import { isJsonEqual, isJsonObject, type Json } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { redactHashes } from '@backporch/kyaml/redaction'
import { escapeGlob, omitUndefined } from '@backporch/kyaml/text'
import { formatLiteralRulePath } from '../../../drift/noise/rule-path.ts'
import { deriveEffectivePolicy } from '../../../policy/effective-policy.ts'
import type { IgnoreEntry } from '../../../policy/ignore-schema.ts'
import {
  type Policy,
  type PolicyFile,
  type PolicySet,
  parsePolicyFiles,
} from '../../../policy/parse-policy.ts'
import type { Change } from '../../../record/documents/change.ts'
import { createDocumentHead } from '../../../record/documents/document.ts'
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
export function listUnitRules(set: PolicySet, unit: PolicyUnit): readonly PlacedRule[] {
  return deriveEffectivePolicy(set, unit.cluster, unit.packagePath).ignore.flatMap((wanted) => {
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
export function createIgnoreTarget({
  group,
  kind,
  namespace,
  name,
}: Change['ref']): NonNullable<IgnoreDocument['target']> {
  return {
    ...(group === '' ? {} : { group: escapeGlob(group) }),
    kind: escapeGlob(kind),
    ...(namespace === '' ? {} : { namespace: escapeGlob(namespace) }),
    name: escapeGlob(name),
  }
}

/** @throws Failure BP2001 for a path that contains a credential */
export function formatLiteralPath(shown: string): string {
  if (redactHashes(shown) !== shown) throw createHiddenPathFailure()
  const parsed = parseFieldPath(shown)
  const literal = 'problem' in parsed ? shown : formatLiteralRulePath(parsed.path)
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
  const there = listUnitRules(set, unit).map(({ rule }) => rule)
  const missing = rules.filter(
    (rule) => !there.some((other) => isJsonEqual(normalizeRule(other), normalizeRule(rule))),
  )
  if (missing.length === 0) return undefined
  const { location } = deriveEffectivePolicy(set, unit.cluster, unit.packagePath)
  const policy = set.policies.find(({ where }) => where === location)
  if (policy === undefined) return proveFile(files, createNewPolicy(files, unit, missing))
  const count = policy.document.spec.ignore?.length ?? 0
  return editPolicyFile(files, policy, (document) =>
    missing.map((rule, index) => ({
      document,
      kind: 'set',
      path: [
        createFieldStep('spec'),
        createFieldStep('ignore'),
        { kind: 'index', index: count + index },
      ],
      value: normalizeRule(rule),
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
    const file = editPolicyFile(now, policy, (document) =>
      indexes.map((index) => ({
        document,
        kind: 'remove',
        path: [createFieldStep('spec'), createFieldStep('ignore'), { kind: 'index', index }],
      })),
    )
    now = now.map((other) => (other.path === file.path ? file : other))
    changed.set(file.path, file)
  }
  return [...changed.values()]
}

function editPolicyFile(
  files: readonly PolicyFile[],
  policy: Policy,
  edits: (document: number) => readonly YamlEdit[],
): PolicyFile {
  const path = policy.where.replace(/:[0-9]+$/, '')
  const text = files.find((file) => file.path === path)?.text ?? ''
  const { name } = policy.document.metadata
  const document = parseGoYaml(text, path).documents.findIndex(({ value }) => isPolicy(value, name))
  return proveFile(files, { path, text: editYaml(text, edits(document), path) })
}

function isPolicy(value: Json, name: string): boolean {
  if (!isJsonObject(value) || value['kind'] !== 'DriftPolicy') return false
  const { metadata } = value
  return isJsonObject(metadata) && metadata['name'] === name
}

/** Matches only this unit. */
export function createUnitPolicy(
  { cluster, packagePath, slug }: PolicyUnit,
  rules: readonly IgnoreDocument[],
) {
  const match = { clusters: [cluster], ...(packagePath === '' ? {} : { packages: [packagePath] }) }
  return {
    ...createDocumentHead('DriftPolicy', `ignore-${slug}-in-${cluster}`),
    spec: { match, ignore: rules.map(normalizeRule) },
  }
}

export function formatPolicyFile(policy: ReturnType<typeof createUnitPolicy>): string {
  return `${POLICY_LINE}\n${formatDocument(policy)}${NO_MANIFEST}`
}

function createNewPolicy(
  files: readonly PolicyFile[],
  unit: PolicyUnit,
  rules: readonly IgnoreDocument[],
): PolicyFile {
  const { slug } = unit
  const paths = files.map(({ path }) => path)
  const object = createUnitPolicy(unit, rules)
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
    text: formatPolicyFile(object),
  }
}

function proveFile(files: readonly PolicyFile[], file: PolicyFile): PolicyFile {
  parsePolicyFiles([...files.filter(({ path }) => path !== file.path), file])
  return file
}

function normalizeRule({
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
  const named = omitUndefined({ group, kind, namespace, name, labels })
  return {
    ...(Object.keys(named).length === 0 ? {} : { target: named }),
    ...omitUndefined({ changes, paths, pathExpressions, valueExpressions, managers }),
    reason,
    ...omitUndefined({ expires }),
  }
}

function createHiddenPathFailure(): Failure {
  return new Failure({
    code: 'BP2001',
    what: 'the field cannot be named in a policy',
    why: 'its path contains a credential, and everybody can read the policy',
    remedy: 'write a rule for the object by hand, and revoke the credential',
    retry: 'on-change',
  })
}
