/** See design §9. */
import { convertDurationToSeconds, DURATION, WAIT } from '@backporch/kyaml/text'
import * as z from 'zod'
import { NONE, PRESET_NAMES, RECOMMENDED } from '../drift/noise/presets.ts'
import { resolutionSchema, riskSchema } from '../record/documents/change.ts'
import { API_VERSION } from '../record/documents/document.ts'
import { findAddressProblem } from './address-problem.ts'
import { actorRuleSchema, riskOverrideSchema } from './attribution-schema.ts'
import { commitSchema, pullRequestSchema } from './house-schema.ts'
import { hasNo, ignoreSchema } from './ignore-schema.ts'
import { renderSchema } from './render-schema.ts'
import { hideSchema, showSchema } from './visibility-schema.ts'
import { findTimezoneProblem, scheduleProblem } from './windows.ts'

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
  .regex(DURATION, 'wanted a duration like 30s, 30m, 1h30m or 30d')
  .describe('Weeks, days, hours, minutes and seconds, the longest first: 30s, 30m, 1h30m, 30d.')

const waitSchema = z
  .string()
  .regex(WAIT, 'wanted a duration like 0s, 30s, 2m or 1h30m')
  .describe('Weeks, days, hours, minutes and seconds, the longest first: 0s, 30s, 2m, 1h30m.')

export const REMIND_AFTER = '7d'

const limitSchema = z.int().min(0).max(100_000)

/** YAML 1.1 reads `off` as `false`, so it is accepted in either case, and quoted too. */
const digestSchema = z
  .string()
  .max(200)
  .superRefine(hasNo((text) => (isOff(text) ? undefined : addOffHint(scheduleProblem(text)))))
  .describe(
    'When drift that is low risk only is proposed: five fields as cron has them, UTC; "0 8 * * MON" by default, off for like any other.',
  )

export function isOff(digest: string): boolean {
  return digest.trim().toLowerCase() === 'off'
}

function addOffHint(problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `${problem}; or the word off`
}

const windowSchema = z
  .strictObject({
    name: z.string().min(1).max(60),
    kind: z
      .enum(['hold', 'adopt'])
      .describe(
        'hold: nothing new is proposed. adopt: what people change by hand is planned as Adopt.',
      ),
    schedule: z
      .string()
      .max(200)
      .superRefine(hasNo(scheduleProblem))
      .optional()
      .describe(
        'When it begins, as cron has it: minute, hour, day of the month, month, day of the week. Either this or `when`.',
      ),
    duration: durationSchema
      .optional()
      .describe('How long it is open; a window with a schedule has it.'),
    timezone: z
      .string()
      .max(60)
      .superRefine(hasNo(findTimezoneProblem))
      .optional()
      .describe('IANA name; UTC by default.'),
    when: z
      .strictObject({
        label: z
          .record(z.string().min(1), z.string())
          .refine(
            (labels) => Object.keys(labels).length > 0,
            'wanted at least one label, as in {incident: open}',
          )
          .describe(
            'Every one of these labels is on the live object or on its Namespace, as far as the package has the Namespace.',
          ),
      })
      .optional()
      .describe('Open as long as this holds. Either this or `schedule`.'),
    except: z
      .array(riskSchema)
      .min(1)
      .optional()
      .describe('Drift of these risks is proposed all the same; critical drift always is.'),
  })
  .refine(({ kind, except }) => kind === 'hold' || except === undefined, {
    path: ['except'],
    message: 'only a window that holds has it',
  })
  .superRefine((window, context) => {
    const problem = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message })
    const { schedule, duration, timezone, when } = window
    if (schedule === undefined && when === undefined)
      problem('schedule', 'wanted a schedule with a duration, or when')
    if (schedule !== undefined && when !== undefined)
      problem('when', 'a window has either a schedule or when, not both')
    if (schedule !== undefined && duration === undefined)
      problem('duration', 'a window with a schedule has a duration')
    if (schedule !== undefined || when === undefined) return
    if (duration !== undefined) problem('duration', 'only a window with a schedule has it')
    if (timezone !== undefined) problem('timezone', 'only a window with a schedule has it')
  })

