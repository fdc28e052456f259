import { omitUndefined } from '@backporch/kyaml/text'
import * as z from 'zod'
import { findExpressionProblem } from '../drift/noise/rule-expression.ts'
import { parseRulePath, type RulePath } from '../drift/noise/rule-path.ts'
import type { VisibilityRule } from '../drift/noise/visibility.ts'
import { hasNo, ignoreSchema } from './ignore-schema.ts'

const target = z
  .strictObject({
    group: z.string().optional(),
    kind: z.string().optional(),
    namespace: z.string().optional(),
    name: z.string().optional(),
  })
  .optional()
  .describe('Every part that is given must match; `*` matches any text.')
const { paths, reason } = ignoreSchema.shape

export const hideSchema = z
  .strictObject({
    target,
    paths,
    patterns: z
      .array(z.string().min(1).superRefine(hasNo(findExpressionProblem)))
      .min(1)
      .optional()
      .describe('RE2, each searched in every text and number; with paths, only in those.'),
    reason: reason.optional(),
  })
  .refine(
    (rule) => rule.paths !== undefined || rule.patterns !== undefined,
    'wanted paths, patterns or both',
  )

export const showSchema = z.strictObject({ target, paths: paths.unwrap(), reason })

type Entry = z.infer<typeof hideSchema> | z.infer<typeof showSchema>

export function createVisibilityRule(entry: Entry, where: string): VisibilityRule {
  return {
    target: omitUndefined(entry.target ?? {}),
    paths: (entry.paths ?? [])
      .map(parseRulePath)
      .filter((path): path is RulePath => !('problem' in path)),
    patterns: 'patterns' in entry ? (entry.patterns ?? []) : [],
    reason: entry.reason,
    where,
  }
}
