/** As argo-cd `docs/user-guide/{auto_sync,sync-options,skip_reconcile}.md`. */
import { getPartAt, isJsonArray, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { getAnnotations } from '@backporch/kyaml/resource'
import { type Phrase, phrase } from '@backporch/kyaml/text'
import type { Judgement } from './syncer.ts'

const SKIP_RECONCILE = 'argocd.argoproj.io/skip-reconcile'

interface SyncPolicy {
  readonly automated: boolean
  readonly selfHeal: boolean
  readonly prune: boolean
  readonly respects: boolean
  readonly skipped: boolean
}

export function getSyncPolicy(own: JsonObject): SyncPolicy {
  const automated = getPartAt(own, 'spec', 'syncPolicy', 'automated')
  const options = getPartAt(own, 'spec', 'syncPolicy', 'syncOptions')
  return {
    automated: isJsonObject(automated) && getPartAt(automated, 'enabled') !== false,
    selfHeal: isJsonObject(automated) && getPartAt(automated, 'selfHeal') === true,
    prune: isJsonObject(automated) && getPartAt(automated, 'prune') === true,
    respects: isJsonArray(options) && options.includes('RespectIgnoreDifferences=true'),
    skipped: getAnnotations(own).get(SKIP_RECONCILE) === 'true',
  }
}

export function judgePolicy(
  title: Phrase,
  policy: SyncPolicy,
  sync: string,
): Omit<Judgement, 'warnings'> {
  if (policy.skipped) {
    return {
      restores: 'never',
      revertsUnasked: 'no',
      sentence: phrase`${title} is not reconciled (it is marked skip-reconcile): merging changes nothing in the cluster until the mark is removed`,
      command: undefined,
    }
  }
  if (!policy.automated) {
    return {
      restores: 'when-told',
      revertsUnasked: 'no',
      sentence: phrase`${title} is synced by hand: merging changes nothing in the cluster until somebody syncs it`,
      command: sync,
    }
  }
  if (policy.selfHeal) {
    return {
      restores: 'at-once',
      revertsUnasked: 'yes',
      sentence: phrase`${title} heals itself: it syncs again within seconds after live differs, so live may be restored before the review`,
      command: undefined,
    }
  }
  return {
    restores: 'at-interval',
    revertsUnasked: 'no',
    sentence: phrase`${title} syncs once for each new commit of its path, including the merge, when it next polls git (within about 3 minutes by default)`,
    command: sync,
  }
}
