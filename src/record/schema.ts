/**
 * The documents that Backporch writes, as one zod definition each: the writer's type, the reader's check and the JSON
 * Schema under docs/schema/ come from it. Shapes follow the Kubernetes API conventions.
 */
import type { Json } from '@backporch/kyaml/json'
import * as z from 'zod'
import { STATUS_WORDS } from '../status/kstatus-fields.ts'
import { refSchema, rolledBackSchema, rolloutSchema } from './rollout-schema.ts'

export const API_VERSION = 'backporch.dev/v1alpha1'

// Any JSON value; `z.json()` would refuse the integers beyond 2^53, which are bigint in the process.
const json = z.unknown() as unknown as z.ZodType<Json>

export const actorSchema = z.object({
  manager: z.string().describe('Field manager: the name that the client gave itself; `unknown` when the server kept no trace.'),
  operation: z.enum(['Apply', 'Update', '']).describe('How the manager wrote.'),
  subresource: z.string().optional(),
  class: z.enum(['human-tool', 'controller', 'gitops', 'webhook', 'unknown']),
  at: z.string().describe("RFC 3339 UTC. The manager's last change to any of its fields of the object; empty when unknown."),
  confidence: z
    .enum(['audit', 'audit-time', 'field-manager', 'last-writer', 'none'])
    .describe(
      'audit: the audit log has the very request; audit-time: owns the field, and the audit log has one user that wrote under this name then; field-manager: owns the field; last-writer: the field is gone and this is the only other writer; none: no trace.',
    ),
  user: z.string().optional().describe('Who the API server took the client for; from an audit log alone.'),
  actingAs: z.string().optional().describe('Whom that user acted as (impersonation).'),
  others: z
    .array(
      z.object({
        manager: z.string(),
        operation: z.enum(['Apply', 'Update']),
        subresource: z.string().optional(),
        class: z.enum(['human-tool', 'controller', 'gitops', 'webhook', 'unknown']),
        at: z.string(),
      }),
    )
    .optional()
    .describe('Who else owns the field, the latest first.'),
})

export const resolutionSchema = z.enum(['Restore', 'Adopt', 'Release'])
export const riskSchema = z.enum(['critical', 'high', 'medium', 'low'])

export const changeSchema = z.object({
  ref: refSchema,
  change: z.enum(['modified', 'removed', 'added', 'missing', 'unexpected']),
  path: z
    .string()
    .optional()
    .describe('Keyed field path; absent for missing and unexpected. A credential in it stands as `hmac-sha256:<16 hex>`.'),
  git: json.optional().describe('Value in git; absent where git has none. A hidden value is `hmac-sha256:<16 hex> (<n> bytes)`.'),
  live: json.optional().describe('Value in the cluster; absent where the cluster has none.'),
  redacted: z.boolean().optional().describe('True when git or live is a keyed hash instead of the value.'),
  actor: actorSchema,
  rolledBack: rolledBackSchema.optional(),
  risk: riskSchema,
  reason: z.string().describe('Code of the rule that gave the risk.'),
  resolution: resolutionSchema,
  via: z.string().optional().describe('Which of several places in git is edited, as somebody chose it: `setter:replicas`.'),
  source: z.string().optional().describe('`path:line` of the object in git.'),
  notes: z.array(z.string()).optional(),
  fingerprint: z.string().describe('Keyed hash of this difference: 16 hex digits.'),
})

const unitSchema = z.object({
  cluster: z.string(),
  package: z.string().describe('Path of the package from the root of the repository; empty where the repository itself is the package.'),
  name: z.string().optional().describe('Of a package without a path: the name in its Kptfile.'),
  source: z.literal('folder').optional().describe('Of a folder without a Kptfile.'),
  appliedBy: z
    .string()
    .optional()
    .describe('The resource of a syncer that applies the folder, by which it was found: `Flux Kustomization flux-system/apps`.'),
  branch: z.string().optional().describe('Base branch that was compared, short: `main`. Proposals and decisions of the unit are about it.'),
  revision: z.string().optional().describe('Latest published revision of the package, as in `v3`.'),
  commit: z.string().describe('Commit of the base branch that was compared: the first one in which the package had this content.'),
  tree: z.string().describe('Hash of the content of the package, 16 hex digits: two commits with one hash have one package.'),
})

