/** Without commits and times, so that an unrelated commit never undoes a decision (design §2). */
import { createHash } from 'node:crypto'
import { formatFieldPath } from '@backporch/kyaml/field'
import { isJsonObject } from '@backporch/kyaml/json'
import { computeKeyedHash, type RedactionKey } from '@backporch/kyaml/redaction'
import { getResourceKey, omitBookkeeping } from '@backporch/kyaml/resource'
import type { Drift } from './drift.ts'

export interface FingerprintUnit {
  /** Hash of the uid, or the name if the uid is unknown. */
  readonly cluster: string
  readonly package: string
}

/** The order of the items does not matter. */
export function computeFingerprint(
  unit: FingerprintUnit,
  items: readonly Drift[],
  key: RedactionKey,
): string {
  const lines = items.map((item) => hashItem(item, key).line).sort()
  const hash = createHash('sha256').update(`${unit.cluster}\0${unit.package}\0`)
  for (const line of lines) hash.update(`${line}\n`)
  return `sha256:${hash.digest('hex')}`
}

export function computeItemFingerprint(item: Drift, key: RedactionKey): string {
  return hashItem(item, key).fingerprint
}

function hashItem(
  item: Drift,
  key: RedactionKey,
): { readonly line: string; readonly fingerprint: string } {
  return key.derived.get(item, 'hash', [], () => {
    const line = formatItemLine(item, key)
    return { line, fingerprint: createHash('sha256').update(line).digest('hex').slice(0, 16) }
  })
}

/** A changed content of an unexpected object needs a new decision. */
function formatItemLine(item: Drift, key: RedactionKey): string {
  const path = formatFieldPath(item.path)
  const domain = `${getResourceKey(item.id)}#${path}`
  const live =
    item.change === 'missing'
      ? undefined
      : item.change === 'unexpected' && isJsonObject(item.live)
        ? omitBookkeeping(item.live)
        : item.live
  const git = item.change === 'missing' || item.change === 'unexpected' ? undefined : item.git
  return [
    item.change,
    getResourceKey(item.id),
    item.uid ?? '',
    path,
    computeKeyedHash(key, domain, git),
    computeKeyedHash(key, domain, live),
  ].join('\0')
}

export function getEpisodeId(fingerprint: string): string {
  return fingerprint.slice('sha256:'.length, 'sha256:'.length + 8)
}
