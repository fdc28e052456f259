/** `/ignore` and `/unignore`: a reviewed proposal that changes the policy. */
import { Failure } from '../failure.ts'
import { type PlacedRule, removeRules, rulesFor } from '../plan/comment-policy.ts'
import { exactRules } from '../plan/exact-rules.ts'
import type { Observation } from '../plan/observation.ts'
import { markdownCell, markdownLink } from '../record/markdown-text.ts'
import type { Change } from '../record/schema.ts'
import type { Asker, Desk } from './answer-desk.ts'
import { ignoreChange, type PolicyChange, policyFiles, proposePolicy } from './propose-policy.ts'

/** @param end RFC 3339 UTC; undefined for a rule that does not end. @returns Markdown */
export async function proposeIgnore(
  desk: Desk,
  { verdicts, key }: Pick<Observation, 'verdicts' | 'key'>,
  chosen: readonly Change[],
  { reason, end }: { readonly reason: string; readonly end: string | undefined },
  asker: Asker,
): Promise<string> {
  const change = await ignoreChange(desk, exactRules({ chosen, verdicts, key, reason, expires: end?.slice(0, 10) }))
  return change === undefined ? 'such a rule holds already' : propose(desk, change, asker)
}

/** @param selectors numbers as `/show ignores` lists them. @returns Markdown */
export async function proposeUnignore(desk: Desk, selectors: readonly string[], asker: Asker): Promise<string> {
  const { unit, view, signal } = desk
  const all = rulesFor(view.policies, unit)
  const placed = selectors.map((selector) => ruleNumber(selector, all))
  if (placed.length === 0) throw noSuchRule('', all.length)
  const files = removeRules(await policyFiles(view, signal), placed)
  return propose(desk, { verb: 'unignore', files, rules: placed.map(({ rule }) => rule) }, asker)
}

/** The same whether it was opened now or before: what is said twice is one text. */
async function propose(desk: Desk, change: PolicyChange, { login, comment, at }: Asker): Promise<string> {
  const { opened, ref } = await proposePolicy(desk, change, { login, wish: comment, at, proposal: desk.unit.proposal })
  const link = opened === undefined ? markdownCell(ref, 200) : markdownLink(markdownCell(opened.label, 60), opened.url)
  return `${link} asks for it, and it holds when that is merged`
}

function ruleNumber(selector: string, rules: readonly PlacedRule[]): PlacedRule {
  const rule = /^[1-9][0-9]{0,4}$/.test(selector) ? rules[Number(selector) - 1] : undefined
  if (rule === undefined) throw noSuchRule(selector, rules.length)
  return rule
}

function noSuchRule(selector: string, count: number): Failure {
  return new Failure({
    code: 'BP1011',
    what: selector === '' ? 'no rule is named' : `there is no ignore rule ${JSON.stringify(selector.slice(0, 40))}`,
    why: count === 0 ? 'no ignore rule holds here' : `${count} hold here, numbered from 1`,
    remedy: 'say /show ignores, and name a number of its list',
    retry: 'on-change',
  })
}
