/** Sets rightly absent objects aside. They stay in the verdict, with the rule and the reason. */
import type { ObjectVerdict, SetAside } from './drift.ts'
import { goneByDesign, type HookRunners } from './gone-by-design.ts'

/** Prefix of the rules that no policy switches off. */
export const BUILT_IN = 'built-in:'

/** The verdict with a rightly absent object set aside; any other verdict unchanged. */
export function setGoneAside(verdict: ObjectVerdict, runners: HookRunners): ObjectVerdict {
  const { desired, items, mayBeBehind: _open, ...rest } = verdict
  const [only] = items
  const gone =
    only?.change === 'missing' && desired !== undefined
      ? goneByDesign(desired.object, runners)
      : undefined
  if (only === undefined || gone === undefined) return verdict
  const rule = `${BUILT_IN}${gone.rule}`
  const aside: SetAside = { drift: only, state: 'Ignored', why: `${gone.why} (${rule})`, rule }
  return { ...rest, desired, state: 'in-sync', items: [], setAside: [...verdict.setAside, aside] }
}

/** Whether an object is rightly absent, so that it has no health. */
export function isGoneByDesign({
  items,
  setAside,
}: Pick<ObjectVerdict, 'items' | 'setAside'>): boolean {
  return (
    items.length === 0 &&
    setAside.some(
      ({ drift, rule }) => drift.change === 'missing' && rule?.startsWith(BUILT_IN) === true,
    )
  )
}
