/**
 * Argo CD: what an Application does about drift. Sources: argo-cd `docs/user-guide/auto_sync.md`, `sync-options.md`,
 * `diffing.md`, `skip_reconcile.md`, `docs/operator-manual/app-any-namespace.md`. Sync windows (of the AppProject) and ignore rules of
 * the whole installation (`argocd-cm`) are not looked at.
 */

import { annotationsOf } from '../krm/resource.ts'
import { isJsonArray, isJsonObject, type JsonObject } from '../text/json.ts'
import { partOf } from './applier-claims.ts'
import { ignoredByArgo } from './applier-ignores.ts'
import { absent, type Case, describeField, findOwn, type Judgement, titleOf, unreadable } from './applier-judgement.ts'
import { listed, type Said, said } from './said.ts'

export function judgeApplication({ claim, own, fields, byHand }: Case): Judgement {
  const found = findOwn(own)
  const title = titleOf(claim)
  if ('failure' in found) {
    if (found.failure !== undefined) return unreadable(title, found.failure)
    const places = listed(own.map(({ wanted }) => said`${wanted.id.namespace}`))
    const nowhere = absent(title, byHand, 'Argo CD has it in another namespace or runs in another cluster')
    return { ...nowhere, warnings: [said`looked for it in ${places}`] }
  }
  const { object, wanted } = found
  const { namespace } = wanted.id
  const here = titleOf({ ...claim, namespace })
  const policy = policyOf(object)
  const unexpected = fields.some(({ drift }) => drift.change === 'unexpected')
  // The namespace may be left out where it is Argo CD's own.
  const sync = `argocd app sync ${namespace === 'argocd' ? '' : `${namespace}/`}${claim.name}${unexpected ? ' --prune' : ''}`
  const ignored = fields.filter((field) => ignoredByArgo(partOf(object, 'spec', 'ignoreDifferences'), field) === 'yes')
  const perhaps = fields.filter((field) => ignoredByArgo(partOf(object, 'spec', 'ignoreDifferences'), field) === 'unknown')
  const ignoredText = listed(ignored.map(describeField))
  if (fields.length > 0 && ignored.length === fields.length) {
    return policy.respects
      ? {
          restores: 'never',
          revertsUnasked: 'no',
          sentence: said`${here} leaves alone, whatever is merged: ${ignoredText} (spec.ignoreDifferences, with RespectIgnoreDifferences)`,
          command: undefined,
          warnings: [],
        }
      : {
          restores: 'when-told',
          revertsUnasked: 'no',
          sentence: said`${here} does not see the difference (spec.ignoreDifferences has ${ignoredText}), so merging starts no sync; one that is started applies it`,
          command: sync,
          warnings: [],
        }
  }
  const warnings: Said[] = [
    ...(ignored.length === 0
      ? []
      : [said`${here} ignores ${ignoredText} (spec.ignoreDifferences)${policy.respects ? ' and never restores it' : ''}`]),
    ...(perhaps.length === 0
      ? []
      : [said`${here} may ignore ${listed(perhaps.map(describeField))}: spec.ignoreDifferences has jq expressions that are not evaluated`]),
    ...(unexpected && policy.automated && !policy.prune ? [said`${here} does not prune by itself: the unexpected objects stay`] : []),
    ...lastSync(here, object),
  ]
  return { ...judgePolicy(here, policy, sync), warnings }
}

interface SyncPolicy {
  readonly automated: boolean
  readonly selfHeal: boolean
  readonly prune: boolean
  readonly respects: boolean
  readonly skipped: boolean
}

function policyOf(object: JsonObject): SyncPolicy {
  const automated = partOf(object, 'spec', 'syncPolicy', 'automated')
  const options = partOf(object, 'spec', 'syncPolicy', 'syncOptions')
  return {
    automated: isJsonObject(automated) && partOf(automated, 'enabled') !== false,
    selfHeal: isJsonObject(automated) && partOf(automated, 'selfHeal') === true,
    prune: isJsonObject(automated) && partOf(automated, 'prune') === true,
    respects: isJsonArray(options) && options.includes('RespectIgnoreDifferences=true'),
    skipped: annotationsOf(object).get('argocd.argoproj.io/skip-reconcile') === 'true',
  }
}

function judgePolicy(title: Said, policy: SyncPolicy, sync: string): Omit<Judgement, 'warnings'> {
  if (policy.skipped) {
    return {
      restores: 'never',
      revertsUnasked: 'no',
      sentence: said`${title} is not reconciled (it is marked skip-reconcile): merging changes nothing in the cluster until the mark is removed`,
      command: undefined,
    }
  }
  if (!policy.automated) {
    return {
      restores: 'when-told',
      revertsUnasked: 'no',
      sentence: said`${title} is synced by hand: merging changes nothing in the cluster until somebody syncs it`,
      command: sync,
    }
  }
  if (policy.selfHeal) {
    return {
      restores: 'at-once',
      revertsUnasked: 'yes',
      sentence: said`${title} heals itself: it syncs again within seconds after live differs, so live may be back before anyone reviews`,
      command: undefined,
    }
  }
  return {
    restores: 'at-interval',
    revertsUnasked: 'no',
    sentence: said`${title} syncs once for each new commit of its path, the merge among them, when it next looks at git (within about 3 minutes where nobody changed that)`,
    command: undefined,
  }
}

/** A commit whose sync failed is not tried again (`auto_sync.md`), the next one is; what made it fail may still be there. */
function lastSync(title: Said, object: JsonObject): Said[] {
  const phase = partOf(object, 'status', 'operationState', 'phase')
  return phase === 'Failed' || phase === 'Error' ? [said`the last sync of ${title} failed`] : []
}
