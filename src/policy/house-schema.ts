/** In Renovate's terms where they exist. */
import { omitUndefined } from '@backporch/kyaml/text'
import * as z from 'zod'
import { type HouseRules, NO_HOUSE_RULES } from './house-rules.ts'
import { hasNo } from './ignore-schema.ts'

/** No control characters, and nothing that Porch reads as its own line. */
const lineSchema = z
  .string()
  .trim()
  .min(1)
  .max(60)
  .superRefine(
    hasNo((text) => {
      if (/\p{C}/u.test(text)) return 'wanted one line without control characters'
      return text.startsWith('kpt:')
        ? 'Porch takes a line that begins with kpt: for its own'
        : undefined
    }),
  )

const subjectSchema = lineSchema.max(100).superRefine(
  hasNo((text) => {
    if (text.split('{{summary}}').length !== 2)
      return 'wanted {{summary}} once, as in "{{type}}(drift): {{summary}}"'
    const other = /\{\{(?!type\}\}|summary\}\})[^}]*\}*/.exec(text)
    return other === null ? undefined : `${other[0]} is nothing; there are {{type}} and {{summary}}`
  }),
)

const nameSchema = z
  .string()
  .max(100)
  .regex(/^@?[\w.-]+$/, 'wanted the login of a person')
const reviewerSchema = z
  .string()
  .max(200)
  .regex(/^@?[\w.-]+(?:\/[\w.-]+)?$/, 'wanted a login, or a team as org/team')

export const commitSchema = z
  .strictObject({
    signOff: z
      .boolean()
      .optional()
      .describe(
        'Whether commits end in `Signed-off-by:` of their author, for a DCO check; true by default.',
      ),
    subjectPrefix: lineSchema
      .optional()
      .describe('Stands before the summary in place of `fix(drift):` or `chore(drift):`.'),
    subject: subjectSchema
      .optional()
      .describe(
        'The subject: `{{type}}` is fix or chore, `{{summary}}` what the commit does. A prefix stands before it.',
      ),
  })
  .describe(
    'Commits of proposals, for the whole repository: each setting comes from the policy of the highest priority that gives it.',
  )

export const pullRequestSchema = z
  .strictObject({
    titlePrefix: lineSchema
      .optional()
      .describe(
        'In place of `commit.subjectPrefix` in titles, which are the subject of the commit otherwise.',
      ),
    reviewers: z
      .array(reviewerSchema)
      .max(20)
      .optional()
      .describe(
        'Asked for a review beside the code owners, when it is opened: logins, and teams as org/team.',
      ),
    assignees: z.array(nameSchema).max(10).optional().describe('Assigned when it is opened.'),
    labels: z
      .array(lineSchema.max(50))
      .max(20)
      .optional()
      .describe('Beside `drift` and `drift-…`.'),
    milestone: lineSchema
      .max(255)
      .optional()
      .describe('The title of an open milestone, which it gets when it is opened.'),
    draft: z.boolean().optional().describe('Opened as a draft, until a person marks it as ready.'),
    footer: z
      .string()
      .max(4_000)
      .superRefine(
        hasNo((text) =>
          text.includes('backporch:')
            ? 'boxes and marks of backporch are not for a footer'
            : undefined,
        ),
      )
      .optional()
      .describe(
        'Markdown below every text, such as what a template or a check of the repository wants to see.',
      ),
  })
  .describe(
    'Pull requests, for the whole repository: each setting comes from the policy of the highest priority that gives it.',
  )

interface HouseSpec {
  readonly commit?: z.infer<typeof commitSchema> | undefined
  readonly pullRequest?: z.infer<typeof pullRequestSchema> | undefined
}

export function mergeHouseRules(specs: readonly HouseSpec[]): HouseRules {
  const commit = <Name extends keyof NonNullable<HouseSpec['commit']>>(name: Name) =>
    specs.map((spec) => spec.commit?.[name]).find((given) => given !== undefined)
  const pullRequest = <Name extends keyof NonNullable<HouseSpec['pullRequest']>>(name: Name) =>
    specs.map((spec) => spec.pullRequest?.[name]).find((given) => given !== undefined)
  const [prefix, template] = [commit('subjectPrefix'), commit('subject')]
  const none = NO_HOUSE_RULES.pullRequest
  const plain = (names: readonly string[] | undefined): readonly string[] =>
    (names ?? []).map((name) => name.replace(/^@/, ''))
  return {
    commit: {
      signOff: commit('signOff') ?? NO_HOUSE_RULES.commit.signOff,
      ...omitUndefined({ prefix, template }),
    },
    pullRequest: {
      title: omitUndefined({ prefix: pullRequest('titlePrefix') ?? prefix, template }),
      reviewers: plain(pullRequest('reviewers')),
      assignees: plain(pullRequest('assignees')),
      labels: pullRequest('labels') ?? none.labels,
      milestone: pullRequest('milestone'),
      draft: pullRequest('draft') ?? none.draft,
      footer: pullRequest('footer'),
    },
  }
}