function describePresetProblem(name: string): string {
  return `there is no preset ${JSON.stringify(name.slice(0, 100))}; presets are ${PRESET_NAMES.join(', ')}`
}

export const driftPolicySchema = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('DriftPolicy'),
  metadata,
  spec: z.strictObject({
    priority: z
      .int()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe('The highest policy that matches decides; 0 by default.'),
    enforce: z
      .boolean()
      .optional()
      .describe(
        'No annotation of a package or of its objects hides anything or changes the mode of what the policy matches. Where the operator gives the policy, of the policies of the repository only `render` counts there too.',
      ),
    match: z
      .strictObject({
        clusters: globs.optional().describe('Names of clusters; `*` stands for any text.'),
        packages: globs
          .optional()
          .describe('Paths of packages; `*` stands for one segment, `**` for any number.'),
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
    extends: z
      .array(z.enum(PRESET_NAMES, { error: ({ input }) => describePresetProblem(String(input)) }))
      .min(1)
      .refine((names) => names.length === 1 || !names.includes(NONE), `${NONE} stands alone`)
      .optional()
      .describe(
        `Presets that say what is no drift: ${RECOMMENDED} (all of them) by default, single ones by name, or ${NONE}.`,
      ),
    render: renderSchema
      .optional()
      .describe('What makes the objects of the packages of their files; kpt by default.'),
    settle: z
      .enum(['syncer', 'backporch'])
      .optional()
      .describe('Who brings the cluster in line after a merge.'),
    approval: z
      .enum(['forge', 'porch'])
      .optional()
      .describe(
        'Where proposals are approved. `porch`: a branch never changes once it is written, because a Porch server drops commits that come onto a branch it has read.',
      ),
    tags: z
      .enum(['packages', 'all', 'none'])
      .optional()
      .describe(
        'Which units get the tag `<path>/v<N>` for a merged decision. `packages`, the default: those with a Kptfile, which Porch lists. The ledger has the decision in any case.',
      ),
    commit: commitSchema.optional(),
    pullRequest: pullRequestSchema.optional(),
    ignore: z.array(ignoreSchema).optional(),
    hide: z
      .array(hideSchema)
      .optional()
      .describe(
        'Values that are shown to nobody, beside what is hidden anyway. Those of all matching policies hold.',
      ),
    show: z
      .array(showSchema)
      .optional()
      .describe(
        'Values that are shown although they look like credentials; never content of a Secret. Those of all matching policies hold.',
      ),
    actors: z
      .array(actorRuleSchema)
      .optional()
      .describe(
        'What kind of writer somebody is; the first that matches decides, before the shipped table. Those of all matching policies hold.',
      ),
    riskOverrides: z
      .array(riskOverrideSchema)
      .optional()
      .describe(
        'Risks of objects and fields; the first that matches decides, before the shipped table. Those of all matching policies hold.',
      ),
    detect: z
      .strictObject({
        minAge: waitSchema
          .optional()
          .describe('How long drift has rested before it is proposed; 2m by default.'),
        settle: waitSchema
          .optional()
          .describe(
            'How long the objects of a proposal have rested before it is ready to merge; 2m by default.',
          ),
        unobservedAfter: durationSchema
          .optional()
          .describe(
            'A cluster without an observation for so long is reported as not observed when it cannot be read; 15m by default.',
          ),
        interval: durationSchema
          .optional()
          .describe(
            'How often the ledger records that a cluster was observed while nothing changes; 10m by default. Set it to your scan interval where that is longer.',
          ),
        staleAfter: durationSchema
          .optional()
          .describe(
            'Age of the last observation of a cluster after which its packages are Unknown; three times the interval by default. Of a recorded cluster it is ten times the interval, and a day at least.',
          ),
        stuckAfter: durationSchema
          .optional()
          .describe(
            'How long the syncer may take to apply what git has; 1h by default, or three of its own intervals where that is longer.',
          ),
      })
      .optional(),
    limits: z
      .strictObject({
        prHourlyLimit: limitSchema
          .optional()
          .describe('Most proposals that are opened in an hour; 2 by default, 0 for no limit.'),
        prConcurrentLimit: limitSchema
          .optional()
          .describe('Most proposals that are open at once; 10 by default, 0 for no limit.'),
        stormThreshold: limitSchema
          .optional()
          .describe(
            'More packages than this that begin to differ within an hour are a storm; 50 by default, 0 for never.',
          ),
        stormObjects: limitSchema
          .optional()
          .describe(
            'So are more objects of one cluster than this, in several proposals; 50 by default, 0 for never.',
          ),
        stormShare: z
          .int()
          .min(0)
          .max(100)
          .optional()
          .describe(
            "And more than this many percent of the cluster's objects too; 20 by default, 0 for never.",
          ),
        digest: digestSchema.optional(),
        massMinClusters: z
          .int()
          .min(2)
          .max(100_000)
          .optional()
          .describe('From so many clusters on, one cause is one proposal; 3 by default.'),
      })
      .optional()
      .describe(
        'For the whole repository: each comes from the policy of the highest priority that gives it, whatever it matches.',
      ),
    alsoKnownAs: z
      .array(z.string().max(500).superRefine(hasNo(findAddressProblem)))
      .min(1)
      .max(100)
      .optional()
      .describe(
        'Further addresses of this repository that syncers have: of a mirror, or with an internal host name. Host and path count. Those of all policies hold, whatever they match.',
      ),
    windows: z
      .array(windowSchema)
      .optional()
      .superRefine((windows, context) => {
        windows?.forEach(({ name }, index) => {
          if (windows.findIndex((other) => other.name === name) !== index)
            context.addIssue({
              code: 'custom',
              path: [index, 'name'],
              message: 'another window of the policy has this name',
            })
        })
      })
      .describe('Those of all matching policies are there.'),
    decide: z
      .strictObject({
        defaultPlan: resolutionSchema.optional().describe('Restore by default.'),
        closeSilence: durationSchema
          .optional()
          .describe(
            'How long a rejected drift stays silent; 30d by default, critical drift never longer than 24h.',
          ),
        remindAfter: durationSchema
          .optional()
          .describe(
            'After how long without a decision a proposal says that it waits; 7d by default.',
          ),
        escalateAfter: durationSchema
          .optional()
          .describe(
            'After how long without a decision the code owners are asked by name; 14d by default, longer than remindAfter.',
          ),
        verifyTimeout: durationSchema
          .optional()
          .describe('How long `approve --wait` waits for live to agree; 10m by default.'),
      })
      .superRefine(({ remindAfter = REMIND_AFTER, escalateAfter }, context) => {
        if (
          escalateAfter === undefined ||
          convertDurationToSeconds(escalateAfter) > convertDurationToSeconds(remindAfter)
        )
          return
        context.addIssue({
          code: 'custom',
          path: ['escalateAfter'],
          message: `wanted longer than remindAfter (${remindAfter})`,
        })
      })
      .optional(),
  }),
})

