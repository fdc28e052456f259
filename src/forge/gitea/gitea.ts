import type { ForgeAdapter } from '../adapter/forge-adapter.ts'
import { parseForgeAddress } from '../adapter/forge-address.ts'
import { GITEA_SETUP } from './gitea-setup.ts'

export const GITEA = {
  ...GITEA_SETUP,
  kind: 'gitea',
  name: 'Gitea',
  address: parseForgeAddress,
  hasHost: () => false,
  probe: { path: '/api/v1/version', key: 'version' },
  token: { variable: 'GITEA_TOKEN', variables: 'GITEA_TOKEN', anyHost: true },
  // They also send GitHub's headers (docs/facts/gitea-api.md).
  webhook: {
    signatures: [
      ['x-gitea-signature', ''],
      ['x-forgejo-signature', ''],
    ],
    events: ['x-gitea-event', 'x-forgejo-event'],
    deliveries: ['x-gitea-delivery', 'x-forgejo-delivery'],
  },
  committers: [],
  pushTexts: undefined,
  pushesPerMinute: undefined,
  connect: async (options) => (await import('./open-gitea.ts')).connectGitea(options),
  gitToken: async () => undefined,
} as const satisfies ForgeAdapter
