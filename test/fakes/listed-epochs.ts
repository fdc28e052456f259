/** Verdicts of a cluster of which everything that decides the answers to dry runs is listed. */
import { createRedactionKey } from '@backporch/kyaml/redaction'
import {
  ClusterVerdicts,
  type StoredVerdicts,
} from '../../src/reconcile/observe/verdicts/cluster-verdicts.ts'
import { EPOCH_KINDS } from '../../src/reconcile/observe/verdicts/kind-epochs.ts'

export const VERDICT_KEY = createRedactionKey(new Uint8Array(32).fill(7))

export function listedVerdicts(random = 0, stored?: StoredVerdicts): ClusterVerdicts {
  const verdicts = new ClusterVerdicts(VERDICT_KEY, () => random, stored)
  for (const kind of EPOCH_KINDS) {
    verdicts.epochs.beginList(kind)
    verdicts.epochs.finishList(kind)
  }
  return verdicts
}
