/** Tier 1 says without a request that an apply would change nothing. The recording has the server's own answer to that. */
import { computePredictionKey } from '@backporch/cluster/recording'
import { formatFieldPath } from '@backporch/kyaml/field'
import { getResourceKey } from '@backporch/kyaml/resource'
import { compareObjects } from '../../src/drift/compare/compare-resource.ts'
import type { Observation } from '../../src/plan/observation/observation.ts'
import { listSyncersOfMark } from '../../src/syncers/marks.ts'
import { nameOf } from './observe-case.ts'
import type { CaseRecording } from './recording.ts'
import type { RecordedServer, ReplayCluster } from './replay-cluster.ts'

/** The server itself writes it anew at a server-side apply by kubectl. */
const KUBECTL_COPY = 'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]'

/** Every place that the server would change in an object that ownership proved to be in sync; empty where each proof holds. */
export async function brokenProofs(
  { verdicts, syncer }: Observation,
  recording: CaseRecording,
  cluster: ReplayCluster,
  server: RecordedServer,
): Promise<string[]> {
  const broken: string[] = []
  for (const { desired, proof, state } of verdicts) {
    if (
      desired === undefined ||
      proof !== 'ownership' ||
      state !== 'in-sync' ||
      syncer === undefined
    )
      continue
    const key = computePredictionKey(desired, syncer.manager)
    const answer = recording.answers.find((one) => one.key === key)
    // The server may refuse on its side what an apply on the client side gets through.
    if (answer?.refused !== undefined && syncer.operation === 'Update') continue
    const predicted = answer?.object
    const live = (await cluster.readLive([desired])).get(getResourceKey(desired.id))
    if (predicted === undefined || live?.state !== 'present')
      throw new Error(`${nameOf(desired.id)}: its dry run was not recorded`)
    const schema = server.schemaOf(desired.apiVersion, desired.id.kind)
    for (const { path, live: value, predicted: git } of compareObjects(
      live.object,
      predicted,
      schema,
    )) {
      // The syncer's real apply has its marks in it; the recorded dry run is of the manifest alone.
      const isMark = git === undefined && listSyncersOfMark(path, value).length > 0
      if (formatFieldPath(path) !== KUBECTL_COPY && !isMark)
        broken.push(`${nameOf(desired.id)} ${formatFieldPath(path)}`)
    }
  }
  return broken
}
