import * as z from 'zod'
import { changesPart, proposedAtSchema } from './change.ts'
import { API_VERSION, annotationsSchema } from './document.ts'

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
      .describe(
        'Published: a draft became a package revision as it was, which decides nothing about the cluster.',
      ),
    decidedBy: z.string().describe('Who decided; empty if no person did (Healed).'),
    at: z.string().describe('RFC 3339 UTC of the outcome.'),
    commit: z.string().optional().describe('Merge commit.'),
    revision: z.string().optional().describe('Published revision, as in `v4`.'),
    seenAt: z
      .string()
      .optional()
      .describe('RFC 3339 UTC: the observation that found a decision made elsewhere.'),
    branch: z.string().optional().describe('Branch of the joint proposal that the record was on.'),
    publishedBy: z
      .literal('porch')
      .optional()
      .describe('Present if the revision was published without backporch or a forge.'),
    altered: z
      .string()
      .optional()
      .describe(
        'Why the merged content is not what backporch proposed; absent if it is. Backporch does not write such a decision to a cluster.',
      ),
    undone: z
      .object({ how: z.enum(['TagMoved', 'AdoptionUndone']), commit: z.string(), by: z.string() })
      .optional()
      .describe(
        'What reverted the merged decision in git: the commit, and its author; empty if unknown.',
      ),
    failedAt: z
      .string()
      .optional()
      .describe(
        'RFC 3339 UTC: when the cluster had not agreed with the merged decision within the time limit of the policy.',
      ),
    verifiedAt: z
      .string()
      .optional()
      .describe('RFC 3339 UTC: first observation in which live agreed with the decision.'),
    silentUntil: z
      .string()
      .optional()
      .describe('RFC 3339 UTC: exactly this fingerprint is not proposed again before this time.'),
    reason: z.string().optional(),
  }),
})

export type ClosedEpisode = z.infer<typeof closedEpisodeSchema>
