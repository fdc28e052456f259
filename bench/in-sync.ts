/** What the controller keeps of objects that are in sync, made by the code that makes it in an observation. */
import type { JsonObject } from '@backporch/kyaml/json'
import { readResource } from '@backporch/kyaml/resource'
import type { ClusterVerdicts } from '../src/reconcile/observe/verdicts/cluster-verdicts.ts'
import { EPOCH_KINDS } from '../src/reconcile/observe/verdicts/kind-epochs.ts'
import { WIDGET_DEFINITION } from './generate.ts'

/** As of a server that has listed everything that decides the answers to dry runs. */
export function epochsOf(verdicts: ClusterVerdicts): ClusterVerdicts {
  for (const kind of EPOCH_KINDS) {
    verdicts.epochs.beginList(kind)
    if (kind.kind === 'CustomResourceDefinition')
      verdicts.epochs.handleChange(
        kind,
        JSON.parse(JSON.stringify(WIDGET_DEFINITION)) as JsonObject,
      )
    verdicts.epochs.finishList(kind)
  }
  return verdicts
}

/** As an observation of a unit keeps objects that are as declared. */
export function keepInSync(
  verdicts: ClusterVerdicts,
  unit: string,
  objects: readonly JsonObject[],
  now: number,
): void {
  const rows = verdicts.getUnitVerdicts(unit)
  for (const object of objects) {
    const found = readResource(object)
    if ('problem' in found) throw new Error(found.problem)
    const { id, apiVersion } = found
    const judged = {
      id,
      apiVersion,
      state: 'in-sync',
      proof: 'ownership',
      items: [],
      setAside: [],
    } as const
    rows.keep(
      { state: 'present', object, metadataOnly: false },
      judged,
      ['uid-of-kube-system', 'v1.34.3', 'content', 'bench'],
      now,
    )
  }
}
