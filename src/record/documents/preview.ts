import * as z from 'zod'
import { riskSchema } from './change.ts'
import { API_VERSION, json } from './document.ts'
import { refSchema } from './rollout.ts'

const liveSchema = z
  .enum(['before', 'after', 'other', 'unknown'])
  .describe(
    'after: live already has the value after the merge; before: live has the value of the base branch; other: live has a third value, so it drifted; unknown: live was not read.',
  )

const previewChangeSchema = z.object({
  ref: refSchema,
  change: z.enum(['added', 'removed', 'modified']),
  path: z
    .string()
    .optional()
    .describe('Keyed field path; absent if the whole object is added or removed.'),
  before: json
    .optional()
    .describe('Value on the base branch; absent if it has none. A hidden value is a keyed hash.'),
  after: json.optional().describe('Value after the merge; absent if it has none.'),
  redacted: z.boolean().optional().describe('True when the values are keyed hashes.'),
  risk: riskSchema,
  reason: z.string().describe('Code of the rule that gave the risk.'),
  source: z
    .string()
    .optional()
    .describe('`path:line` of the object in git, after the merge if it still exists there.'),
  live: liveSchema,
  liveValue: json
    .optional()
    .describe('The third value, if live has one; absent if the field is missing or hidden.'),
})

const previewFailureSchema = z.object({
  at: z.enum(['base', 'merge', 'live']).describe('What could not be built, or read.'),
  code: z.string(),
  what: z.string(),
  where: z.string().optional(),
  why: z.string(),
  remedy: z.string(),
})

const previewUnitSchema = z.object({
  package: z.string().describe('Path from the root of the repository; empty for the root.'),
  cluster: z.string(),
  appliedBy: z.string().optional().describe('Syncer resource that applies the folder.'),
  state: z
    .enum(['changes', 'same', 'failed'])
    .describe(
      'same: it reads an edited file, and its objects do not change. failed: it could not be built.',
    ),
  presence: z
    .enum(['both', 'new', 'gone'])
    .describe('new: the merge adds the unit; gone: the merge removes it.'),
  edited: z
    .array(z.string())
    .describe('Edited files that it is built from, from the root of the repository.'),
  shared: z
    .array(z.string())
    .describe(
      'Those of the edited files that are outside of its folder: other units may read them too.',
    ),
  changes: z.array(previewChangeSchema),
  failures: z.array(previewFailureSchema),
})

const previewClusterSchema = z.object({
  name: z.string(),
  observedAt: z.string().optional().describe('RFC 3339 UTC; absent if the cluster was not read.'),
  failure: previewFailureSchema.optional().describe('Why the cluster was not read.'),
})

export const previewSchema = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('Preview'),
  base: z.object({ branch: z.string(), commit: z.string() }),
  head: z.object({
    name: z.string(),
    commit: z.string(),
    fork: z
      .boolean()
      .describe('True for a pull request from a fork: no program that the head names was run.'),
  }),
  merge: z
    .object({
      base: z.string().optional().describe('Merge base of head and base; absent if unknown.'),
      conflicts: z
        .array(z.string())
        .describe('Files with conflicting edits; the files of the head are used.'),
      why: z.string().optional().describe('Why the head itself is compared instead of the merge.'),
    })
    .describe('How the compared files were made: base and head are merged in memory.'),
  edited: z.array(z.string()).describe('Files that the merge edits.'),
  policyProblem: z
    .object({ where: z.string(), why: z.string() })
    .optional()
    .describe(
      'First problem, with file and line, if the merge edits policies and the result cannot be used.',
    ),
  policies: z
    .boolean()
    .describe('Whether the merge edits policies: those of the base branch were used.'),
  clusters: z.array(previewClusterSchema),
  items: z
    .array(previewUnitSchema)
    .describe('Units that are built from an edited file; the others do not change.'),
  untouched: z
    .int()
    .describe('Units that are built from no edited file, counted for each cluster.'),
  elsewhere: z
    .array(z.object({ name: z.string(), files: z.array(z.string()) }))
    .describe(
      'What else is built from edited files and is not a unit of these clusters: declared syncer resources, and kustomizations. It is not compared.',
    ),
  notes: z.array(z.string()),
})

export type Preview = z.infer<typeof previewSchema>
export type PreviewUnit = z.infer<typeof previewUnitSchema>
export type PreviewChange = z.infer<typeof previewChangeSchema>
export type PreviewFailure = z.infer<typeof previewFailureSchema>
export type PreviewCluster = z.infer<typeof previewClusterSchema>
