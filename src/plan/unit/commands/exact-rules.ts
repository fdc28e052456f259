/** Verified against every line of `diff`. */
import { Failure } from '@backporch/kyaml/failure'
import type { RedactionKey } from '@backporch/kyaml/redaction'
import { describeResourceId, resourceKey } from '@backporch/kyaml/resource'
import { literalGlob } from '@backporch/kyaml/text'
import type { ObjectVerdict } from '../../../drift/compare/drift.ts'
import { itemFingerprint } from '../../../drift/compare/fingerprint.ts'
import { whyNotIgnored } from '../../../drift/noise/ignore-rules.ts'
import { literalExpression } from '../../../drift/noise/rule-expression.ts'
import { ignoreRuleOf, ignoreSchema } from '../../../policy/ignore-schema.ts'
import type { Change } from '../../../record/documents/change.ts'
import { type IgnoreDocument, literalPath, targetOf } from './comment-policy.ts'

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
export function exactRules({
  chosen,
  verdicts,
  key,
  reason,
  expires,
}: ExactRequest): readonly IgnoreDocument[] {
  const lines = verdicts.flatMap((verdict) =>
    verdict.items.map((drift) => ({ drift, verdict, fingerprint: itemFingerprint(drift, key) })),
  )
  const why = { reason, ...(expires === undefined ? {} : { expires }) }
  return [...Map.groupBy(chosen, ({ ref }) => resourceKey(ref)).values()].flatMap((own) => {
    const wanted = new Set(own.map(({ fingerprint }) => fingerprint))
    const found = WAYS.map((way) => way(own).map((parts) => ({ ...parts, ...why }))).find(
      (entries) => {
        if (!entries.every((entry) => ignoreSchema.safeParse(entry).success)) return false
        const rules = entries.map((entry) => ignoreRuleOf(entry, { where: '' }))
        return lines.every(({ drift, verdict, fingerprint }) => {
          const hidden = rules.some((rule) => whyNotIgnored(drift, rule, verdict) === undefined)
          return hidden === wanted.has(fingerprint)
        })
      },
    )
    if (found === undefined) throw notExact(own)
    return found
  })
}

type Parts = Omit<IgnoreDocument, 'reason' | 'expires'>

const WAYS: readonly ((own: readonly Change[]) => readonly Parts[])[] = [
  (own) => {
    const paths = fieldsOf(own).map(({ path }) => literalPath(path))
    return [
      ...wholeOf(own).map(wholeRule),
      ...(paths.length === 0
        ? []
        : [{ target: exactTarget(own), paths: [...new Set(paths)].sort() }]),
    ]
  },
  (own) => [...wholeOf(own).map(wholeRule), ...fieldsOf(own).map(expressionRule)],
  (own) => [
    ...wholeOf(own).map(wholeRule),
    ...fieldsOf(own).map((change) => ({
      ...expressionRule(change),
      managers: [literalGlob(change.actor.manager)],
    })),
  ],
]

function wholeOf(own: readonly Change[]): readonly Change[] {
  return own.filter(({ path }) => path === undefined)
}

function fieldsOf(own: readonly Change[]): readonly (Change & { readonly path: string })[] {
  return own.flatMap((change) =>
    change.path === undefined ? [] : [{ ...change, path: change.path }],
  )
}

/** Without its kind of change, the rule would hide the object's fields once it exists again. */
function wholeRule(change: Change): Parts {
  return { target: exactTarget([change]), changes: [change.change] }
}

/** A path covers what is below it; an expression does not. */
function expressionRule(change: Change & { readonly path: string }): Parts {
  literalPath(change.path)
  return {
    target: exactTarget([change]),
    changes: [change.change],
    pathExpressions: [literalExpression(change.path)],
  }
}

/** Names even the core group: another group may have a kind of the same name. */
function exactTarget(own: readonly Change[]): NonNullable<Parts['target']> {
  const ref = own[0]?.ref ?? { group: '', kind: '', namespace: '', name: '' }
  return { group: '', ...targetOf(ref) }
}

function notExact(own: readonly Change[]): Failure {
  const [first] = own
  return new Failure({
    code: 'BP2010',
    what: `no rule hides exactly these lines of ${first === undefined ? 'the object' : describeResourceId(first.ref)}`,
    why: 'another line has the same field, kind of change and manager',
    remedy: 'name that line too',
  })
}
