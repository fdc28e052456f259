/**
 * Checks that a name still means the same cluster. In another cluster, every object would be
 * missing.
 */
import type { ClusterIdentity } from '@backporch/cluster/cluster'
import { Failure } from '@backporch/kyaml/failure'
import { hashIdentity } from '../../plan/observation/ledger-files.ts'
import { clusterObservationSchema } from '../../record/documents/cluster-observation.ts'
import { formatLedgerObservationPath } from '../../record/record-paths.ts'
import { parseDocument } from '../../record/write-document.ts'
import { readTexts } from '../../sources/commit/commit-files.ts'
import type { RepositoryView } from '../repository/repository-view.ts'

/** @throws Failure BP3015 if the ledger knows another cluster by this name */
export async function assertSameCluster(
  view: RepositoryView,
  name: string,
  { uid, hasNoUid = false }: ClusterIdentity,
  signal: AbortSignal,
): Promise<void> {
  const path = formatLedgerObservationPath(name)
  const file = view.ledgerTree.find((candidate) => candidate.path === path)
  if (file === undefined || (uid === undefined && !hasNoUid)) return
  const text = (await readTexts(view.repository, [file], signal)).get(path) ?? ''
  const before = parseDocument(text, clusterObservationSchema, `drift-ledger:${path}`).status
    .identity
  if (before === '' || (uid !== undefined && before === hashIdentity(uid))) return
  throw new Failure({
    code: 'BP3015',
    what: `${name} is another cluster than the one observed before`,
    where: `drift-ledger:${path}`,
    // A new API server serves lists before it has created its namespaces.
    why: hasNoUid
      ? 'it has no kube-system namespace, and the one in the ledger had one'
      : 'the uid of its kube-system namespace is not the one in the ledger',
    remedy: `give this cluster another name with --cluster, or delete clusters/${name} on the drift-ledger branch`,
    retry: hasNoUid ? 'backoff' : 'on-change',
  })
}