const observedSchema = z.object({
  at: z.string().describe('RFC 3339 UTC: first observation that found what this document says.'),
  seenAt: z
    .string()
    .optional()
    .describe(
      'RFC 3339 UTC: a later observation that found the same. Lists have the latest that is known; where it is absent, `at` is it.',
    ),
  syncer: z.string().describe('Field manager that applies the package; empty when nobody does.'),
  objects: z.int().describe('Objects that git declares.'),
  recorded: z.boolean().optional().describe('True when the cluster was a recording.'),
})

const changesPart = {
  unit: unitSchema,
  fingerprint: z.string().describe('`sha256:` and 64 hex digits; empty when nothing differs.'),
  observed: observedSchema,
  changes: z.array(changeSchema),
}

export const annotationsSchema = z.object({ 'config.kubernetes.io/local-config': z.literal('true') })

export const unitStateSchema = z
  .enum(['InSync', 'Drifted', 'Applying', 'Silenced', 'Behind', 'SyncFailed', 'Reconciling', 'Suspended', 'Unknown', 'Off'])
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

export const healthSchema = z.object({
  status: z
    .enum(STATUS_WORDS)
    .describe('The worst of the objects, in words of kstatus: Failed, Unknown, NotFound, Terminating, InProgress, Current.'),
  objects: z
    .array(z.object({ ref: refSchema, status: z.enum(STATUS_WORDS), message: z.string().optional().describe("kstatus' sentence.") }))
    .optional()
    .describe('Objects that are not Current, the worst first, twenty at most. The ResourceGroup has all of them.'),
})

const lastKnownSchema = z
  .object({ state: unitStateSchema, since: z.string() })
  .describe('Of an Unknown unit: the state that was seen last, and since when it was so.')

export const clusterFailureSchema = z
  .object({
    since: z.string().describe('RFC 3339 UTC: first look that failed.'),
    code: z.string(),
    why: z.string().describe('The sentence of the code, and nothing of what the cluster answered.'),
    remedy: z.string(),
  })
  .describe('Why the cluster cannot be observed; absent while it can.')

export const setAsideSchema = z.object({
  ref: refSchema,
  path: z.string().optional(),
  state: z.enum(['Ignored', 'Released', 'Behind', 'SyncFailed', 'Reconciling', 'Suspended']),
  why: z.string(),
  rule: z.string().optional().describe('Of Ignored: name of the preset rule, or the place of the ignore rule.'),
  commit: z.string().optional().describe('Of what waits for the syncer: the commit that live is of.'),
  stuckSince: z
    .string()
    .optional()
    .describe(
      'RFC 3339 UTC: it waits for longer than the policy allows (detect.stuckAfter), or the syncer failed; empty where nobody knows since when.',
    ),
})

/** A rule is known by what it covers, so that it may move about in its file. There is an entry only where the rule is about an object of the unit. */
export const ruleMatchSchema = z.object({
  rule: z.string().describe('Twelve hex digits of what the rule covers.'),
  hits: z.int().optional().describe('Differences of the unit that it covers; absent where there is none.'),
  unmatchedSince: z
    .string()
    .optional()
    .describe('Day of the first observation in which it covered nothing; absent while it covers something.'),
  matched: z.boolean().optional().describe('True when it covered something before that day.'),
  annotation: z
    .object({ where: z.string(), target: z.string(), fields: z.string(), reason: z.string(), expires: z.string().optional() })
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
    since: z.string().describe('RFC 3339 UTC: first observation of this state; of Unknown, the first look that failed.'),
    lastKnown: lastKnownSchema.optional(),
    stuckSince: z
      .string()
      .optional()
      .describe(
        'RFC 3339 UTC: the syncer is late since then, as the policy has it (detect.stuckAfter); empty where nobody knows since when.',
      ),
    episode: z.string().describe('Id of the open episode; empty when there is none.'),
    lifecycle: z.enum(['Draft', 'Proposed', 'Published', '']).describe('Where the record of the episode stands.'),
    plan: z.enum(['Restore', 'Adopt', 'Release', 'Mixed', '']),
    branch: z.string().optional().describe('Branch of the joint proposal that the record is on, where it is not named by the episode.'),
    pullRequest: z
      .object({ number: z.int().positive(), url: z.string().optional() })
      .optional()
      .describe('Where a command shows the report: the pull request of the open record, as the ledger knows it.'),
    held: z
      .object({
        reason: z.enum(['min-age', 'window', 'digest', 'hourly-limit', 'concurrent-limit', 'storm', 'fight', 'policy', 'refused']),
        until: z.string().optional().describe('RFC 3339 UTC, where the end is known.'),
        why: z.string(),
      })
      .optional()
      .describe('Why the record is a draft, or there is none, although the policy would propose it.'),
    snoozedUntil: z.string().optional().describe('RFC 3339 UTC: nobody is reminded of the open proposal before.'),
    ignores: z.array(ruleMatchSchema).optional().describe('Ignore rules that were tried, and what came of each.'),
    health: healthSchema.optional().describe('Beside the state: what is in sync may still fail. Absent in a report of an earlier version.'),
    rollout: rolloutSchema.optional(),
    newKeyId: z
      .string()
      .optional()
      .describe('Id of the installation key of the keyed hashes, where the key was made in that run; absent where it was there before.'),
    setAside: z.array(setAsideSchema).optional(),
    incomplete: z.array(incompleteSchema).optional(),
  }),
})

