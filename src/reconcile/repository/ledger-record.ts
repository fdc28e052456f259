import { API_VERSION } from '../../record/documents/document.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { isSameDocument } from '../../record/write-document.ts'

export function buildRecord({ spec, status, metadata: { annotations } }: DriftReport): DriftRecord {
  const { episode, since, lifecycle, plan } = status
  const open = {
    episode,
    began: since,
    lifecycle: lifecycle === 'Draft' ? lifecycle : 'Proposed',
    plan: plan === '' ? 'Restore' : plan,
  } as const
  const unknown = { policy: { name: '', mode: '' }, settle: 'syncer', keyId: '' } as const
  const metadata = { name: `drift-${episode}`, annotations }
  return {
    apiVersion: API_VERSION,
    kind: 'DriftRecord',
    metadata,
    spec: { ...spec, ...open, ...unknown },
  }
}

/** Same changes with the same decisions. Only Backporch writes the ledger. */
export function matchesReport(
  { spec }: DriftRecord,
  { spec: { fingerprint, changes }, status: { episode, plan } }: DriftReport,
): boolean {
  const isSame =
    spec.episode === episode &&
    spec.fingerprint === fingerprint &&
    (plan === '' || spec.plan === plan)
  return isSame && isSameDocument(spec.changes, changes)
}
