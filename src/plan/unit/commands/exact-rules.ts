/**
 * Creates ignore rules that cover exactly the chosen changes, verified against every line of
 * `diff`.
 */
import { Failure } from '@backporch/kyaml/failure'
import type { RedactionKey } from '@backporch/kyaml/redaction'
import { describeResourceId, getResourceKey } from '@backporch/kyaml/resource'
import { escapeGlob } from '@backporch/kyaml/text'
import type { ObjectVerdict } from '../../../drift/compare/drift.ts'
import { computeItemFingerprint } from '../../../drift/compare/fingerprint.ts'
import { findIgnoreMismatch } from '../../../drift/noise/ignore-rules.ts'
import { escapeExpression } from '../../../drift/noise/rule-expression.ts'
import { createIgnoreRule, ignoreSchema } from '../../../policy/ignore-schema.ts'
import type { Change } from '../../../record/documents/change.ts'
import { createIgnoreTarget, formatLiteralPath, type IgnoreDocument } from './comment-policy.ts'

export interface ExactRequest {
  readonly chosen: readonly Change[]
  readonly verdicts: readonly ObjectVerdict[]
  readonly key: RedactionKey
  readonly reason: string
  readonly expires: string | undefined
}

/**
 * Fewest rules per object, each as short as possible.
 * @throws Failure BP2001 for a path that contains a credential, BP2010 if no rule distinguishes a
 * chosen line from another one
 */
export function createExactRules({
  chosen,
  verdicts,
  key,
  reason,
  expires,
}: ExactRequest): readonly IgnoreDocument[] {
  const lines = verdicts.flatMap((verdict) =>
    verdict.items.map((drift) => ({
      drift,
      verdict,
      fingerprint: computeItemFingerprint(drift, key),
    })),
  )
  const why = { reason, ...(expires === undefined ? {} : { expires }) }
  return [...Map.groupBy(chosen, ({ ref }) => getResourceKey(ref)).values()].flatMap((own) => {
    const wanted = new Set(own.map(({ fingerprint }) => fingerprint))
    const found = WAYS.map((way) => way(own).map((parts) => ({ ...parts, ...why }))).find(
      (entries) => {
        if (!entries.every((entry) => ignoreSchema.safeParse(entry).success)) return false
        const rules = entries.map((entry) => createIgnoreRule(entry, { where: '' }))
        return lines.every(({ drift, verdict, fingerprint }) => {
          const hidden = rules.some(
            (rule) => findIgnoreMismatch(drift, rule, verdict) === undefined,
          )
          return hidden === wanted.has(fingerprint)
        })
      },
    )
    if (found === undefined) throw createNotExactFailure(own)
    return found
  })
}

type Parts = Omit<IgnoreDocument, 'reason' | 'expires'>

const WAYS: readonly ((own: readonly Change[]) => readonly Parts[])[] = [
  (own) => {
    const paths = selectFieldChanges(own).map(({ path }) => formatLiteralPath(path))
    return [
      ...selectWholeChanges(own).map(createWholeRule),
      ...(paths.length === 0
        ? []
        : [{ target: createExactTarget(own), paths: [...new Set(paths)].sort() }]),
    ]
  },
  (own) => [
    ...selectWholeChanges(own).map(createWholeRule),
    ...selectFieldChanges(own).map(createExpressionRule),
  ],
  (own) => [
    ...selectWholeChanges(own).map(createWholeRule),
    ...selectFieldChanges(own).map((change) => ({
      ...createExpressionRule(change),
      managers: [escapeGlob(change.actor.manager)],
    })),
  ],
]

function selectWholeChanges(own: readonly Change[]): readonly Change[] {
  return own.filter(({ path }) => path === undefined)
}

function selectFieldChanges(
  own: readonly Change[],
): readonly (Change & { readonly path: string })[] {
  return own.flatMap((change) =>
    change.path === undefined ? [] : [{ ...change, path: change.path }],
  )
}

/** Without its kind of change, the rule would hide the object's fields once it exists again. */
function createWholeRule(change: Change): Parts {
  return { target: createExactTarget([change]), changes: [change.change] }
}

/** A path covers what is below it; an expression does not. */
function createExpressionRule(change: Change & { readonly path: string }): Parts {
  formatLiteralPath(change.path)
  return {
    target: createExactTarget([change]),
    changes: [change.change],
    pathExpressions: [escapeExpression(change.path)],
  }
}

/** Names even the core group: another group may have a kind of the same name. */
function createExactTarget(own: readonly Change[]): NonNullable<Parts['target']> {
  const ref = own[0]?.ref ?? { group: '', kind: '', namespace: '', name: '' }
  return { group: '', ...createIgnoreTarget(ref) }
}

function createNotExactFailure(own: readonly Change[]): Failure {
  const [first] = own
  return new Failure({
    code: 'BP2010',
    what: `no rule hides exactly these lines of ${first === undefined ? 'the object' : describeResourceId(first.ref)}`,
    why: 'another line has the same field, kind of change and manager',
    remedy: 'name that line too',
  })
}
