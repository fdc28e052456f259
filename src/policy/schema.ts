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
  .describe('Off: observe, write nothing. Warn: record a draft. Propose: open a proposal.')

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
    'When drift of low risk alone is proposed: five fields in cron syntax, UTC; "0 8 * * MON" by default. With off, it is proposed like any other.',
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
        'When it begins, in cron syntax: minute, hour, day of the month, month, day of the week. Either this or `when`.',
      ),
    duration: durationSchema.optional().describe('How long it is open; required with a schedule.'),
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
            'Labels that must all be on the live object or on its Namespace; the Namespace counts only if the package has it.',
          ),
      })
      .optional()
      .describe('Open as long as this holds. Either this or `schedule`.'),
    except: z
      .array(riskSchema)
      .min(1)
      .optional()
      .describe('Drift of these risks is proposed anyway; critical drift always is.'),
  })
  .refine(({ kind, except }) => kind === 'hold' || except === undefined, {
    path: ['except'],
    message: 'only a window of kind hold can have it',
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
      problem('duration', 'a window with a schedule needs a duration')
    if (schedule !== undefined || when === undefined) return
    if (duration !== undefined) problem('duration', 'only a window with a schedule can have it')
    if (timezone !== undefined) problem('timezone', 'only a window with a schedule can have it')
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
        'Annotations of matched packages and their objects neither hide anything nor change the mode. In a policy of the operator, this also disables the policies of the repository there, except their `render`.',
      ),
    match: z
      .strictObject({
        clusters: globs.optional().describe('Names of clusters; `*` matches any text.'),
        packages: globs
          .optional()
          .describe('Paths of packages; `*` matches one segment, `**` any number.'),
      })
      .optional()
      .describe('Which units the policy is for; everything when it is left out.'),
    mode: modeSchema.optional(),
    fieldManager: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('Field manager of the syncer, if it cannot be detected from the objects.'),
    extends: z
      .array(z.enum(PRESET_NAMES, { error: ({ input }) => describePresetProblem(String(input)) }))
      .min(1)
      .refine(
        (names) => names.length === 1 || !names.includes(NONE),
        `${NONE} excludes all other presets`,
      )
      .optional()
      .describe(
        `Presets of what is not drift: ${RECOMMENDED} (all of them) by default, single ones by name, or ${NONE}.`,
      ),
    render: renderSchema
      .optional()
      .describe('How objects are rendered from the files of the packages; kpt by default.'),
    settle: z
      .enum(['syncer', 'backporch'])
      .optional()
      .describe('Who applies the decision to the cluster after a merge.'),
    approval: z
      .enum(['forge', 'porch'])
      .optional()
      .describe(
        'Where proposals are approved. `porch`: a branch never changes once it is written, because a Porch server drops commits that are added to a branch it has read.',
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
        'Values that are never shown, in addition to those that are always hidden. The rules of all matching policies apply.',
      ),
    show: z
      .array(showSchema)
      .optional()
      .describe(
        'Values that are shown although they look like credentials; never the content of a Secret. The rules of all matching policies apply.',
      ),
    actors: z
      .array(actorRuleSchema)
      .optional()
      .describe(
        'Classes of writers; the first rule that matches decides, before the shipped table. The rules of all matching policies apply.',
      ),
    riskOverrides: z
      .array(riskOverrideSchema)
      .optional()
      .describe(
        'Risks of objects and fields; the first rule that matches decides, before the shipped table. The rules of all matching policies apply.',
      ),
    detect: z
      .strictObject({
        minAge: waitSchema
          .optional()
          .describe('How long drift must be unchanged before it is proposed; 2m by default.'),
        settle: waitSchema
          .optional()
          .describe(
            'How long the objects of a proposal must be unchanged before it is ready to merge; 2m by default.',
          ),
        unobservedAfter: durationSchema
          .optional()
          .describe(
            'An unreadable cluster is reported as not observed after this time without an observation; 15m by default.',
          ),
        interval: durationSchema
          .optional()
          .describe(
            'How often the ledger records that a cluster was observed while nothing changes; 10m by default. Set it to your scan interval if that is longer.',
          ),
        staleAfter: durationSchema
          .optional()
          .describe(
            'Age of the last observation of a cluster after which its packages are Unknown; three times the interval by default. For a recorded cluster it is ten times the interval, and at least a day.',
          ),
        stuckAfter: durationSchema
          .optional()
          .describe(
            'How long the syncer may take to apply what git has; 1h by default, or three of its own intervals if that is longer.',
          ),
      })
      .optional(),
    limits: z
      .strictObject({
        prHourlyLimit: limitSchema
          .optional()
          .describe(
            'Maximum number of proposals that are opened in an hour; 2 by default, 0 for no limit.',
          ),
        prConcurrentLimit: limitSchema
          .optional()
          .describe(
            'Maximum number of proposals that are open at once; 10 by default, 0 for no limit.',
          ),
        stormThreshold: limitSchema
          .optional()
          .describe(
            'More packages than this that begin to differ within an hour are a storm; 50 by default, 0 for never.',
          ),
        stormObjects: limitSchema
          .optional()
          .describe(
            'More objects of one cluster than this in several proposals are a storm too, if they also exceed stormShare; 50 by default, 0 for never.',
          ),
        stormShare: z
          .int()
          .min(0)
          .max(100)
          .optional()
          .describe(
            'Percentage of the objects of the cluster that such a storm also exceeds; 20 by default, 0 for never.',
          ),
        digest: digestSchema.optional(),
        massMinClusters: z
          .int()
          .min(2)
          .max(100_000)
          .optional()
          .describe(
            'Number of clusters from which one cause becomes one joint proposal; 3 by default.',
          ),
      })
      .optional()
      .describe(
        'For the whole repository: each setting comes from the policy of the highest priority that gives it, regardless of its selector.',
      ),
    alsoKnownAs: z
      .array(z.string().max(500).superRefine(hasNo(findAddressProblem)))
      .min(1)
      .max(100)
      .optional()
      .describe(
        'Other addresses of this repository that syncers use: of a mirror, or with an internal host name. Only host and path are compared. Those of all policies apply, regardless of their selectors.',
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
      .describe('The windows of all matching policies apply.'),
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
            'Time without a decision after which a proposal gets a reminder; 7d by default.',
          ),
        escalateAfter: durationSchema
          .optional()
          .describe(
            'Time without a decision after which the code owners are mentioned; 14d by default, longer than remindAfter.',
          ),
        verifyTimeout: durationSchema
          .optional()
          .describe('How long `approve --wait` waits until the cluster agrees; 10m by default.'),
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
    .describe('Names of namespaces; `*` matches any text. None by default.'),
  clusterScoped: z
    .array(z.string().min(1).max(500))
    .optional()
    .describe(
      'Kinds without a namespace, `group/Kind`, or `Kind` of the core group; `*` matches any text. None by default. A Namespace has to be named by `namespaces` too.',
    ),
})

export const placementSchema = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('Placement'),
  metadata,
  spec: z
    .strictObject({
      clusters: globs.describe('Names of clusters; `*` matches any text.'),
      packages: globs.optional().describe('Paths of the packages that run in these clusters.'),
      paths: globs
        .optional()
        .describe(
          'Folders without a Kptfile that run there: manifests as they are, or a kustomization. `.` is the root of the repository.',
        ),
      allow: allowSchema
        .optional()
        .describe(
          'The only objects that these packages may be compared with and settled in. If one placement of a cluster has it, a package that no placement names may be compared with no object there.',
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
