/**
 * What the syncers of a package say about themselves: which commit they applied, whether they are at work, whether they are told to
 * do nothing. Sources: kustomize-controller `docs/spec/v1/kustomizations.md` and helm-controller `docs/spec/v2/helmreleases.md`
 * (suspend, conditions, lastAppliedRevision), argo-cd `pkg/apis/application/v1alpha1/types.go` (operationState, history) and
 * `docs/user-guide/skip_reconcile.md`, kpt-config-sync `pkg/api/configsync/v1beta1` (Syncing, lastSyncedCommit).
 */
import { NO_SYNCER_REPORT, type SyncerReport } from '../drift/behind/sync-evidence.ts'
import type { LiveView } from '../krm/live-view.ts'
import { annotationsOf } from '../krm/resource.ts'
import { resourceKey } from '../krm/resource-id.ts'
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../text/json.ts'
import { type Claim, partOf } from './applier-claims.ts'
import { titleOf } from './applier-judgement.ts'
import { plain } from './said.ts'

/**
 * Of several syncers only what all of them say: a commit that one of them applied is not what another one did.
 * @param own the syncers' own resources, by `resourceKey`; what could not be read says nothing
 */
export function syncerReportOf(claims: readonly Claim[], own: LiveView): SyncerReport {
  const reports = claims.map((claim) => {
    const found = claim.wanted.map(({ id }) => own.get(resourceKey(id))).find((state) => state?.state === 'present')
    return found?.state === 'present' ? reportOf(claim, found.object) : NO_SYNCER_REPORT
  })
  const applied = new Set(reports.map((report) => report.applied))
  const [only] = applied
  return {
    applied: applied.size === 1 ? only : undefined,
    atWork: reports.find(({ atWork }) => atWork !== undefined)?.atWork,
    suspended: reports.every(({ suspended }) => suspended !== undefined) ? reports[0]?.suspended : undefined,
    title: reports.find(({ title }) => title !== undefined)?.title,
    says: reports.find(({ says }) => says !== undefined)?.says,
    interval: reports.reduce<number | undefined>(
      (most, { interval }) => (interval === undefined ? most : Math.max(most ?? 0, interval)),
      undefined,
    ),
  }
}

function reportOf(claim: Claim, object: JsonObject): SyncerReport {
  const title = plain(titleOf(claim))
  const said = (says: boolean, what: string): string | undefined => (says ? `${title} ${what}` : undefined)
  const atWork = 'is at work'
  switch (claim.tool) {
    case 'flux-kustomization':
    case 'flux-helmrelease':
      return {
        applied: commitIn(partOf(object, 'status', 'lastAppliedRevision')),
        atWork: said(hasCondition(object, 'Reconciling', 'True') || hasCondition(object, 'Ready', 'Unknown'), atWork),
        suspended: said(partOf(object, 'spec', 'suspend') === true, 'is suspended'),
        title,
        says: saysOf(title, object, ['Stalled', 'True'], ['Ready', 'False']),
        interval: durationOf(partOf(object, 'spec', 'interval')),
      }
    case 'argo-application':
      return {
        applied: commitIn(lastSync(object)),
        atWork: said(partOf(object, 'status', 'operationState', 'phase') === 'Running', atWork),
        suspended: said(annotationsOf(object).get('argocd.argoproj.io/skip-reconcile') === 'true', 'is marked skip-reconcile'),
        title,
        says: argoSays(title, object),
        interval: undefined,
      }
    case 'config-sync':
      return {
        applied: commitIn(partOf(object, 'status', 'lastSyncedCommit')),
        atWork: said(hasCondition(object, 'Syncing', 'True'), atWork),
        suspended: undefined,
        title,
        says: saysOf(title, object, ['Stalled', 'True']),
        interval: durationOf(partOf(object, 'spec', 'git', 'period')),
      }
    default:
      return NO_SYNCER_REPORT
  }
}

/** Of whole syncs only: a sync of single resources is in no history (argo-cd `docs/user-guide/selective_sync.md`). */
function lastSync(object: JsonObject): Json | undefined {
  const history = partOf(object, 'status', 'history')
  const last = isJsonArray(history) ? history.at(-1) : undefined
  return isJsonObject(last) ? partOf(last, 'revision') : undefined
}

/** `main@sha1:<40 hex>`, `main/<40 hex>` of older versions, or the commit alone; undefined for the version of a chart or a tag. */
function commitIn(revision: Json | undefined): string | undefined {
  return typeof revision === 'string' ? /(?:^|[:/])([0-9a-f]{40})$/.exec(revision)?.[1] : undefined
}

/** What is wrong, by type and reason: the sentence of a condition may quote anything. */
function saysOf(title: string, object: JsonObject, ...wrong: readonly (readonly [type: string, status: string])[]): string | undefined {
  const conditions = partOf(object, 'status', 'conditions')
  for (const [type, status] of wrong) {
    const found = (isJsonArray(conditions) ? conditions : []).find(
      (each) => isJsonObject(each) && partOf(each, 'type') === type && partOf(each, 'status') === status,
    )
    if (isJsonObject(found)) return `${title} says ${type} is ${status}: ${wordIn(partOf(found, 'reason'))}`
  }
  return undefined
}

function argoSays(title: string, object: JsonObject): string | undefined {
  const phase = partOf(object, 'status', 'operationState', 'phase')
  return phase === 'Failed' || phase === 'Error' ? `${title} says its last sync is ${phase}` : undefined
}

/** A reason of a condition is one word (Kubernetes API conventions). */
function wordIn(reason: Json | undefined): string {
  return typeof reason === 'string' && /^[A-Za-z][A-Za-z0-9_,:]{0,99}$/.test(reason) ? reason : 'no reason'
}

/** Seconds of a duration as Go writes it: `10m0s`, `1h`, `15s`. */
function durationOf(text: Json | undefined): number | undefined {
  const parts = typeof text === 'string' ? /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})(?:\.\d+)?s)?$/.exec(text) : null
  if (parts === null) return undefined
  const [hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part) => Number(part ?? 0))
  return hours * 3_600 + minutes * 60 + seconds
}

function hasCondition(object: JsonObject, type: string, status: string): boolean {
  const conditions = partOf(object, 'status', 'conditions')
  return (
    isJsonArray(conditions) &&
    conditions.some((each) => isJsonObject(each) && partOf(each, 'type') === type && partOf(each, 'status') === status)
  )
}
