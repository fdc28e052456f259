/**
 * Config Sync, kpt live, Sveltos, Fleet, kapp and Helm. Sources: kpt-config-sync `pkg/remediator` and `pkg/metadata/annotations.go`,
 * cli-utils `pkg/common/common.go` (lifecycle annotations), addon-controller `api/v1beta1/spec.go` (sync modes). Sveltos, Fleet
 * and kapp are after their sources only; none of them was run.
 */
import { annotationsOf } from '../krm/resource.ts'
import { partOf } from './applier-claims.ts'
import type { DriftedField } from './applier-ignores.ts'
import {
  absent,
  type Case,
  conditionReason,
  type Exception,
  findOwn,
  type Judgement,
  titleOf,
  unreadable,
  withExceptions,
} from './applier-judgement.ts'
import { type Said, said } from './said.ts'

/** A RootSync or RepoSync: the remediator watches what it applied and puts it back; it cannot be told to wait. */
export function judgeConfigSync({ claim, own, fields, byHand }: Case): Judgement {
  const title = titleOf(claim)
  const found = findOwn(own)
  if ('failure' in found) return found.failure === undefined ? absent(title, byHand, undefined) : unreadable(title, found.failure)
  const stalled = conditionReason(found.object, 'Stalled', 'True')
  const errors = partOf(found.object, 'status', 'sync', 'errorSummary', 'totalCount')
  const warnings: Said[] = [
    ...(stalled === undefined ? [] : [said`${title} is stalled (${stalled})`]),
    ...(typeof errors === 'number' && errors > 0
      ? [said`${title} has ${[String(errors)]} sync ${[errors === 1 ? 'error' : 'errors']}`]
      : []),
  ]
  const judgement: Judgement = {
    restores: 'at-once',
    revertsUnasked: 'yes',
    sentence: said`${title} watches the objects and applies them again within seconds, merge or no merge: live may be back before anyone reviews`,
    command: undefined,
    warnings,
  }
  return withExceptions(judgement, title, fields, fields.flatMap(mutationIgnored))
}

/** `kpt live apply` runs where somebody runs it: nothing in the cluster repeats it. */
export function judgeKptLive({ claim, fields }: Case, folder: string): Judgement {
  const title = titleOf(claim)
  const judgement: Judgement = {
    restores: 'when-told',
    revertsUnasked: 'no',
    sentence: said`${title} applied the package, and nothing in the cluster repeats it: after the merge a pipeline or a person has to run it again`,
    command: `kpt live apply ${folder}`,
    warnings: [],
  }
  return withExceptions(judgement, title, fields, fields.flatMap(mutationIgnored))
}

function mutationIgnored(field: DriftedField): Exception[] {
  const { live } = field
  const ignored = live !== undefined && annotationsOf(live).get('client.lifecycle.config.k8s.io/mutation') === 'ignore'
  return ignored ? [{ field, why: ['the object is marked mutation: ignore'] }] : []
}

export function judgeSveltos({ claim, own, byHand }: Case): Judgement {
  const title = titleOf(claim)
  const found = findOwn(own)
  if (own.length === 0 || 'failure' in found) {
    const failure = 'failure' in found ? found.failure : undefined
    return failure === undefined
      ? { ...absent(title, byHand, 'Sveltos runs in a management cluster'), warnings: [] }
      : unreadable(title, failure)
  }
  const mode = partOf(found.object, 'spec', 'syncMode')
  if (mode === 'ContinuousWithDriftDetection') {
    return {
      restores: 'at-once',
      revertsUnasked: 'yes',
      sentence: said`${title} watches the objects and deploys them again when one changes: live may be back before anyone reviews`,
      command: undefined,
      warnings: [],
    }
  }
  if (mode === 'OneTime' || mode === 'DryRun') {
    return {
      restores: 'never',
      revertsUnasked: 'no',
      sentence: said`${title} deploys nothing again (syncMode ${[mode]}): merging changes nothing in the cluster`,
      command: byHand,
      warnings: [],
    }
  }
  return {
    restores: 'unknown',
    revertsUnasked: 'no',
    sentence: said`${title} deploys again when the content that it has changes, which the merge of a Restore alone may not do`,
    command: byHand,
    warnings: [],
  }
}

/** What decides lies in the management cluster. */
export function judgeFleet({ claim }: Case): Judgement {
  const title = titleOf(claim)
  return {
    restores: 'unknown',
    revertsUnasked: 'unknown',
    sentence: said`${title} applies the package; it puts live back where correctDrift is enabled, which is told in the management cluster only`,
    command: undefined,
    warnings: [],
  }
}

export function judgeKapp({ claim }: Case): Judgement {
  const title = titleOf(claim)
  return {
    restores: 'unknown',
    revertsUnasked: 'unknown',
    sentence: said`${title} applied the package; whether kapp-controller repeats it, or somebody has to run kapp deploy, the objects do not tell`,
    command: undefined,
    warnings: [],
  }
}

export function judgeHelm({ claim }: Case): Judgement {
  const title = titleOf(claim)
  return {
    restores: 'when-told',
    revertsUnasked: 'no',
    sentence: said`${title} was made by whoever runs Helm, and nothing in the cluster repeats it: after the merge helm upgrade has to be run again`,
    command: undefined,
    warnings: [],
  }
}
