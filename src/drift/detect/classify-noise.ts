import { getManagedFields } from '@backporch/kyaml/field'
import { describeResourceId, type ResourceId } from '@backporch/kyaml/resource'
import type { Drift, ObjectVerdict, SetAside, TriedRule } from '../compare/drift.ts'
import { AUTOSCALING_RULES } from '../noise/autoscaling.ts'
import { replaceItems } from '../noise/classify-ignored.ts'
import type { Surroundings } from '../noise/noise-rule.ts'
import { formatPresetName, NOISE_RULES } from '../noise/presets.ts'
import { mayBeAnybodys } from '../unowned/unowned-fields.ts'

export interface NoiseInput extends Pick<Surroundings, 'syncer' | 'scalers' | 'liveOf'> {
  readonly presets: readonly string[]
}

export function classifyNoise(verdict: ObjectVerdict, input: NoiseInput): ObjectVerdict {
  const { desired, live } = verdict
  if (desired === undefined || live === undefined || verdict.items.length === 0) return verdict
  const managed = getManagedFields(live)
  const surroundings: Surroundings = {
    ...input,
    desired: desired.object,
    live,
    managed,
    withoutOwners: mayBeAnybodys(managed),
  }
  // The plan needs a field's autoscaler even without its preset.
  const rules = NOISE_RULES.filter(
    (rule) => input.presets.includes(rule.name) || AUTOSCALING_RULES.includes(rule),
  )
  const setAside: SetAside[] = []
  const tried: TriedRule[] = []
  const noted = new Map<Drift, Drift>()
  const items = verdict.items.flatMap((drift): Drift[] => {
    if (drift.path.length === 0) return [drift]
    const because: string[] = []
    let scaler: ResourceId | undefined
    let releases = false
    for (const rule of rules) {
      const judgement = rule.judge(drift, surroundings)
      if (judgement === undefined) continue
      const name = formatPresetName(rule)
      scaler ??= judgement.scaler
      releases ||= !judgement.mutes && judgement.releases === true
      if (!input.presets.includes(rule.name)) continue
      if (judgement.mutes) {
        setAside.push({ drift, state: 'Ignored', why: `${judgement.why} (${name})`, rule: name })
        return []
      }
      tried.push({ path: drift.path, change: drift.change, rule: name, because: judgement.because })
      if (judgement.note === true) because.push(judgement.because)
    }
    if (scaler !== undefined) because.push(explainReleased(drift, scaler))
    if (because.length === 0) return [drift]
    const reported = {
      ...drift,
      notes: [...drift.notes, ...because],
      ...(scaler === undefined ? {} : { scaler }),
      ...(releases || scaler !== undefined ? { releases: true as const } : {}),
    }
    noted.set(drift, reported)
    return [reported]
  })
  if (setAside.length === 0 && tried.length === 0 && noted.size === 0) return verdict
  return {
    ...verdict,
    ...replaceItems(verdict, items),
    ...isMaybeBehind(verdict, items, noted),
    ...(tried.length === 0 ? {} : { tried }),
    setAside: [...verdict.setAside, ...setAside],
  }
}

function explainReleased({ lostWhenReleased }: Drift, scaler: ResourceId): string {
  const both = `${describeResourceId(scaler)} sets the field and git declares it, so that each undoes the other`
  return lostWhenReleased === true
    ? `${both}; Release would end that, and is refused as long as the syncer holds the field`
    : `${both}: Release ends that`
}

function isMaybeBehind(
  { mayBeBehind }: ObjectVerdict,
  items: readonly Drift[],
  noted: ReadonlyMap<Drift, Drift>,
): Pick<ObjectVerdict, 'mayBeBehind'> {
  if (mayBeBehind === undefined) return {}
  const open = [...mayBeBehind]
    .map((drift) => noted.get(drift) ?? drift)
    .filter((drift) => items.includes(drift))
  return open.length === 0 ? {} : { mayBeBehind: new Set(open) }
}
