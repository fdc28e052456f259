import type { Forge, HostedForge } from '@backporch/forge/hosted-forge'

export function isHosted(forge: Forge): forge is HostedForge {
  return 'ensureComment' in forge
}
