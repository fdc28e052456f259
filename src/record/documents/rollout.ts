import * as z from 'zod'

export const refSchema = z
  .object({ group: z.string(), kind: z.string(), namespace: z.string(), name: z.string() })
  .describe('Identity of an object: without the version.')

const contentPart = {
  commit: z.string().describe('40 hex digits.'),
  tree: z
    .string()
    .describe(
      'Hash of the content of the package, 16 hex digits: identifies it in a rewritten history.',
    ),
}

export const rolledBackSchema = z
  .object({
    commit: z.string().describe('The live commit; empty for the time before the package existed.'),
    seen: z
      .object({ commit: z.string(), at: z.string() })
      .optional()
      .describe(
        'The newer commit that was live, and its last observation, RFC 3339 UTC; absent if the syncer reports the rollback itself.',
      ),
  })
  .describe("The syncer's field manager returned the object to an older commit than it had.")

export const rolloutSchema = z
  .object({
    contents: z
      .array(
        z.object({
          ...contentPart,
          after: z.string().describe('RFC 3339 UTC: the last observation without it.'),
          firstSeen: z
            .string()
            .describe(
              'RFC 3339 UTC: the first observation with it. The date of a commit is only a claim of its committer.',
            ),
        }),
      )
      .optional()
      .describe(
        'Contents of git that were not yet observed live on every object, newest first, at most ten.',
      ),
    seen: z
      .array(
        z.object({
          ...contentPart,
          at: z.string().describe('RFC 3339 UTC: the last observation with it.'),
          refs: z
            .array(refSchema)
            .optional()
            .describe('The objects; absent for all listed objects.'),
        }),
      )
      .optional()
      .describe(
        'Last observed content of the objects that differ, wait or could not be judged. The others have the content of git.',
      ),
  })
  .describe('Present until every object was observed with the content of git.')

export type Rollout = z.infer<typeof rolloutSchema>
