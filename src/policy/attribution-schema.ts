import { omitUndefined } from '@backporch/kyaml/text'
import * as z from 'zod'
import type { ActorRule } from '../drift/attribute/actor-classes.ts'
import type { RiskOverride } from '../drift/risk/risk-overrides.ts'
import { actorSchema, riskSchema } from '../record/documents/change.ts'
import { createIgnoreRule, ignoreSchema } from './ignore-schema.ts'

export const actorRuleSchema = z
  .strictObject({
    manager: z.string().min(1).max(128).optional().describe('Field manager; `*` matches any text.'),
    operation: z.enum(['Apply', 'Update']).optional(),
    subresource: z
      .string()
      .max(60)
      .optional()
      .describe('As in scale or status; "" for writes to the object itself.'),
    user: z
      .string()
      .min(1)
      .max(300)
      .optional()
      .describe(
        'User of the audit log; `*` matches any text. Matches nothing without an audit log.',
      ),
    class: actorSchema.shape.class,
  })
  .refine(
    ({ manager, user }) => manager !== undefined || user !== undefined,
    'wanted a manager or a user',
  )

const { target, changes, paths, pathExpressions, managers, reason } = ignoreSchema.shape

export const riskOverrideSchema = z
  .strictObject({
    target,
    changes,
    paths,
    pathExpressions,
    managers,
    risk: riskSchema,
    reason: reason.optional(),
  })
  .refine(
    (rule) =>
      Object.values(rule.target ?? {}).some((part) => part !== undefined) ||
      rule.paths !== undefined ||
      rule.pathExpressions !== undefined,
    'the rule matches everything; give a target, paths or pathExpressions',
  )

export function createActorRule(entry: z.infer<typeof actorRuleSchema>, where: string): ActorRule {
  const { class: kind, ...parts } = entry
  return { where, ...omitUndefined(parts), class: kind }
}

export function createRiskOverride(
  { risk, ...entry }: z.infer<typeof riskOverrideSchema>,
  where: string,
): RiskOverride {
  return { ...createIgnoreRule({ ...entry, reason: entry.reason ?? '' }, { where }), risk }
}
