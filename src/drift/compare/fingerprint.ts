/** Without commits and times, so that an unrelated commit never undoes a decision (design §2). */
import { createHash } from 'node:crypto'
import { formatFieldPath } from '@backporch/kyaml/field'
import { isJsonObject } from '@backporch/kyaml/json'
import { keyedHash, type RedactionKey } from '@backporch/kyaml/redaction'
import { resourceKey, withoutBookkeeping } from '@backporch/kyaml/resource'
import type { Drift } from './drift.ts'

export interface FingerprintUnit {
  /** Hash of the uid, or the name if the uid is unknown. */
  readonly cluster: string
  readonly package: string
}

/** The order of the items does not matter. */
export function fingerprintOf(
  unit: FingerprintUnit,
  items: readonly Drift[],
  key: RedactionKey,
): string {
  const lines = items.map((item) => hashed(item, key).line).sort()
  const hash = createHash('sha256').update(`${unit.cluster}\0${unit.package}\0`)
  for (const line of lines) hash.update(`${line}\n`)
  return `sha256:${hash.digest('hex')}`
}

export function itemFingerprint(item: Drift, key: RedactionKey): string {
  return hashed(item, key).fingerprint
}

function hashed(
  item: Drift,
  key: RedactionKey,
): { readonly line: string; readonly fingerprint: string } {
  return key.derived.get(item, 'hash', [], () => {
    const line = itemLine(item, key)
    return { line, fingerprint: createHash('sha256').update(line).digest('hex').slice(0, 16) }
  })
}

/** A changed content of an unexpected object needs a new decision. */
function itemLine(item: Drift, key: RedactionKey): string {
  const path = formatFieldPath(item.path)
  const domain = `${resourceKey(item.id)}#${path}`
  const live =
    item.change === 'missing'
      ? undefined
      : item.change === 'unexpected' && isJsonObject(item.live)
        ? withoutBookkeeping(item.live)
        : item.live
  const git = item.change === 'missing' || item.change === 'unexpected' ? undefined : item.git
  return [
    item.change,
    resourceKey(item.id),
    item.uid,
    path,
    keyedHash(key, domain, git),
    keyedHash(key, domain, live),
  ].join('\0')
}

export function episodeIdOf(fingerprint: string): string {
  return fingerprint.slice('sha256:'.length, 'sha256:'.length + 8)
}
