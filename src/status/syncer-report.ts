import { getResourceKey, type LiveView } from '@backporch/kyaml/resource'
import { formatPhrase } from '@backporch/kyaml/text'
import { formatClaimTitle } from '../syncers/claims.ts'
import { getApplierKind } from '../syncers/registry.ts'
import { type Claim, NO_SYNCER_REPORT, type SyncerReport } from '../syncers/syncer.ts'

/**
 * Only what all of them report, because each applies its own commit.
 * @param own by `getResourceKey`; an unreadable resource is ignored
 */
export function createSyncerReport(claims: readonly Claim[], own: LiveView): SyncerReport {
  const reports = claims.map((claim) => {
    const found = claim.wanted
      .map(({ id }) => own.get(getResourceKey(id)))
      .find((state) => state?.state === 'present')
    return found?.state === 'present'
      ? getApplierKind(claim.tool).report(found.object, formatPhrase(formatClaimTitle(claim)))
      : NO_SYNCER_REPORT
  })
  const applied = new Set(reports.map((report) => report.applied))
  const [only] = applied
  return {
    applied: applied.size === 1 ? only : undefined,
    atWork: reports.find(({ atWork }) => atWork !== undefined)?.atWork,
    suspended: reports.every(({ suspended }) => suspended !== undefined)
      ? reports[0]?.suspended
      : undefined,
    title: reports.find(({ title }) => title !== undefined)?.title,
    says: reports.find(({ says }) => says !== undefined)?.says,
    failed: reports.find(({ failed }) => failed !== undefined)?.failed,
    unappliedSince: reports.every(({ unappliedSince }) => unappliedSince !== undefined)
      ? reports[0]?.unappliedSince
      : undefined,
    interval: reports.reduce<number | undefined>(
      (most, { interval }) => (interval === undefined ? most : Math.max(most ?? 0, interval)),
      undefined,
    ),
  }
}