const notesSchema = z
  .array(
    z.object({
      cause: z.string().describe('Name of the cause: `secret-in-git`, `porch-tag-not-number`, …'),
      count: z.number().int().positive(),
      examples: z
        .array(z.object({ subject: z.string(), text: z.string() }))
        .describe('The first ones; every one with --verbose. `subject` is what a note is about, empty where the text says it.'),
    }),
  )
  .optional()
  .describe('What a reader should know that is no drift and no failure, one entry for each cause.')

export const driftReportListSchema = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('DriftReportList'),
  observedAt: z
    .string()
    .describe(
      'RFC 3339 UTC: every item was looked at then or later; of one that cannot be observed, the last look that saw it counts. Empty where nothing was ever observed.',
    ),
  incomplete: z.array(incompleteSchema).describe('What could not be observed. Absence of drift is not proven where this is not empty.'),
  items: z.array(driftReportSchema),
  notes: notesSchema,
  clusters: z
    .array(
      z.object({
        name: z.string(),
        observedAt: z
          .string()
          .optional()
          .describe('RFC 3339 UTC of the last successful observation of every package; absent where the ledger has none.'),
        reachable: z.boolean().describe('False while the cluster cannot be observed.'),
        failure: clusterFailureSchema.optional(),
      }),
    )
    .optional()
    .describe('Of `status`: the clusters of the items, as the ledger has them.'),
  proposals: z
    .array(z.object({ branch: z.string(), label: z.string(), url: z.string() }))
    .optional()
    .describe('Open proposals that a scan made or kept: label as the forge calls it (`#418`), url empty where git is the forge.'),
  unmanaged: z
    .array(
      z.object({
        cluster: z.string(),
        namespaces: z.array(z.string()).describe('Where was looked: the namespaces of the packages.'),
        objects: z.array(
          z.object({
            apiVersion: z.string(),
            ref: refSchema,
            manager: z.string().optional().describe('Field manager that wrote it first; absent where the server kept no trace.'),
            createdAt: z.string().optional().describe('RFC 3339 UTC.'),
          }),
        ),
        unread: z.array(z.string()).describe('What could not be listed; where this is not empty there may be more objects.'),
      }),
    )
    .optional()
    .describe('With --unmanaged: objects that nobody manages. They are no drift and are never recorded.'),
})

const objectCopySchema = z.object({
  ref: refSchema,
  manifest: z
    .string()
    .optional()
    .describe(
      'YAML that `kubectl apply` takes: the object as it was live, without status and what the server keeps. Absent where it is too large.',
    ),
  lost: z
    .array(z.string())
    .optional()
    .describe('Keyed paths of credentials, which are never kept: each stands in the manifest as a keyed hash, to be filled in by hand.'),
  notKept: z.string().optional().describe('Why there is no manifest. Backporch then does not delete the object, whoever approves it.'),
  takesAlong: z
    .string()
    .optional()
    .describe('What else a deletion takes, of which there is no copy. Backporch then does not delete the object, whoever approves it.'),
})

const proposedAtSchema = z
  .string()
  .optional()
  .describe('RFC 3339 UTC: observation with which it was proposed; absent where that was the first one, and in a draft.')

