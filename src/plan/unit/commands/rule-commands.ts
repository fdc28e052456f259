import { Failure } from '@backporch/kyaml/failure'
import { describeRule } from '../../../drift/noise/ignore-rules.ts'
import {
  type CommandResult,
  formatRulesText,
  SEE_BELOW,
} from '../../../proposal/text/command-answer.ts'
import type { CommentCommand } from '../../../proposal/text/comment-command.ts'
import { addSeconds } from '../../observation/drift-age.ts'
import {
  type CommandContext,
  getOwnership,
  type PlannedCommand,
  type PolicyChange,
  type RequestState,
  requireObservedState,
} from './command-state.ts'
import { addRules, listUnitRules, type PlacedRule, removeRules } from './comment-policy.ts'
import { assertOwner } from './comment-rights.ts'
import { createExactRules } from './exact-rules.ts'
import type { Requester } from './proposal-requests.ts'
import { findMeantChanges } from './resolution-request.ts'

export function ignore(
  context: CommandContext,
  requester: Requester,
  { selectors, duration, reason = '' }: CommentCommand,
  start: RequestState,
): PlannedCommand {
  const state = requireObservedState(start)
  const { requests, policies } = context
  const { unit } = requests
  const { report } = context.plan(state)
  const chosen = findMeantChanges(selectors, unit.numbered, report.spec.changes)
  assertOwner('ignore', chosen, requester, getOwnership(context))
  const { verdicts, key } = state.observation
  const expires =
    duration === undefined ? undefined : addSeconds(requester.at, duration).slice(0, 10)
  const rules = createExactRules({ chosen, verdicts, key, reason, expires })
  const file = addRules(requests.policyFiles, policies, unit, rules)
  return file === undefined
    ? { state, text: 'such a rule already exists' }
    : { state, text: '', policy: { verb: 'ignore', files: [file], rules } }
}

export function removeIgnoreRules(
  { requests: { unit, policyFiles }, policies }: CommandContext,
  selectors: readonly string[],
): PolicyChange {
  const all = listUnitRules(policies, unit)
  const placed = selectors.map((selector) => findNumberedRule(selector, all))
  if (placed.length === 0) throw createNoSuchRuleFailure(undefined, all.length)
  return {
    verb: 'unignore',
    files: removeRules(policyFiles, placed),
    rules: placed.map(({ rule }) => rule),
  }
}

function findNumberedRule(selector: string, rules: readonly PlacedRule[]): PlacedRule {
  const rule = /^[1-9][0-9]{0,4}$/.test(selector) ? rules[Number(selector) - 1] : undefined
  if (rule === undefined) throw createNoSuchRuleFailure(selector, rules.length)
  return rule
}

export function showRules(
  { policies, requests: { unit } }: CommandContext,
  { at: requested }: Requester,
): Pick<CommandResult, 'text' | 'details'> {
  const rules = listUnitRules(policies, unit)
  if (rules.length === 0) return { text: 'no ignore rule applies here' }
  const shown = rules.map(({ rule, policy, index }, at) => {
    const known = policy.ignore[index]
    return {
      number: at + 1,
      where: known?.where ?? policy.where,
      about: known === undefined ? '' : describeRule(known),
      reason: rule.reason,
      expires: rule.expires,
      over: rule.expires !== undefined && rule.expires < requested.slice(0, 10),
    }
  })
  return { text: SEE_BELOW, details: formatRulesText(shown) }
}

function createNoSuchRuleFailure(selector: string | undefined, count: number): Failure {
  return new Failure({
    code: 'BP1011',
    what:
      selector === undefined
        ? 'no rule is named'
        : `there is no ignore rule ${JSON.stringify(selector.slice(0, 40))}`,
    why: count === 0 ? 'no ignore rule applies here' : `${count} apply here, numbered from 1`,
    remedy: 'write /show ignores, and name a number of its list',
    retry: 'on-change',
  })
}
