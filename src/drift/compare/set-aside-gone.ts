/** Sets missing objects aside that are rightly not there. They stay in the verdict, with the rule and why. */
import type { ObjectVerdict, SetAside } from '../drift.ts'
import { goneByDesign, type HookRunners } from './gone-by-design.ts'

/** Before the names of rules that are no preset and cannot be switched off, because they are how the tools and the cluster work. */
export const BUILT_IN = 'built-in:'

/** The verdict on a declared object that is absent, when that is as it should be; any other verdict as it was. */
export function setGoneAside(verdict: ObjectVerdict, runners: HookRunners): ObjectVerdict {
  const { desired, items, mayBeBehind: _open, ...rest } = verdict
  const [only] = items
  const gone = only?.change === 'missing' && desired !== undefined ? goneByDesign(desired.object, runners) : undefined
  if (only === undefined || gone === undefined) return verdict
  const rule = `${BUILT_IN}${gone.rule}`
  const aside: SetAside = { drift: only, state: 'Ignored', why: `${gone.why} (${rule})`, rule }
  return { ...rest, desired, state: 'in-sync', items: [], setAside: [...verdict.setAside, aside] }
}

/** Whether an object is absent as it should be: it then has no health either. */
export function isGoneByDesign({ items, setAside }: Pick<ObjectVerdict, 'items' | 'setAside'>): boolean {
  return items.length === 0 && setAside.some(({ drift, rule }) => drift.change === 'missing' && rule?.startsWith(BUILT_IN) === true)
}
