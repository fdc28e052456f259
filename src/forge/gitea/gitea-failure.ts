import type { Failure } from '@backporch/kyaml/failure'
import {
  createStatusFailure,
  extractMessage,
  formatRefusedAnswer,
  type Reason,
  type RequestDescription,
} from '../adapter/forge-failure.ts'
import type { RefusedAnswer } from '../adapter/refused-answer.ts'

export function createGiteaFailure(
  requested: RequestDescription,
  refused: RefusedAnswer,
  turnedOff: readonly string[],
): Failure {
  return createStatusFailure(requested, refused, findReason(requested, refused, turnedOff))
}

function findReason(
  { address }: RequestDescription,
  refused: RefusedAnswer,
  turnedOff: readonly string[],
): Reason | undefined {
  const text = formatRefusedAnswer(refused)
  switch (refused.status) {
    case 401:
      return [
        'BP5002',
        `it does not accept the token (${text})`,
        'give a token that is still valid',
      ]
    case 403:
      return [
        'BP5003',
        `the token may not do it (${text})`,
        'give the token the scope that is missing',
      ]
    case 404: {
      const name = `${address.owner}/${address.repository}`
      const off = turnedOff.join(' and ')
      if (turnedOff.length > 0)
        return [
          'BP5003',
          `${off} are turned off in the settings of ${name}`,
          `turn ${off} on in the settings of the repository`,
        ]
      const why = `${name}, or the requested part of it, does not exist, or the token may not see it: Gitea answers 404 for both`
      return ['BP5003', why, 'check the remote, and that the token has access to this repository']
    }
    case 423:
      return ['BP5008', 'it is archived', 'unarchive it, or take it out of the configuration']
    default:
      return undefined
  }
}

export function mayNotAsk(requested: RequestDescription, refused: RefusedAnswer): Failure {
  const why = 'Gitea tells that to administrators of the repository only'
  return createStatusFailure(requested, refused, [
    'BP5003',
    why,
    'make the account of the token an administrator of the repository',
  ])
}

export function extractGiteaMessage(body: string): string | undefined {
  return extractMessage(body, /\b[0-9a-f]{40}\b/g)
}
