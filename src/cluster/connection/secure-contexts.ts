/**
 * What OpenSSL makes of a certificate authority, a certificate and a key: 40 KiB and a millisecond. Connections with the same ones share it while
 * one of them is there: those of one cluster, those that are opened again, and those of all clusters behind one proxy.
 */
import { hash } from 'node:crypto'
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'

const CONTEXTS = new Map<string, WeakRef<SecureContext>>()
const GONE = new FinalizationRegistry<string>((name) => {
  // Another one may have taken its place.
  if (CONTEXTS.get(name)?.deref() === undefined) CONTEXTS.delete(name)
})

/** @throws as `createSecureContext`, for what is no certificate or key */
export function secureContext(
  options: Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'minVersion'>,
): SecureContext {
  // A hash, so that no key outlives its connections.
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