const allowSchema = z.strictObject({
  namespaces: z
    .array(z.string().min(1).max(253))
    .optional()
    .describe('Names of namespaces; `*` stands for any text. None by default.'),
  clusterScoped: z
    .array(z.string().min(1).max(500))
    .optional()
    .describe(
      'Kinds without a namespace, `group/Kind`, or `Kind` of the core group; `*` stands for any text. None by default. A Namespace has to be named by `namespaces` too.',
    ),
})

export const placementSchema = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('Placement'),
  metadata,
  spec: z
    .strictObject({
      clusters: globs.describe('Names of clusters; `*` stands for any text.'),
      packages: globs.optional().describe('Paths of the packages that run in these clusters.'),
      paths: globs
        .optional()
        .describe(
          'Folders without a Kptfile that run there: manifests as they stand, or a kustomization. `.` is the root of the repository.',
        ),
      allow: allowSchema
        .optional()
        .describe(
          'The only objects that these packages may be compared with and settled in. Once one placement of a cluster has it, a package that none of them names may be compared with nothing there.',
        ),
    })
    .refine(
      ({ packages, paths }) => packages !== undefined || paths !== undefined,
      'wanted packages, paths or both',
    ),
})

export type DriftPolicyDocument = z.infer<typeof driftPolicySchema>
export type PlacementDocument = z.infer<typeof placementSchema>
export type Mode = z.infer<typeof modeSchema>
