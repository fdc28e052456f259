import type { ConnectOptions, ForgeConnection } from '../adapter/forge-adapter.ts'
import { createNoAddressFailure, parseForgeAddress } from '../adapter/forge-address.ts'
import { createProxyDispatcher } from '../adapter/proxy-dispatcher.ts'
import { RequestGovernor } from '../adapter/request-governor.ts'
import { GiteaClient } from './gitea-client.ts'
import { createGiteaForge } from './gitea-forge.ts'
import { probeGitea } from './probe-gitea.ts'

export async function connectGitea(options: ConnectOptions): Promise<ForgeConnection | undefined> {
  const { remote, environment, clock, version, longestWait, dryRun = false, note, trace } = options
  const address = parseForgeAddress(remote)
  if (address === undefined) throw createNoAddressFailure(remote)
  const token = await options.findToken(address)
  if (token === undefined) return undefined
  const client = new GiteaClient({
    address,
    token,
    dispatcher: createProxyDispatcher(environment),
    // A proxy may have limits, and a loop in Backporch needs one.
    governor: new RequestGovernor({
      forge: 'Gitea',
      clock,
      longestWait,
      writesPerMinute: 600,
      writesPerHour: 6_000,
      dryRun,
    }),
    clock,
    userAgent: `backporch/${version}`,
    note,
    ...(trace === undefined ? {} : { trace }),
  })
  return {
    forge: (repository) => createGiteaForge(client, repository, clock),
    probe: (_refs, signal) => probeGitea(client, signal),
  }
}
