import type { ObjectVerdict, SetAside } from '../compare/drift.ts'
import { findIgnoringRule, type IgnoreRule } from './ignore-rules.ts'

export function classifyIgnored(
  verdict: ObjectVerdict,
  rules: readonly IgnoreRule[],
  today: string,
): ObjectVerdict {
  const setAside: SetAside[] = []
  const items = verdict.items.filter((drift) => {
    const rule = findIgnoringRule(drift, rules, today, verdict)
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
    : { ...verdict, ...replaceItems(verdict, items), setAside: [...verdict.setAside, ...setAside] }
}

export function replaceItems(
  verdict: ObjectVerdict,
  items: ObjectVerdict['items'],
): Pick<ObjectVerdict, 'items' | 'state'> {
  if (items.length > 0 || verdict.state !== 'drifted') return { items, state: verdict.state }
  if (verdict.proof !== 'none' || verdict.failure === undefined) return { items, state: 'in-sync' }
  return { items, state: verdict.reapplyFails === undefined ? 'unverified' : 'blocked' }
}
