/** Sets differences aside that a preset rule knows the cause of. They stay in the verdict, with the rule and why, as ignored ones do. */
import { managedFieldsOf } from '../krm/managed-fields.ts'
import { withItems } from './classify-ignored.ts'
import type { Drift, ObjectVerdict, SetAside, TriedRule } from './drift.ts'
import type { Surroundings } from './noise/noise-rule.ts'
import { NOISE_RULES, presetName } from './noise/presets.ts'

export interface NoiseInput extends Pick<Surroundings, 'syncer' | 'scalers' | 'liveOf'> {
  /** Names of the rules that hold, as `rulesOf` gives them. */
  readonly presets: readonly string[]
}

/** Differences of whole objects are never noise. The verdict keeps which rules could have applied and did not, and why. */
export function classifyNoise(verdict: ObjectVerdict, input: NoiseInput): ObjectVerdict {
  const { desired, live } = verdict
  if (desired === undefined || live === undefined || verdict.items.length === 0) return verdict
  const surroundings: Surroundings = { ...input, desired: desired.object, live, managed: managedFieldsOf(live) }
  const rules = NOISE_RULES.filter(({ name }) => input.presets.includes(name))
  const setAside: SetAside[] = []
  const tried: TriedRule[] = []
  const noted = new Map<Drift, Drift>()
  const items = verdict.items.flatMap((drift): Drift[] => {
    if (drift.path.length === 0) return [drift]
    const because: string[] = []
    for (const rule of rules) {
      const judgement = rule.judge(drift, surroundings)
      if (judgement === undefined) continue
      const name = presetName(rule)
      if (judgement.mutes) {
        setAside.push({ drift, state: 'Ignored', why: `${judgement.why} (${name})`, rule: name })
        return []
      }
      tried.push({ path: drift.path, change: drift.change, rule: name, because: judgement.because })
      if (judgement.note === true) because.push(judgement.because)
    }
    if (because.length === 0) return [drift]
    const told = { ...drift, notes: [...drift.notes, ...because] }
    noted.set(drift, told)
    return [told]
  })
  if (setAside.length === 0 && tried.length === 0) return verdict
  return {
    ...verdict,
    ...withItems(verdict, items),
    ...mayBeBehindOf(verdict, items, noted),
    ...(tried.length === 0 ? {} : { tried }),
    setAside: [...verdict.setAside, ...setAside],
  }
}

/** The set names its members by identity, so one that got a note is another member. */
function mayBeBehindOf(
  { mayBeBehind }: ObjectVerdict,
  items: readonly Drift[],
  noted: ReadonlyMap<Drift, Drift>,
): Pick<ObjectVerdict, 'mayBeBehind'> {
  if (mayBeBehind === undefined) return {}
  const open = [...mayBeBehind].map((drift) => noted.get(drift) ?? drift).filter((drift) => items.includes(drift))
  return open.length === 0 ? {} : { mayBeBehind: new Set(open) }
}
