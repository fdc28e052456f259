/**
 * Connections with equal CA, certificate and key share an OpenSSL context: each takes 40 KiB and a
 * millisecond.
 */
import { hash } from 'node:crypto'
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'

const CONTEXTS = new Map<string, WeakRef<SecureContext>>()
const GONE = new FinalizationRegistry<string>((name) => {
  if (CONTEXTS.get(name)?.deref() === undefined) CONTEXTS.delete(name)
})

/** @throws as `createSecureContext`, for an invalid certificate or key */
export function getSecureContext(
  options: Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'minVersion'>,
): SecureContext {
  // No key outlives its connections.
  const name = hash(
    'sha256',
    JSON.stringify([options.ca, options.cert, options.key, options.minVersion]),
  )
  const known = CONTEXTS.get(name)?.deref()
  if (known !== undefined) return known
  const created = createSecureContext(options)
  CONTEXTS.set(name, new WeakRef(created))
  GONE.register(created, name)
  return created
}
