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
      'YAML for `kubectl apply`: the live object without status and fields that the server manages. Absent if it is too large.',
    ),
  lost: z
    .array(z.string())
    .optional()
    .describe(
      'Keyed paths of credentials, which are never kept: the manifest has a keyed hash in place of each, to be replaced by hand.',
    ),
  notKept: z
    .string()
    .optional()
    .describe(
      'Why there is no manifest. Backporch then never deletes the object, even after an approval.',
    ),
  takesAlong: z
    .string()
    .optional()
    .describe(
      'What else a deletion would remove that has no copy. Backporch then never deletes the object, even after an approval.',
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
        'Login of the person who chose the plan in the review; empty for a ticked checkbox, whose author is unknown.',
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
        'For a joint proposal: names of clusters that have separate proposals; `*` matches any text.',
      ),
    notes: z
      .array(z.string())
      .optional()
      .describe(
        'Sentences that name the other units with an adopted value from the same location in git, and whether they change too.',
      ),
    policy: z.object({ name: z.string(), mode: z.string() }),
    settle: z
      .enum(['syncer', 'backporch'])
      .describe('Who applies the decision to the cluster after the merge.'),
    keyId: z.string().describe('Identifies the installation key of the keyed hashes.'),
    copies: z
      .array(objectCopySchema)
      .optional()
      .describe('Live state of the objects that a Restore may delete or replace.'),
  }),
})

export type DriftRecord = z.infer<typeof driftRecordSchema>

export type ObjectCopy = z.infer<typeof objectCopySchema>

export type Plan = DriftRecord['spec']['plan']
