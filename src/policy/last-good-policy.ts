/**
 * The newest earlier commit with a valid policy decides. Under it nothing is opened, merged or
 * settled (docs/adr/0071-the-last-good-policy.md).
 */
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import {
  formatCanonicalJson,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { isNoManifest } from '../record/write-document.ts'
import { type Problem, readLocated, type TextFile } from './located-documents.ts'
import { driftPolicySchema } from './schema.ts'

export interface LastGoodPolicy {
  /** The newest with a usable policy. */
  readonly commit: ObjectId
  /** BP1005, with every problem, and which policy decides instead. */
  readonly failure: Failure
  readonly problem: Problem
  /** A clause; undefined if both commits have the same rules on who may read values. */
  readonly withheld: string | undefined
}

export interface UnusablePolicy {
  readonly problems: readonly [Problem, ...Problem[]]
  readonly failure: Failure
  /** Undefined if a file could not be read at all. */
  readonly files: readonly TextFile[] | undefined
}

export function readLastGoodPolicy(
  { failure, problems, files }: UnusablePolicy,
  { commit, files: good }: { readonly commit: ObjectId; readonly files: readonly TextFile[] },
): LastGoodPolicy {
  const [problem] = problems
  const audience = files === undefined ? undefined : getAudience(files)
  const isKnown = audience !== undefined && audience === getAudience(good)
  const { code, what, retry } = failure
  return {
    commit,
    problem,
    failure: new Failure({
      code,
      what,
      where: problem.where,
      why: problems.map(({ where, why }) => `${where}: ${why}`).join('; '),
      remedy: `correct the lines named above on the base branch; until then the policy of commit ${commit.slice(0, 7)} decides, and nothing is opened, merged or settled`,
      retry,
    }),
    withheld: isKnown
      ? undefined
      : `the policy cannot be used (${problem.where}), and it may say that the value is not shown`,
  }
}

export function createLastGoodNotes({
  lastGood,
}: {
  readonly lastGood?: LastGoodPolicy | undefined
}): readonly Note[] {
  if (lastGood === undefined) return []
  const { problem, commit, withheld } = lastGood
  const values = withheld === undefined ? '' : ', and no value is shown'
  const text = `${problem.why}; the policy of commit ${commit.slice(0, 7)} decides, nothing is opened, merged or settled${values}`
  return [{ cause: 'policy-not-used', subject: problem.where, text }]
}

/**
 * @param what the request, as a clause: `apps/web is not approved`
 * @throws Failure BP1005 while an earlier policy decides
 */
export function assertNewestPolicy(
  { lastGood }: { readonly lastGood?: LastGoodPolicy | undefined },
  what: string,
): void {
  if (lastGood === undefined) return
  const { failure, problem } = lastGood
  throw new Failure({
    code: 'BP1005',
    what,
    where: problem.where,
    why: `the policy cannot be used: ${failure.why}`,
    remedy: 'correct the lines named above on the base branch, then repeat the request',
    retry: 'on-change',
  })
}

/**
 * Placements, and what policies hide and show. Undefined if a document cannot be read, because it
 * may be the one that restricts access.
 */
function getAudience(files: readonly TextFile[]): string | undefined {
  const problems: Problem[] = []
  const parts: string[] = []
  for (const file of files)
    for (const { value } of readLocated(file, problems)) {
      if (isNoManifest(value)) continue
      const kind = isJsonObject(value) ? getKey(value, 'kind') : undefined
      if (!isJsonObject(value) || (kind !== 'Placement' && kind !== 'DriftPolicy')) return undefined
      const own = kind === 'Placement' ? value : findVisibility(value)
      if (own !== undefined) parts.push(formatCanonicalJson(own))
    }
  return problems.length === 0 ? parts.sort().join('\n') : undefined
}

const POLICY_FIELDS: ReadonlySet<string> = new Set(Object.keys(driftPolicySchema.shape))
const SPEC_FIELDS: ReadonlySet<string> = new Set(Object.keys(driftPolicySchema.shape.spec.shape))

/** As written, with unknown fields, because they may be meant to hide or show. */
function findVisibility(policy: JsonObject): Json | undefined {
  const spec = getKey(policy, 'spec')
  if (!isJsonObject(spec) || Object.keys(policy).some((name) => !POLICY_FIELDS.has(name)))
    return policy
  const rules = Object.entries(spec).filter(
    ([name]) => name === 'hide' || name === 'show' || !SPEC_FIELDS.has(name),
  )
  return rules.length === 0 ? undefined : [Object.fromEntries(rules), getKey(spec, 'match') ?? null]
}
