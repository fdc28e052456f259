/** docs.github.com, "Troubleshooting the REST API". */
import type { Failure } from '@backporch/kyaml/failure'
import {
  createStatusFailure,
  extractMessage,
  formatRefusedAnswer,
  type Reason,
  type RequestDescription,
} from '../adapter/forge-failure.ts'
import type { RefusedAnswer } from '../adapter/refused-answer.ts'

/** GITHUB_TOKEN needs this setting (docs/facts/github-token-pull-requests.md). */
export const ALLOW_ACTIONS =
  'turn on "Allow GitHub Actions to create and approve pull requests" (Settings > Actions > General, in the repository and in its ' +
  'organization), or give the token of a GitHub App'

/** @param sso the organisation requires the token to be authorised for single sign-on */
export function createGitHubFailure(
  requested: RequestDescription,
  refused: RefusedAnswer,
  sso: boolean,
): Failure {
  return createStatusFailure(requested, refused, findReason(requested, refused, sso))
}

function findReason(
  { address }: RequestDescription,
  refused: RefusedAnswer,
  sso: boolean,
): Reason | undefined {
  const { owner, repository, host } = address
  const text = formatRefusedAnswer(refused)
  switch (refused.status) {
    case 401:
      return [
        'BP5002',
        `it does not accept the credentials (${text})`,
        'give a token that is still valid',
      ]
    case 403: {
      if (
        /^GitHub Actions is not permitted to create or approve pull requests/.test(
          refused.reported ?? '',
        )
      )
        return ['BP5003', `the token of a workflow may not do it (${text})`, ALLOW_ACTIONS]
      if (!sso)
        return [
          'BP5003',
          `the account may not do it (${text})`,
          'give the token the permission that is missing',
        ]
      const why = `the organisation wants the token authorised for its single sign-on (${text})`
      return ['BP5002', why, `authorise the token for ${owner} in the token settings of ${host}`]
    }
    case 404: {
      const why = `${owner}/${repository} does not exist, or the token may not see it: GitHub answers 404 for both`
      return ['BP5003', why, 'check the remote, and that the token has access to this repository']
    }
    case 451:
      return [
        'BP5008',
        `it is blocked for legal reasons (${text})`,
        'open the repository in a browser',
      ]
    default:
      return undefined
  }
}

const TOKEN = /\b(gh[a-z]_\w{8,}|github_pat_\w{8,}|v1\.[0-9a-f]{40}|eyJ[\w-]{8,}(\.[\w-]+){0,2})/g

export function extractGitHubMessage(body: string): string | undefined {
  return extractMessage(body, TOKEN, (answer) =>
    'errors' in answer && Array.isArray(answer.errors)
      ? answer.errors.slice(0, 5).map(formatError)
      : [],
  )
}

function formatError(error: unknown): string {
  if (typeof error === 'string') return error
  if (typeof error !== 'object' || error === null) return ''
  if ('message' in error && typeof error.message === 'string') return error.message
  const parts = ['resource', 'field', 'code'].map(
    (key) => (error as Readonly<Record<string, unknown>>)[key],
  )
  return parts.filter((part) => typeof part === 'string').join(' ')
}
