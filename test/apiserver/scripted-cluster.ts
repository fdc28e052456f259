import {
  ApiConnection,
  type ClusterAccess,
  type ConnectionOptions,
  type CredentialOptions,
  createCredentialSource,
  type KubeconfigUser,
} from '@backporch/cluster/api-server'
import type { Clock } from '@backporch/system/clock'
import { HANGS_AFTER } from '../waiting/wait-until.ts'
import type { ScriptedServer } from './scripted-server.ts'

/** A clock that stands still and does not wait: `waits` are the milliseconds that were asked for. */
export interface TestClock extends Clock {
  readonly waits: readonly number[]
  advance(milliseconds: number): void
}

export function testClock(start = '2026-11-21T09:00:00Z'): TestClock {
  let now = Date.parse(start)
  const waits: number[] = []
  return {
    waits,
    now: () => new Date(now),
    sleep: async (milliseconds) => {
      waits.push(milliseconds)
      now += milliseconds
    },
    advance: (milliseconds) => {
      now += milliseconds
    },
  }
}

export const NOBODY: KubeconfigUser = {
  name: 'nobody',
  certificate: undefined,
  key: undefined,
  token: undefined,
  tokenFile: undefined,
  basic: undefined,
  impersonate: { user: undefined, uid: undefined, groups: [], extra: {} },
  exec: undefined,
  authProvider: undefined,
}

export function accessTo(
  server: Pick<ScriptedServer, 'url' | 'authority'>,
  user: Partial<KubeconfigUser> = {},
): ClusterAccess {
  return {
    context: 'scripted',
    namespace: 'default',
    server: new URL(server.url),
    authority: { data: Buffer.from(server.authority).toString('base64') },
    serverName: undefined,
    skipTlsVerify: false,
    proxyUrl: undefined,
    user: { ...NOBODY, ...user },
    file: '/home/someone/.kube/config',
  }
}

export interface TestConnection extends Partial<ConnectionOptions> {
  readonly user?: Partial<KubeconfigUser>
  readonly access?: Partial<ClusterAccess>
  readonly credentials?: Partial<CredentialOptions>
}

/** A connection to a scripted server with a clock that does not wait. */
export function connectionTo(
  server: Pick<ScriptedServer, 'url' | 'authority'>,
  options: TestConnection = {},
): ApiConnection {
  const { user, access: part, credentials, ...rest } = options
  const clock = rest.clock ?? testClock()
  const access = { ...accessTo(server, user), ...part }
  const source = createCredentialSource(access, {
    environment: {},
    execAllow: [],
    now: () => clock.now(),
    ...credentials,
  })
  return new ApiConnection('scripted', access, source, {
    environment: {},
    userAgent: 'backporch/test',
    random: () => 0,
    timeout: HANGS_AFTER,
    ...rest,
    clock,
  })
}
