import type { ForgeAdapter } from '../adapter/forge-adapter.ts'
import { LOCAL_SETUP, LocalForge } from './local-forge.ts'

export const LOCAL = {
  ...LOCAL_SETUP,
  kind: 'local',
  name: 'git',
  address: () => undefined,
  hasHost: () => false,
  probe: undefined,
  token: undefined,
  webhook: { signatures: [], events: [], deliveries: [] },
  committers: [],
  pushTexts: undefined,
  pushesPerMinute: undefined,
  connect: async () => ({
    forge: (repository) => new LocalForge(repository),
    probe: async () => [
      { check: 'forge', state: 'passed', message: 'forge: git alone, so proposals are branches' },
    ],
  }),
  gitToken: async () => undefined,
} as const satisfies ForgeAdapter
