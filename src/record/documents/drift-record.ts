import * as z from 'zod'
import { changesPart, proposedAtSchema } from './change.ts'
import { API_VERSION, annotationsSchema } from './document.ts'
import { refSchema } from './rollout.ts'

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
    .describe(
      'Keyed paths of credentials, which are never kept: each stands in the manifest as a keyed hash, to be filled in by hand.',
    ),
  notKept: z
    .string()
    .optional()
    .describe(
      'Why there is no manifest. Backporch then does not delete the object, whoever approves it.',
    ),
  takesAlong: z
    .string()
    .optional()
    .describe(
      'What else a deletion takes, of which there is no copy. Backporch then does not delete the object, whoever approves it.',
    ),
})

export const driftRecordSchema = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('DriftRecord'),
  metadata: z.object({
    name: z.string().describe('Workspace: `drift-<episode id>`.'),
    annotations: annotationsSchema,
  }),
  spec: z.object({
    ...changesPart,
    episode: z.string(),
    began: z.string().describe('RFC 3339 UTC: first observation of the episode.'),
    proposedAt: proposedAtSchema,
    lifecycle: z
      .enum(['Draft', 'Proposed'])
      .describe(
        'Draft: recorded only, so that merging it authorises nothing. Proposed: merging it decides as planned.',
      ),
    plan: z.enum(['Restore', 'Adopt', 'Release', 'Mixed']),
    message: z.string().optional().describe('Why, in the words of the person who chose the plan.'),
    plannedBy: z
      .string()
      .optional()
      .describe(
        'Login of who chose the plan in the review; empty for a ticked box, which nobody signs.',
      ),
    plannedBefore: z
      .enum(['Restore', 'Adopt', 'Release', 'Mixed'])
      .optional()
      .describe('Plan that was proposed before that.'),
    after: z
      .string()
      .optional()
      .describe('Id of the merged episode after which the cluster still differed.'),
    excludes: z
      .array(z.string())
      .optional()
      .describe(
        'Of a joint proposal: names of clusters, `*` for any text, that have proposals of their own.',
      ),
    notes: z
      .array(z.string())
      .optional()
      .describe(
        'Which other units have an adopted value from the same place in git, and whether they change too. In sentences.',
      ),
    policy: z.object({ name: z.string(), mode: z.string() }),
    settle: z
      .enum(['syncer', 'backporch'])
      .describe('Who brings the cluster in line after the merge.'),
    keyId: z.string().describe('Tells which installation key made the keyed hashes.'),
    copies: z
      .array(objectCopySchema)
      .optional()
      .describe('Objects that a Restore may delete or replace, as they were live.'),
  }),
})

export type DriftRecord = z.infer<typeof driftRecordSchema>

export type ObjectCopy = z.infer<typeof objectCopySchema>

export type Plan = DriftRecord['spec']['plan']
