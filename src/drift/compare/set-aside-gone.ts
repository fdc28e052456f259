/** They stay in the verdict. */
import type { ObjectVerdict, SetAside } from './drift.ts'
import { findGoneByDesignRule, type HookRunners } from './gone-by-design.ts'

export const BUILT_IN = 'built-in:'

export function setGoneAside(verdict: ObjectVerdict, runners: HookRunners): ObjectVerdict {
  const { desired, items, mayBeBehind: _open, ...rest } = verdict
  const [only] = items
  const gone =
    only?.change === 'missing' && desired !== undefined
      ? findGoneByDesignRule(desired.object, runners)
      : undefined
  if (only === undefined || gone === undefined) return verdict
  const rule = `${BUILT_IN}${gone.rule}`
  const aside: SetAside = { drift: only, state: 'Ignored', why: `${gone.why} (${rule})`, rule }
  return { ...rest, desired, state: 'in-sync', items: [], setAside: [...verdict.setAside, aside] }
}

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
