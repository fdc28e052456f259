import { convertToOneLine } from '@backporch/kyaml/text'
import { type ActorRule, findActorRule, findClassRow } from '../../drift/attribute/actor-classes.ts'
import type { Actor } from '../../drift/compare/drift.ts'

const HOW = {
  audit: 'the audit log has this request',
  'audit-time':
    'owns the field, and the audit log has one user who wrote under this name at that time',
  'field-manager': 'owns the field',
  'last-writer': 'the only other known writer of the object',
} as const

export function explainActor(actor: Actor, rules: readonly ActorRule[]): readonly string[] {
  if (actor.confidence === 'none')
    return [
      'unknown: the API server does not record a write that only removes, or who deleted an object; its audit log does (--audit-log)',
    ]
  const { manager, operation, subresource, user, actingAs, at, others = [] } = actor
  const who =
    user === undefined
      ? ''
      : `${convertToOneLine(user, 120)}${actingAs === undefined ? '' : ` acting as ${convertToOneLine(actingAs, 120)}`}, by `
  const way = [`${operation ?? ''}${subresource === '' ? '' : ` on ${subresource}`}`, actor.class]
    .filter((word) => word !== '')
    .join(', ')
  return [
    `${who}${convertToOneLine(manager, 60)} (${way}), ${HOW[actor.confidence]}; ${actor.confidence === 'audit' ? 'at' : 'last write'} ${at ?? 'at an unknown time'}`,
    ...describeActorClass(actor, rules),
    ...others.map(
      (other) =>
        `${convertToOneLine(other.manager, 60)} (${other.operation}, ${other.class}) owns the same field${other.at === undefined ? '' : `, since ${other.at}`}`,
    ),
  ]
}

function describeActorClass(actor: Actor, rules: readonly ActorRule[]): string[] {
  const rule = findActorRule(actor, rules)
  if (rule !== undefined) return [`${rule.class} by the policy (${rule.where})`]
  const row = findClassRow(actor)
  if (row === undefined) return ['no rule matches this name: a policy can classify it (actors)']
  return row.class === actor.class
    ? [`${row.class}: ${row.what}`]
    : [`${actor.class} by its account`]
}
