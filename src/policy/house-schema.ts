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
        ? 'Porch treats a line that begins with kpt: as its own'
        : undefined
    }),
  )

const subjectSchema = lineSchema.max(100).superRefine(
  hasNo((text) => {
    if (text.split('{{summary}}').length !== 2)
      return 'wanted {{summary}} once, as in "{{type}}(drift): {{summary}}"'
    const other = /\{\{(?!type\}\}|summary\}\})[^}]*\}*/.exec(text)
    return other === null
      ? undefined
      : `unknown placeholder ${other[0]}; wanted {{type}} or {{summary}}`
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
      .describe('Prefix of the summary, instead of `fix(drift):` or `chore(drift):`.'),
    subject: subjectSchema
      .optional()
      .describe(
        'The subject: `{{type}}` is fix or chore, `{{summary}}` what the commit does. A prefix precedes it.',
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
        'Prefix of titles instead of `commit.subjectPrefix`; without it a title is the subject of the commit.',
      ),
    reviewers: z
      .array(reviewerSchema)
      .max(20)
      .optional()
      .describe(
        'Reviewers in addition to the code owners, requested when it is opened: logins, and teams as org/team.',
      ),
    assignees: z.array(nameSchema).max(10).optional().describe('Assigned when it is opened.'),
    labels: z
      .array(lineSchema.max(50))
      .max(20)
      .optional()
      .describe('In addition to `drift` and `drift-…`.'),
    milestone: lineSchema
      .max(255)
      .optional()
      .describe('Title of an open milestone, set when it is opened.'),
    draft: z.boolean().optional().describe('Opened as a draft, until a person marks it as ready.'),
    footer: z
      .string()
      .max(4_000)
      .superRefine(
        hasNo((text) =>
          text.includes('backporch:')
            ? 'a footer cannot have checkboxes or marks of backporch'
            : undefined,
        ),
      )
      .optional()
      .describe(
        'Markdown below every text, such as lines that a template or a check of the repository requires.',
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
