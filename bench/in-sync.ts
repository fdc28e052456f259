/** The data that the controller keeps of objects in sync, created by the code of an observation. */
import type { JsonObject } from '@backporch/kyaml/json'
import { readResource } from '@backporch/kyaml/resource'
import type { ClusterVerdicts } from '../src/reconcile/observe/verdicts/cluster-verdicts.ts'
import { EPOCH_KINDS } from '../src/reconcile/observe/verdicts/kind-epochs.ts'
import { WIDGET_DEFINITION } from './generate.ts'

/** For a server that listed everything that decides dry-run answers. */
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

/** Keeps objects in sync as an observation of a unit does. */
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
