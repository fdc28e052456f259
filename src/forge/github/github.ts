import type { ForgeAdapter } from '../adapter/forge-adapter.ts'
import { isGitHubHost, parseGitHubAddress } from './github-address.ts'
import { GITHUB_SETUP } from './github-setup.ts'

export const GITHUB = {
  ...GITHUB_SETUP,
  kind: 'github',
  name: 'GitHub',
  address: parseGitHubAddress,
  hasHost: isGitHubHost,
  // GitHub Enterprise Server reports this to everybody.
  probe: { path: '/api/v3/meta', key: 'installed_version' },
  token: {
    variable: 'GITHUB_TOKEN',
    variables: 'GITHUB_TOKEN (or BACKPORCH_APP_ID with its key)',
    anyHost: false,
  },
  webhook: {
    signatures: [['x-hub-signature-256', 'sha256=']],
    events: ['x-github-event'],
    deliveries: ['x-github-delivery'],
  },
  committers: ['noreply@github.com'],
  // From real pushes (docs/facts/push-rehearsal.md).
  pushTexts: {
    agent: /^git\/github-/,
    stale:
      /^cannot lock ref '[^']*': (?:is at [0-9a-f]+ but expected [0-9a-f]+|unable to resolve reference\b|reference is missing\b)/,
    refused: /\bhook declined$|^push declined\b/,
  },
  // docs.github.com, "Repository limits", Git operations.
  pushesPerMinute: 6,
  connect: async (options) => (await import('./open-github.ts')).connectGitHub(options),
  gitToken: async (remote, options) => {
    const { environment } = options
    if (
      !['BACKPORCH_APP_ID', 'BACKPORCH_APP_PRIVATE_KEY', 'BACKPORCH_APP_PRIVATE_KEY_FILE'].some(
        (name) => environment[name],
      )
    )
      return undefined
    return (await import('./open-github.ts')).createAppToken(remote, options)
  },
} as const satisfies ForgeAdapter
