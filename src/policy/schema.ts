/** `DriftPolicy` and `Placement`: what a repository says about how its drift is handled (design §9). */
import * as z from 'zod'
import { parseRulePath } from '../drift/ignore-rules.ts'
import { API_VERSION, resolutionSchema } from '../record/schema.ts'

const globs = z.array(z.string().min(1)).min(1)
const metadata = z.strictObject({
  name: z.string().min(1),
  annotations: z.record(z.string(), z.string()).optional(),
  labels: z.record(z.string(), z.string()).optional(),
})

export const modeSchema = z
  .enum(['Off', 'Warn', 'Propose'])
  .describe('Off: look, write nothing. Warn: record a draft. Propose: open a proposal.')

export const durationSchema = z
  .string()
  .regex(/^[1-9][0-9]{0,4}(m|h|d)$/, 'wanted a duration like 30m, 24h or 30d')
  .describe('Whole minutes, hours or days: 30m, 24h, 30d.')

export const ignoreSchema = z
  .strictObject({
    target: z
      .strictObject({
        group: z.string().optional(),
        kind: z.string().optional(),
        namespace: z.string().optional(),
        name: z.string().optional(),
      })
      .optional()
      .describe('Every part that is given must match.'),
    paths: z
      .array(z.string().min(1).superRefine(hasRulePath))
      .min(1)
      .optional()
      .describe('Keyed field paths, or JSON Pointers beginning with "/". Covers everything below.'),
    managers: z.array(z.string().min(1)).min(1).optional().describe('Field managers whose writes are ignored.'),
    reason: z.string().min(1).describe('Why, for the people who read it later.'),
    expires: z
      .string()
      .regex(/^\d{4}-\d{2}-\d{2}$/, 'wanted a date like 2026-12-31')
      .refine(isDate, 'there is no such day')
      .optional()
      .describe('Last day on which the rule holds, UTC.'),
  })
  .refine(
    ({ target, paths, managers }) => Object.keys(target ?? {}).length > 0 || paths !== undefined || managers !== undefined,
    'the rule hides everything; give a target, paths or managers',
  )

function isDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

function hasRulePath(text: string, context: z.RefinementCtx<string>): void {
  const parsed = parseRulePath(text)
  if ('problem' in parsed) context.addIssue({ code: 'custom', message: parsed.problem })
}

export const driftPolicySchema = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('DriftPolicy'),
  metadata,
  spec: z.strictObject({
    priority: z.int().min(0).max(1_000_000).optional().describe('The highest policy that matches decides; 0 by default.'),
    match: z
      .strictObject({
        clusters: globs.optional().describe('Names of clusters; `*` stands for any text.'),
        packages: globs.optional().describe('Paths of packages; `*` stands for one segment, `**` for any number.'),
      })
      .optional()
      .describe('Which units the policy is for; everything when it is left out.'),
    mode: modeSchema.optional(),
    fieldManager: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('Field manager of the syncer, where it is not to be found from the objects.'),
    settle: z.enum(['syncer', 'backporch']).optional().describe('Who brings the cluster in line after a merge.'),
    ignore: z.array(ignoreSchema).optional(),
    decide: z
      .strictObject({
        defaultPlan: resolutionSchema.optional().describe('Restore by default.'),
        closeSilence: durationSchema
          .optional()
          .describe('How long a rejected drift stays silent; 30d by default, critical drift never longer than 24h.'),
        verifyTimeout: durationSchema.optional().describe('How long `approve --wait` waits for live to agree; 10m by default.'),
      })
      .optional(),
  }),
})

export const placementSchema = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('Placement'),
  metadata,
  spec: z.strictObject({
    clusters: globs.describe('Names of clusters; `*` stands for any text.'),
    packages: globs.describe('Paths of the packages that run in these clusters.'),
  }),
})

export type DriftPolicyDocument = z.infer<typeof driftPolicySchema>
export type PlacementDocument = z.infer<typeof placementSchema>
export type Mode = z.infer<typeof modeSchema>