export const driftRecordSchema = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('DriftRecord'),
  metadata: z.object({ name: z.string().describe('Workspace: `drift-<episode id>`.'), annotations: annotationsSchema }),
  spec: z.object({
    ...changesPart,
    episode: z.string(),
    began: z.string().describe('RFC 3339 UTC: first observation of the episode.'),
    proposedAt: proposedAtSchema,
    lifecycle: z
      .enum(['Draft', 'Proposed'])
      .describe('Draft: recorded only, so that merging it authorises nothing. Proposed: merging it decides as planned.'),
    plan: z.enum(['Restore', 'Adopt', 'Release', 'Mixed']),
    message: z.string().optional().describe('Why, in the words of the person who chose the plan.'),
    plannedBy: z.string().optional().describe('Login of who chose the plan in the review; empty for a ticked box, which nobody signs.'),
    plannedBefore: z.enum(['Restore', 'Adopt', 'Release', 'Mixed']).optional().describe('Plan that was proposed before that.'),
    after: z.string().optional().describe('Id of the merged episode after which the cluster still differed.'),
    excludes: z
      .array(z.string())
      .optional()
      .describe('Of a joint proposal: names of clusters, `*` for any text, that have proposals of their own.'),
    policy: z.object({ name: z.string(), mode: z.string() }),
    settle: z.enum(['syncer', 'backporch']).describe('Who brings the cluster in line after the merge.'),
    keyId: z.string().describe('Tells which installation key made the keyed hashes.'),
    copies: z.array(objectCopySchema).optional().describe('Objects that a Restore may delete or replace, as they were live.'),
  }),
})

export const closedEpisodeSchema = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('ClosedEpisode'),
  metadata: z.object({ name: z.string(), annotations: annotationsSchema }),
  spec: z.object({
    ...changesPart,
    episode: z.string(),
    began: z.string(),
    proposedAt: proposedAtSchema,
    plan: z.enum(['Restore', 'Adopt', 'Release', 'Mixed']),
    message: z.string().optional(),
  }),
  status: z.object({
    outcome: z
      .enum(['Merged', 'Declined', 'Healed', 'ResolvedByGit', 'Published'])
      .describe('Published: a draft became a package revision as it was, which decides nothing about the cluster.'),
    decidedBy: z.string().describe('Who decided; empty when nobody did (Healed).'),
    at: z.string().describe('RFC 3339 UTC of the outcome.'),
    commit: z.string().optional().describe('Merge commit.'),
    revision: z.string().optional().describe('Published revision, as in `v4`.'),
    seenAt: z.string().optional().describe('RFC 3339 UTC: the observation that found the decision, where it was made elsewhere.'),
    branch: z.string().optional().describe('Branch of the joint proposal that the record was on.'),
    publishedBy: z.literal('porch').optional().describe('Present where the revision was published without backporch or a forge.'),
    altered: z
      .string()
      .optional()
      .describe(
        'Why what was merged is not what backporch proposed; absent where it is. Backporch does not write such a decision to a cluster.',
      ),
    undone: z
      .object({ how: z.enum(['TagMoved', 'AdoptionUndone']), commit: z.string(), by: z.string() })
      .optional()
      .describe('What took the merged decision out of git again: the commit, and its author; empty where that is not known.'),
    failedAt: z.string().optional().describe('RFC 3339 UTC: merged, and the cluster did not agree within the time that the policy gives.'),
    verifiedAt: z.string().optional().describe('RFC 3339 UTC: first observation in which live agreed with the decision.'),
    silentUntil: z.string().optional().describe('RFC 3339 UTC: until then exactly this fingerprint is not raised again.'),
    reason: z.string().optional(),
  }),
})

export type Change = z.infer<typeof changeSchema>
export type DriftReport = z.infer<typeof driftReportSchema>
export type DriftReportList = z.infer<typeof driftReportListSchema>
export type DriftRecord = z.infer<typeof driftRecordSchema>
export type ObjectCopy = z.infer<typeof objectCopySchema>
export type ClosedEpisode = z.infer<typeof closedEpisodeSchema>
export type RuleMatch = z.infer<typeof ruleMatchSchema>
export type UnitState = z.infer<typeof unitStateSchema>
export type UnitHealth = z.infer<typeof healthSchema>
export type Incomplete = z.infer<typeof incompleteSchema>
export type NotePart = NonNullable<DriftReportList['notes']>[number]
export type Plan = DriftRecord['spec']['plan']

export const LOCAL_CONFIG = { 'config.kubernetes.io/local-config': 'true' } as const

/** How every document begins. */
export function documentHead<Kind extends string>(kind: Kind, name: string) {
  return { apiVersion: API_VERSION, kind, metadata: { name, annotations: LOCAL_CONFIG } } as const
}
