import { isSameRepository } from '../syncers/sync-path.ts'
import type { DriftPolicyDocument } from './schema.ts'

interface PolicyWithAddresses {
  readonly document: { readonly spec: Pick<DriftPolicyDocument['spec'], 'alsoKnownAs' | 'enforce'> }
  readonly origin?: 'operator' | 'repository'
}

/**
 * If the operator enforces a policy, only addresses that the operator named count, plus the
 * operator's own.
 * @param remotes the address that is read, and for a clone those that it was cloned from
 */
export function createAddressMatcher(
  remotes: readonly string[],
  policies: readonly PolicyWithAddresses[],
): (address: string) => boolean {
  const isEnforced = policies.some(
    ({ origin, document }) => origin === 'operator' && document.spec.enforce === true,
  )
  const counting = isEnforced ? policies.filter(({ origin }) => origin === 'operator') : policies
  const known = [...remotes, ...counting.flatMap(({ document }) => document.spec.alsoKnownAs ?? [])]
  return (address) => known.some((each) => isSameRepository(address, each))
}
