import * as z from 'zod'
import { STATUS_WORDS } from '../../status/kstatus-fields.ts'
import { changesPart } from './change.ts'
import { API_VERSION, annotationsSchema } from './document.ts'
import { refSchema, rolloutSchema } from './rollout.ts'

const unitStateSchema = z
  .enum([
    'InSync',
    'Drifted',
    'Applying',
    'Silenced',
    'Behind',
    'SyncFailed',
    'Reconciling',
    'Suspended',
    'Unknown',
    'Off',
  ])
  .describe(
    'Behind: git moved, and live is what an earlier commit rendered, or nothing. SyncFailed: the same, and the syncer tried and failed. Reconciling: the same while the syncer is at work. Suspended: the same while the syncer is suspended.',
  )

export const incompleteSchema = z.object({
  ref: refSchema.optional(),
  package: z.string().optional(),
  state: z
    .enum(['unverified', 'unreadable', 'blocked', 'outside'])
    .optional()
    .describe(
      'unverified: observed, and not all of it could be proven; unreadable: nothing is known; blocked: the server refuses what git has; outside: the package does not cover it, so nothing of it is reported.',
    ),
  code: z.string(),
  why: z.string(),
  remedy: z.string().optional(),
})

const healthSchema = z.object({
  status: z
    .enum(STATUS_WORDS)
    .describe(
      'The worst of the objects, in words of kstatus: Failed, Unknown, NotFound, Terminating, InProgress, Current.',
    ),
  objects: z
    .array(
      z.object({
        ref: refSchema,
        status: z.enum(STATUS_WORDS),
        message: z.string().optional().describe("kstatus' sentence."),
      }),
    )
    .optional()
    .describe(
      'Objects that are not Current, the worst first, twenty at most. The ResourceGroup has all of them.',
    ),
})

const lastKnownSchema = z
  .object({ state: unitStateSchema, since: z.string() })
  .describe('Of an Unknown unit: the state that was seen last, and since when it was so.')

const setAsideSchema = z.object({
  ref: refSchema,
  path: z.string().optional(),
  state: z.enum(['Ignored', 'Released', 'Behind', 'SyncFailed', 'Reconciling', 'Suspended']),
  why: z.string(),
  rule: z
    .string()
    .optional()
    .describe('Of Ignored: name of the preset rule, or the place of the ignore rule.'),
  commit: z
    .string()
    .optional()
    .describe('Of what waits for the syncer: the commit that live is of.'),
  stuckSince: z
    .string()
    .optional()
    .describe(
      'RFC 3339 UTC: it waits for longer than the policy allows (detect.stuckAfter), or the syncer failed; empty where nobody knows since when.',
    ),
})

/**
 * By what a rule covers, so that it may move within its file. Only for rules about an object of the
 * unit.
 */
const ruleMatchSchema = z.object({
  rule: z.string().describe('Twelve hex digits of what the rule covers.'),
  hits: z
    .int()
    .optional()
    .describe('Differences of the unit that it covers; absent where there is none.'),
  unmatchedSince: z
    .string()
    .optional()
    .describe(
      'Day of the first observation in which it covered nothing; absent while it covers something.',
    ),
  matched: z.boolean().optional().describe('True when it covered something before that day.'),
  annotation: z
    .object({
      where: z.string(),
      target: z.string(),
      fields: z.string(),
      reason: z.string(),
      expires: z.string().optional(),
    })
    .optional()
    .describe('Of a rule that is an annotation of the package; the others are in the policies.'),
})

export const driftReportSchema = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('DriftReport'),
  metadata: z.object({ name: z.string(), annotations: annotationsSchema }),
  spec: z.object(changesPart),
  status: z.object({
    state: unitStateSchema,
    since: z
      .string()
      .describe(
        'RFC 3339 UTC: first observation of this state; of Unknown, the first look that failed.',
      ),
    lastKnown: lastKnownSchema.optional(),
    stuckSince: z
      .string()
      .optional()
      .describe(
        'RFC 3339 UTC: the syncer is late since then, as the policy has it (detect.stuckAfter); empty where nobody knows since when.',
      ),
    episode: z.string().describe('Id of the open episode; empty when there is none.'),
    lifecycle: z
      .enum(['Draft', 'Proposed', 'Published', ''])
      .describe('Where the record of the episode stands.'),
    plan: z.enum(['Restore', 'Adopt', 'Release', 'Mixed', '']),
    branch: z
      .string()
      .optional()
      .describe(
        'Branch of the joint proposal that the record is on, where it is not named by the episode.',
      ),
    pullRequest: z
      .object({ number: z.int().positive(), url: z.string().optional() })
      .optional()
      .describe(
        'Where a command shows the report: the pull request of the open record, as the ledger knows it.',
      ),
    held: z
      .object({
        reason: z.enum([
          'min-age',
          'window',
          'digest',
          'hourly-limit',
          'concurrent-limit',
          'storm',
          'fight',
          'policy',
          'refused',
        ]),
        until: z.string().optional().describe('RFC 3339 UTC, where the end is known.'),
        why: z.string(),
      })
      .optional()
      .describe(
        'Why the record is a draft, or there is none, although the policy would propose it.',
      ),
    snoozedUntil: z
      .string()
      .optional()
      .describe('RFC 3339 UTC: nobody is reminded of the open proposal before.'),
    ignores: z
      .array(ruleMatchSchema)
      .optional()
      .describe('Ignore rules that were tried, and what came of each.'),
    health: healthSchema
      .optional()
      .describe(
        'Beside the state: what is in sync may still fail. Absent in a report of an earlier version.',
      ),
    rollout: rolloutSchema.optional(),
    newKeyId: z
      .string()
      .optional()
      .describe(
        'Id of the installation key of the keyed hashes, where the key was made in that run; absent where it was there before.',
      ),
    setAside: z.array(setAsideSchema).optional(),
    incomplete: z.array(incompleteSchema).optional(),
  }),
})

export type DriftReport = z.infer<typeof driftReportSchema>

export type RuleMatch = z.infer<typeof ruleMatchSchema>

export type UnitState = z.infer<typeof unitStateSchema>

export type UnitHealth = z.infer<typeof healthSchema>

export type Incomplete = z.infer<typeof incompleteSchema>
