import { EnvHttpProxyAgent } from 'undici'
import type { Environment } from './forge-adapter.ts'

export function createProxyDispatcher(
  environment: Environment,
  options: { readonly allowH2?: boolean } = {},
): EnvHttpProxyAgent {
  const of = (name: string): string => environment[name.toLowerCase()] || environment[name] || ''
  return new EnvHttpProxyAgent({
    ...options,
    connections: 8,
    connect: { timeout: 10_000 },
    httpProxy: of('HTTP_PROXY'),
    httpsProxy: of('HTTPS_PROXY'),
    noProxy: of('NO_PROXY'),
  })
}
