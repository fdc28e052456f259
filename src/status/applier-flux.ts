/**
 * Flux: what a Kustomization and a HelmRelease do about drift. Sources: kustomize-controller `docs/spec/v1/kustomizations.md` (interval,
 * suspend, `reconcile: disabled`, `ssa`), helm-controller `docs/spec/v2/helmreleases.md` (drift detection, suspend).
 */

import { annotationsOf, labelsOf } from '../krm/resource.ts'
import type { JsonObject } from '../text/json.ts'
import { partOf } from './applier-claims.ts'
import { type DriftedField, ignoredByFlux } from './applier-ignores.ts'
import {
  absent,
  type Case,
  conditionReason,
  durationOf,
  type Exception,
  findOwn,
  type Judgement,
  titleOf,
  unreadable,
  withExceptions,
} from './applier-judgement.ts'
import { type Said, said } from './said.ts'

const ELSEWHERE = 'Flux runs in another cluster and applies to this one'

export function judgeKustomization({ claim, own, fields, byHand }: Case): Judgement {
  const title = titleOf(claim)
  const found = findOwn(own)
  if ('failure' in found) return found.failure === undefined ? absent(title, byHand, ELSEWHERE) : unreadable(title, found.failure)
  const { object } = found
  const at = `${claim.name} -n ${claim.namespace}`
  if (partOf(object, 'spec', 'suspend') === true) {
    return suspended(title, `flux resume kustomization ${at}`)
  }
  const interval = durationOf(object, 'spec', 'interval')
  const judgement: Judgement = {
    restores: 'at-interval',
    revertsUnasked: 'yes',
    sentence: said`${title} applies the package again as soon as its source has the merge, and every ${interval ?? 'interval of its own'} in any case: live may be back before anyone reviews`,
    command: undefined,
    warnings: [...notReady(title, object), ...notPruned(title, fields, partOf(object, 'spec', 'prune') === true)],
  }
  const exceptions = fields.flatMap((field) => exceptionOf(field, object))
  return withExceptions(judgement, title, fields, exceptions)
}

function exceptionOf(field: DriftedField, object: JsonObject): Exception[] {
  const marked = (key: string, ...values: readonly string[]): boolean => hasMark(field, `kustomize.toolkit.fluxcd.io/${key}`, values)
  if (marked('reconcile', 'disabled')) return [{ field, why: ['the object is marked reconcile: disabled'] }]
  if (marked('ssa', 'ignore')) return [{ field, why: ['the object is marked ssa: Ignore'] }]
  if (field.live !== undefined && marked('ssa', 'ifnotpresent')) return [{ field, why: ['the object is marked ssa: IfNotPresent'] }]
  return ignoreRule(field, partOf(object, 'spec', 'ignore'), 'spec.ignore')
}

export function judgeHelmRelease({ claim, own, fields, byHand }: Case): Judgement {
  const title = titleOf(claim)
  const found = findOwn(own)
  if ('failure' in found) return found.failure === undefined ? absent(title, byHand, ELSEWHERE) : unreadable(title, found.failure)
  const { object } = found
  const at = `${claim.name} -n ${claim.namespace}`
  const force = `flux reconcile helmrelease ${at} --force`
  const given = partOf(object, 'spec', 'driftDetection', 'mode')
  const mode = given === 'enabled' || given === 'warn' ? given : 'disabled'
  if (partOf(object, 'spec', 'suspend') === true) {
    const resume = `flux resume helmrelease ${at}`
    return suspended(title, mode === 'enabled' ? resume : `${resume} && ${force}`)
  }
  if (mode !== 'enabled') {
    return {
      restores: 'when-told',
      revertsUnasked: 'no',
      sentence: said`${title} does not put live back: its drift detection is ${[mode]}, and merging changes nothing in the cluster unless it makes a new release`,
      command: force,
      warnings: [...notReady(title, object), ['or set spec.driftDetection.mode of the HelmRelease to enabled']],
    }
  }
  const interval = durationOf(object, 'spec', 'interval')
  const judgement: Judgement = {
    restores: 'at-interval',
    revertsUnasked: 'yes',
    sentence: said`${title} puts live back every ${interval ?? 'interval of its own'} (drift detection is enabled): it may be back before anyone reviews`,
    command: undefined,
    warnings: notReady(title, object),
  }
  const exceptions = fields.flatMap((field): Exception[] => {
    if (hasMark(field, 'helm.toolkit.fluxcd.io/driftDetection', ['disabled'])) {
      return [{ field, why: ['the object is marked driftDetection: disabled'] }]
    }
    return ignoreRule(field, partOf(object, 'spec', 'driftDetection', 'ignore'), 'spec.driftDetection.ignore')
  })
  return withExceptions(judgement, title, fields, exceptions)
}

/** A rule that cannot be evaluated is told as a rule that may hold: a promise to restore would be the worse error. */
function ignoreRule(field: DriftedField, rules: JsonObject[string] | undefined, where: string): Exception[] {
  const ignored = ignoredByFlux(rules, field)
  if (ignored === 'no') return []
  return [{ field, why: ignored === 'yes' ? [`ignored by ${where}`] : [`perhaps ignored by ${where}, of which a target cannot be read`] }]
}

function hasMark({ live }: DriftedField, key: string, values: readonly string[]): boolean {
  if (live === undefined) return false
  const marks = [labelsOf(live).get(key), annotationsOf(live).get(key)]
  return marks.some((value) => value !== undefined && values.includes(value.toLowerCase()))
}

function suspended(title: Said, command: string): Judgement {
  return {
    restores: 'when-told',
    revertsUnasked: 'no',
    sentence: said`${title} is suspended: merging changes nothing in the cluster until it is resumed`,
    command,
    warnings: [],
  }
}

function notReady(title: Said, object: JsonObject): Said[] {
  const reason = conditionReason(object, 'Ready', 'False')
  return reason === undefined ? [] : [said`${title} is not ready now (${reason}): it may not get as far as applying`]
}

function notPruned(title: Said, fields: readonly DriftedField[], prune: boolean): Said[] {
  const unexpected = fields.filter(({ drift }) => drift.change === 'unexpected').length
  return unexpected === 0 || prune ? [] : [said`${title} does not prune: the unexpected objects stay`]
}
