import * as z from 'zod'

export const refSchema = z
  .object({ group: z.string(), kind: z.string(), namespace: z.string(), name: z.string() })
  .describe('Identity of an object: without the version.')

const contentPart = {
  commit: z.string().describe('40 hex digits.'),
  tree: z
    .string()
    .describe(
      'Hash of the content of the package, 16 hex digits: how it is found again in a history that was rewritten.',
    ),
}

export const rolledBackSchema = z
  .object({
    commit: z
      .string()
      .describe('The commit that live is of; empty for the time before the package was there.'),
    seen: z
      .object({ commit: z.string(), at: z.string() })
      .optional()
      .describe(
        'The newer commit that was live, and the last observation that saw it, RFC 3339 UTC; absent where the syncer says so itself.',
      ),
  })
  .describe("The syncer's field manager took the object back to an older commit than it had.")

export const rolloutSchema = z
  .object({
    contents: z
      .array(
        z.object({
          ...contentPart,
          after: z.string().describe('RFC 3339 UTC: the last look that did not find it.'),
          firstSeen: z
            .string()
            .describe(
              'RFC 3339 UTC: the first look that found it. The time of a commit is only what its committer says.',
            ),
        }),
      )
      .optional()
      .describe('What git has that not every object was seen with yet, newest first, ten at most.'),
    seen: z
      .array(
        z.object({
          ...contentPart,
          at: z.string().describe('RFC 3339 UTC: the last observation that saw it.'),
          refs: z
            .array(refSchema)
            .optional()
            .describe('The objects; absent where it is all that are listed.'),
        }),
      )
      .optional()
      .describe(
        'What the objects that differ, wait or could not be judged were last seen with. Of the others the report says it: what git has.',
      ),
  })
  .describe('Present while not every object was seen with what git has.')

export type Rollout = z.infer<typeof rolloutSchema>
