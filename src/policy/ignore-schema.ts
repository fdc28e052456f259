import { parseLabelSelector } from '@backporch/kyaml/resource'
import { omitUndefined } from '@backporch/kyaml/text'
import * as z from 'zod'
import type { IgnoreRule } from '../drift/noise/ignore-rules.ts'
import { findExpressionProblem } from '../drift/noise/rule-expression.ts'
import { parseRulePath, type RulePath } from '../drift/noise/rule-path.ts'

export const daySchema = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, 'wanted a date like 2026-12-31')
  .refine(isDate, 'there is no such day')

const targetSchema = z
  .strictObject({
    group: z.string().optional().describe('API group; "" is the core group.'),
    kind: z.string().optional(),
    namespace: z.string().optional(),
    name: z.string().optional(),
    labels: z
      .string()
      .min(1)
      .superRefine(hasNo((text) => findProblem(parseLabelSelector(text))))
      .optional()
      .describe(
        "Selector over the labels that git gives the object, as kubectl's -l has it: app=web,tier in (a, b).",
      ),
  })
  .optional()
  .describe('Every part that is given must match; `*` matches any text.')

const expressions = z
  .array(z.string().min(1).superRefine(hasNo(findExpressionProblem)))
  .min(1)
  .optional()

export const ignoreSchema = z
  .strictObject({
    target: targetSchema,
    changes: z
      .array(z.enum(['modified', 'removed', 'added', 'missing', 'unexpected']))
      .min(1)
      .optional()
      .describe('Kinds of change; every kind when it is left out.'),
    paths: z
      .array(
        z
          .string()
          .min(1)
          .superRefine(hasNo((text) => findProblem(parseRulePath(text)))),
      )
      .min(1)
      .optional()
      .describe(
        'Keyed field paths, or JSON Pointers beginning with "/". Covers everything below; `*` matches any text of one step.',
      ),
    pathExpressions: expressions.describe(
      'RE2, each for the whole path as diff prints it; with paths too, a match of either is enough.',
    ),
    valueExpressions: expressions.describe(
      'RE2, each for the whole live value as text. A value that is not shown matches none.',
    ),
    managers: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('Field managers whose writes are ignored; `*` matches any text.'),
    reason: z
      .string()
      .regex(/\S/, 'wanted a reason, for the people who read the rule later')
      .describe('Why, for the people who read it later.'),
    expires: daySchema.optional().describe('Last day on which the rule holds, UTC.'),
  })
  .refine(isNarrow, 'the rule hides everything; give a target, paths, managers or expressions')

export type IgnoreEntry = z.infer<typeof ignoreSchema>

export function createIgnoreRule(
  entry: IgnoreEntry,
  from: Pick<IgnoreRule, 'where' | 'level' | 'policy'>,
): IgnoreRule {
  const paths = (entry.paths ?? [])
    .map(parseRulePath)
    .filter((path): path is RulePath => !('problem' in path))
  const { labels, ...target } = entry.target ?? {}
  const parsed = labels === undefined ? undefined : parseLabelSelector(labels)
  return {
    ...from,
    target: omitUndefined(target),
    ...(parsed === undefined || 'problem' in parsed
      ? {}
      : { labels: { text: labels ?? '', selector: parsed.selector } }),
    ...omitUndefined({ changes: entry.changes }),
    paths,
    ...omitUndefined({
      pathExpressions: entry.pathExpressions,
      valueExpressions: entry.valueExpressions,
    }),
    managers: entry.managers ?? [],
    reason: entry.reason,
    expires: entry.expires,
  }
}

interface RuleParts {
  readonly target?: { readonly [part: string]: string | undefined } | undefined
  readonly paths?: readonly string[] | undefined
  readonly pathExpressions?: readonly string[] | undefined
  readonly valueExpressions?: readonly string[] | undefined
  readonly managers?: readonly string[] | undefined
}

function isNarrow({
  target = {},
  paths,
  pathExpressions,
  valueExpressions,
  managers,
}: RuleParts): boolean {
  const parts = Object.values(target).filter((part) => part !== undefined)
  const lists = [paths, pathExpressions, valueExpressions, managers]
  return parts.some((part) => !/^\*+$/.test(part)) || lists.some((list) => list !== undefined)
}

function isDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

function findProblem(parsed: object): string | undefined {
  return 'problem' in parsed ? String(parsed.problem) : undefined
}

export function hasNo(
  problem: (text: string) => string | undefined,
): (text: string, context: z.RefinementCtx<string>) => void {
  return (text, context) => {
    const message = problem(text)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  }
}
