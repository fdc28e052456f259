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
    'Behind: git has a newer commit, and live is what an earlier commit rendered, or nothing. SyncFailed: the same, and the syncer tried and failed. Reconciling: the same while the syncer is working. Suspended: the same while the syncer is suspended.',
  )

export const incompleteSchema = z.object({
  ref: refSchema.optional(),
  package: z.string().optional(),
  state: z
    .enum(['unverified', 'unreadable', 'blocked', 'outside'])
    .optional()
    .describe(
      'unverified: observed, but not proven in full; unreadable: not observed; blocked: the API server rejects what git has; outside: the package does not cover it, so nothing but its name is reported.',
    ),
  code: z.string(),
  why: z.string(),
  remedy: z.string().optional(),
})

const healthSchema = z.object({
  status: z
    .enum(STATUS_WORDS)
    .describe(
      'Worst status of the objects, as kstatus defines it: Failed, Unknown, NotFound, Terminating, InProgress, Current.',
    ),
  objects: z
    .array(
      z.object({
        ref: refSchema,
        status: z.enum(STATUS_WORDS),
        message: z.string().optional().describe('Message of kstatus.'),
      }),
    )
    .optional()
    .describe(
      'Objects that are not Current, worst first, at most twenty. The ResourceGroup has all of them.',
    ),
})

const lastKnownSchema = z
  .object({ state: unitStateSchema, since: z.string() })
  .describe('For an Unknown unit: the last observed state, and when it began.')

const setAsideSchema = z.object({
  ref: refSchema,
  path: z.string().optional(),
  state: z.enum(['Ignored', 'Released', 'Behind', 'SyncFailed', 'Reconciling', 'Suspended']),
  why: z.string(),
  rule: z
    .string()
    .optional()
    .describe('For Ignored: name of the preset rule, or location of the ignore rule.'),
  commit: z.string().optional().describe('For what waits for the syncer: the commit that is live.'),
  stuckSince: z
    .string()
    .optional()
    .describe(
      'RFC 3339 UTC: since when it waits longer than the policy allows (detect.stuckAfter) or the syncer fails; empty if the time is unknown.',
    ),
})

/**
 * By what a rule covers, so that it may move within its file. Only for rules about an object of the
 * unit.
 */
const ruleMatchSchema = z.object({
  rule: z.string().describe('Hash of what the rule covers: twelve hex digits.'),
  hits: z
    .int()
    .optional()
    .describe('Number of differences of the unit that it covers; absent if it covers none.'),
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
    .describe(
      'Present for a rule that is an annotation of the package; the others are in the policies.',
    ),
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
        'RFC 3339 UTC: first observation of this state; for Unknown, time of the first failed observation.',
      ),
    lastKnown: lastKnownSchema.optional(),
    stuckSince: z
      .string()
      .optional()
      .describe(
        'RFC 3339 UTC: since when the syncer is late according to the policy (detect.stuckAfter); empty if the time is unknown.',
      ),
    episode: z.string().describe('Id of the open episode; empty when there is none.'),
    lifecycle: z
      .enum(['Draft', 'Proposed', 'Published', ''])
      .describe('State of the record of the episode.'),
    plan: z.enum(['Restore', 'Adopt', 'Release', 'Mixed', '']),
    branch: z
      .string()
      .optional()
      .describe(
        'Branch of the joint proposal that has the record, if its name is not that of the episode.',
      ),
    pullRequest: z
      .object({ number: z.int().positive(), url: z.string().optional() })
      .optional()
      .describe(
        'Pull request of the open record, as the ledger has it. Only in reports that a command prints.',
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
        until: z.string().optional().describe('RFC 3339 UTC, if the end is known.'),
        why: z.string(),
      })
      .optional()
      .describe(
        'Why the record is a draft, or there is none, although the policy would propose it.',
      ),
    snoozedUntil: z
      .string()
      .optional()
      .describe('RFC 3339 UTC: no reminders are sent before this time.'),
    ignores: z
      .array(ruleMatchSchema)
      .optional()
      .describe('Ignore rules that were tried, and the result of each.'),
    health: healthSchema
      .optional()
      .describe(
        'Independent of the state: an object that is in sync may still fail. Absent in a report of an earlier version.',
      ),
    rollout: rolloutSchema.optional(),
    newKeyId: z
      .string()
      .optional()
      .describe(
        'Id of the installation key of the keyed hashes, if that run created the key; absent if the key already existed.',
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
