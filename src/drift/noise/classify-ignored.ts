/** Sets differences aside that an ignore rule covers. They stay in the verdict for `--show-ignored`. */
import type { ObjectVerdict, SetAside } from '../compare/drift.ts'
import { type IgnoreRule, ruleThatIgnores } from './ignore-rules.ts'

/** @param today the day of the observation, `YYYY-MM-DD`, UTC */
export function classifyIgnored(
  verdict: ObjectVerdict,
  rules: readonly IgnoreRule[],
  today: string,
): ObjectVerdict {
  const setAside: SetAside[] = []
  const items = verdict.items.filter((drift) => {
    const rule = ruleThatIgnores(drift, rules, today, verdict)
    if (rule === undefined) return true
    setAside.push({
      drift,
      state: 'Ignored',
      why: `${rule.reason} (${rule.where})`,
      rule: rule.where,
    })
    return false
  })
  return setAside.length === 0
    ? verdict
    : { ...verdict, ...withItems(verdict, items), setAside: [...verdict.setAside, ...setAside] }
}

/** Items and state after some were set aside; without items the proof decides. */
export function withItems(
  verdict: ObjectVerdict,
  items: ObjectVerdict['items'],
): Pick<ObjectVerdict, 'items' | 'state'> {
  if (items.length > 0 || verdict.state !== 'drifted') return { items, state: verdict.state }
  if (verdict.proof !== 'none' || verdict.failure === undefined) return { items, state: 'in-sync' }
  return { items, state: verdict.reapplyFails === undefined ? 'unverified' : 'blocked' }
}
