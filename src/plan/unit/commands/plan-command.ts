/** One command: what it changes in the plan of the unit, and what is answered. Nothing is written here. */
import { Failure } from '@backporch/kyaml/failure'
import { markdownCell, markdownProse } from '@backporch/kyaml/markdown'
import { type Note, sentenceOf } from '@backporch/kyaml/note'
import { given } from '@backporch/kyaml/text'
import {
  describeRule,
  isActive,
  mismatchText,
  whyNotIgnored,
} from '../../../drift/noise/ignore-rules.ts'
import { RISK_RULES } from '../../../drift/risk/risk.ts'
import { assertNewestPolicy } from '../../../policy/last-good-policy.ts'
import type { PolicyFile, PolicySet } from '../../../policy/parse-policy.ts'
import {
  type CommandResult,
  explainText,
  helpText,
  planText,
  rulesText,
  SEE_BELOW,
} from '../../../proposal/text/command-answer.ts'
import type { CommandVerb, CommentCommand } from '../../../proposal/text/comment-command.ts'
import { time } from '../../../proposal/text/words.ts'
import { later } from '../../observation/drift-age.ts'
import type { Observation, ResolutionRequest } from '../../observation/observation.ts'
import type { UnitPlan } from '../../observation/unit-plan.ts'
import {
  addRules,
  type IgnoreDocument,
  type PlacedRule,
  removeRules,
  rulesFor,
} from './comment-policy.ts'
import { withoutForeignCommits } from './comment-recreate.ts'
import { assertOwner, needsOwner } from './comment-rights.ts'
import { nothingToSnooze } from './comment-status.ts'
import { exactRules } from './exact-rules.ts'
import { allChanges } from './pick-changes.ts'
import type { ProposalRequests, Requester } from './proposal-requests.ts'
import { changesMeant, type RequestedChoice, resolveSelectors } from './resolution-request.ts'

/** A unit with all requests so far. */
export interface RequestState {
  /** The reason where nothing could be observed. */
  readonly observation: Observation | Failure
  readonly resolutionRequest: ResolutionRequest | undefined
}

/** A unit that could be observed. */
export interface ObservedState extends RequestState {
  readonly observation: Observation
}

/** Plans the unit. @throws Failure as `planReconcile` */
export type PlanUnit = (state: ObservedState) => UnitPlan

/** A requested change of the policy: files that change, and their content. */
export interface PolicyChange {
  readonly verb: 'ignore' | 'unignore'
  readonly files: readonly PolicyFile[]
  readonly rules: readonly IgnoreDocument[]
}

export interface CommandContext {
  readonly requests: ProposalRequests
  readonly policies: PolicySet
  readonly plan: PlanUnit
}

/** What a command answers with, and the state after it. */
export interface PlannedCommand extends Pick<CommandResult, 'text' | 'details'> {
  readonly state: RequestState
  /** A pull request of its own; the answer names it. */
  readonly policy?: PolicyChange
}

export const RESOLUTIONS = { restore: 'Restore', adopt: 'Adopt', release: 'Release' } as const

/** They change what is open, or open something. */
const DECIDES: ReadonlySet<CommandVerb> = new Set([
  'restore',
  'adopt',
  'release',
  'recreate',
  'exclude',
  'ignore',
  'unignore',
])
const NOT_DONE = 'nothing is changed while an earlier policy decides'

interface RequestedCommand extends CommentCommand {
  readonly requester: Requester
  /** It, or all resolutions of its comment. */
  readonly group: readonly CommentCommand[]
}

type Planner = (
  context: CommandContext,
  command: RequestedCommand,
  state: RequestState,
) => PlannedCommand

const resolve: Planner = (context, { requester, group }, state) => {
  const choices = group.map((command) => ({
    resolution: resolutionOf(command.verb),
    selectors: command.selectors,
  }))
  const reasons = group.flatMap(({ reason }) =>
    reason === undefined || reason === '' ? [] : [reason],
  )
  return planChoices(
    context,
    choices,
    { requester, message: reasons.length === 0 ? undefined : reasons.join('; ') },
    state,
  )
}

const PLANNERS: { readonly [Verb in CommandVerb]: Planner } = {
  restore: resolve,
  adopt: resolve,
  release: resolve,
  recheck: (context, _command, state) => planRecheck(context, state),
  recreate: (context, _command, state) => recreate(context, state),
  snooze: (context, { requester, duration }, state) =>
    snooze(context, later(requester.at, duration ?? 0), state),
  ignore: (context, command, state) => ignore(context, command.requester, command, state),
  unignore: (context, { selectors }, state) => ({
    state,
    text: '',
    policy: withoutRules(context, selectors),
  }),
  exclude: (context, { selectors: [glob = ''] }, state) => exclude(context, glob, state),
  explain: (context, { selectors }, state) => ({ state, ...explain(context, selectors, state) }),
  show: (context, { requester }, state) => ({ state, ...shownRules(context, requester) }),
  help: (_context, _command, state) => ({ state, text: SEE_BELOW, details: helpText() }),
}

/** @param group one command, or the resolutions of one comment @throws Failure why it is not done */
export function planCommand(
  context: CommandContext,
  requester: Requester,
  group: readonly CommentCommand[],
  state: RequestState,
): PlannedCommand {
  const [first] = group
  if (first === undefined) throw new TypeError('no command')
  if (DECIDES.has(first.verb)) assertNewestPolicy(context.policies, NOT_DONE)
  return PLANNERS[first.verb](context, { ...first, requester, group }, state)
}

function resolutionOf(verb: CommandVerb): RequestedChoice['resolution'] {
  return verb === 'adopt' || verb === 'release' ? RESOLUTIONS[verb] : 'Restore'
}

function ownedBy({ requests: { unit, codeOwners } }: CommandContext) {
  return { packagePath: unit.packagePath, codeOwners }
}

/** Boxes have no requester: a box changes the plan only, and the merge of the plan asks the owners. */
export function planChoices(
  context: CommandContext,
  [first, ...also]: readonly RequestedChoice[],
  {
    requester,
    message,
  }: { readonly requester: Requester | undefined; readonly message?: string | undefined },
  state: RequestState,
): PlannedCommand {
  if (first === undefined) throw new TypeError('no choice')
  assertNewestPolicy(context.policies, NOT_DONE)
  const observed = observedState(state)
  const { numbered } = context.requests.unit
  // Selectors count the changes as a turn without requests lists them.
  const { report } = context.plan({ ...observed, resolutionRequest: undefined })
  const resolutionRequest = resolveSelectors(
    {
      ...first,
      also,
      message,
      numbered,
      by: requester?.login ?? '',
      assertAllowed: (resolution, chosen) => {
        if (requester !== undefined && needsOwner(resolution))
          assertOwner(resolution.toLowerCase(), chosen, requester, ownedBy(context))
      },
    },
    report.spec.changes,
  )
  const after = {
    ...observed,
    resolutionRequest:
      state.resolutionRequest === undefined
        ? resolutionRequest
        : joinResolutionRequests(state.resolutionRequest, resolutionRequest),
  }
  const { record, notes } = context.plan(after)
  const left = notes.filter(({ cause }) => cause === 'planned-as-restore')
  return {
    state: after,
    text:
      record === undefined
        ? 'nothing differs any longer'
        : `${planText(record.spec)}${left.length === 0 ? '' : `.${told(left)}`}`,
  }
}

/** Of two choices about one change the later one counts; so does the later requester. */
function joinResolutionRequests(
  earlier: ResolutionRequest,
  { resolution, changes, via, isAll, more = [], ...later }: ResolutionRequest,
): ResolutionRequest {
  const message = later.message ?? earlier.message
  const choice = { resolution, changes, ...given({ via, isAll }) }
  return { ...earlier, ...later, message, more: [...(earlier.more ?? []), choice, ...more] }
}

export function planRecheck({ plan }: CommandContext, state: RequestState): PlannedCommand {
  const { observation } = observedState(state)
  const created = plan({ ...state, observation })
  const { status } = created.report
  const text = `looked at the cluster at ${time(observation.cluster.observedAt)}: ${status.stuckSince === undefined ? STATES[status.state] : STUCK}.${told(created.notes)}`
  return { state, text }
}

function told(notes: readonly Note[]): string {
  return notes
    .slice(0, 3)
    .map((note) => ` ${markdownProse(sentenceOf(note))}.`)
    .join('')
}

const STUCK = 'something differs that the syncer did not apply in its time'
const STATES = {
  InSync: 'nothing differs any longer',
  Drifted: 'it differs as it stands above',
  Applying: 'what was decided is on its way to the cluster',
  Silenced: 'it still differs, and was closed before',
  Behind: 'nothing differs but what the syncer has not applied yet',
  SyncFailed: 'nothing differs but what the syncer tried to apply, and could not',
  Reconciling: 'nothing differs but what the syncer is applying',
  Suspended: 'nothing differs but what a suspended syncer does not apply',
  Unknown: 'not everything could be read, so nothing is certain',
  Off: 'the policy switches the package off',
} as const

function recreate({ plan }: CommandContext, start: RequestState): PlannedCommand {
  const state = observedState(start)
  const before = plan(state)
  const isForeign = before.outcome === 'foreign' && before.report.status.state === 'Drifted'
  const after = isForeign
    ? { ...state, observation: withoutForeignCommits(state.observation) }
    : state
  const created = isForeign ? plan(after) : before
  const { state: found, lifecycle } = created.report.status
  if (
    found !== 'Drifted' ||
    lifecycle !== 'Proposed' ||
    created.outcome === 'foreign' ||
    created.record === undefined
  ) {
    throw new Failure({
      code: 'BP2009',
      what: 'the branch is left as it is',
      why:
        found === 'Drifted'
          ? 'it has no record of ours, so nobody knows what belongs on it'
          : STATES[found],
      remedy: 'merge or delete the branch by hand',
      retry: 'on-change',
    })
  }
  return {
    state: after,
    text: `the branch has nothing on it but what backporch makes; ${planText(created.record.spec)}`,
  }
}

function exclude(
  { plan, requests: { unit } }: CommandContext,
  glob: string,
  start: RequestState,
): PlannedCommand {
  // A joint proposal is known by one drift of its own, beside that of the unit.
  if (unit.drifts.length < 2) throw notJoint()
  const state = observedState(start)
  const after = { ...state, observation: { ...state.observation, exclude: glob } }
  plan(after)
  const text = `clusters named ${markdownCell(glob, 60)} are taken out, and get pull requests of their own when they are looked at again`
  return { state: after, text }
}

function snooze({ plan }: CommandContext, end: string, start: RequestState): PlannedCommand {
  const state = observedState(start)
  const after = { ...state, observation: { ...state.observation, snoozeUntil: end } }
  const { report } = plan(after)
  if (end <= state.observation.cluster.observedAt)
    return { state: after, text: `that is over since ${time(end)}` }
  if (report.status.snoozedUntil !== end) throw nothingToSnooze(STATES[report.status.state])
  return {
    state: after,
    text: `no reminders until ${time(end)}; this stays open and is kept up to date`,
  }
}

function ignore(
  context: CommandContext,
  requester: Requester,
  { selectors, duration, reason = '' }: CommentCommand,
  start: RequestState,
): PlannedCommand {
  const state = observedState(start)
  const { requests, policies } = context
  const { unit } = requests
  const { report } = context.plan(state)
  const chosen = changesMeant(selectors, unit.numbered, report.spec.changes)
  assertOwner('ignore', chosen, requester, ownedBy(context))
  const { verdicts, key } = state.observation
  const expires = duration === undefined ? undefined : later(requester.at, duration).slice(0, 10)
  const rules = exactRules({ chosen, verdicts, key, reason, expires })
  const file = addRules(requests.policyFiles, policies, unit, rules)
  return file === undefined
    ? { state, text: 'such a rule holds already' }
    : { state, text: '', policy: { verb: 'ignore', files: [file], rules } }
}

/** @param selectors numbers as `/show ignores` lists them */
function withoutRules(
  { requests: { unit, policyFiles }, policies }: CommandContext,
  selectors: readonly string[],
): PolicyChange {
  const all = rulesFor(policies, unit)
  const placed = selectors.map((selector) => ruleNumber(selector, all))
  if (placed.length === 0) throw noSuchRule('', all.length)
  return {
    verb: 'unignore',
    files: removeRules(policyFiles, placed),
    rules: placed.map(({ rule }) => rule),
  }
}

function ruleNumber(selector: string, rules: readonly PlacedRule[]): PlacedRule {
  const rule = /^[1-9][0-9]{0,4}$/.test(selector) ? rules[Number(selector) - 1] : undefined
  if (rule === undefined) throw noSuchRule(selector, rules.length)
  return rule
}

const EXPLAINED = 10

function explain(
  { plan, requests: { unit } }: CommandContext,
  selectors: readonly string[],
  start: RequestState,
): Pick<CommandResult, 'text' | 'details'> {
  const state = observedState(start)
  const { observation } = state
  const { changes } = plan(state).report.spec
  const chosen = changesMeant(selectors, unit.numbered, changes)
  const drifts = new Map(
    allChanges(observation.verdicts, observation.key).map(({ fingerprint, drift }) => [
      fingerprint,
      drift,
    ]),
  )
  const today = observation.cluster.observedAt.slice(0, 10)
  const details = chosen.slice(0, EXPLAINED).map((change) => {
    const drift = drifts.get(change.fingerprint)
    const sides = observation.verdicts.find(
      ({ items }) => drift !== undefined && items.includes(drift),
    )
    const tried = observation.policy.ignore.map((rule) => {
      const mismatch = drift === undefined ? undefined : whyNotIgnored(drift, rule, sides)
      const why = isActive(rule, today)
        ? mismatch === undefined
          ? ''
          : mismatchText(mismatch)
        : `over since ${rule.expires}`
      return `${rule.where} (${why})`
    })
    const rule = RISK_RULES.find(({ code }) => code === change.reason)
    return explainText(
      change,
      changes.indexOf(change) + 1,
      rule?.why ?? '',
      tried.slice(0, EXPLAINED),
    )
  })
  const { mode, chain } = observation.policy
  const policy = `- policy: ${mode}, from ${chain.map((one) => markdownProse(one)).join(' over ')}`
  const more =
    chosen.length > EXPLAINED
      ? [`- and ${chosen.length - EXPLAINED} more, each with its number`]
      : []
  return { text: SEE_BELOW, details: [...details, ...more, policy].join('\n') }
}

function shownRules(
  { policies, requests: { unit } }: CommandContext,
  { at: requested }: Requester,
): Pick<CommandResult, 'text' | 'details'> {
  const rules = rulesFor(policies, unit)
  if (rules.length === 0) return { text: 'no ignore rule holds here' }
  const shown = rules.map(({ rule, policy, index }, at) => {
    const known = policy.ignore[index]
    return {
      number: at + 1,
      where: known?.where ?? policy.where,
      about: known === undefined ? '' : describeRule(known),
      reason: rule.reason,
      expires: rule.expires ?? '',
      over: rule.expires !== undefined && rule.expires < requested.slice(0, 10),
    }
  })
  return { text: SEE_BELOW, details: rulesText(shown) }
}

/** @throws Failure why the unit could not be observed */
function observedState(state: RequestState): ObservedState {
  const { observation } = state
  if (observation instanceof Failure) throw observation
  return { ...state, observation }
}

function noSuchRule(selector: string, count: number): Failure {
  return new Failure({
    code: 'BP1011',
    what:
      selector === ''
        ? 'no rule is named'
        : `there is no ignore rule ${JSON.stringify(selector.slice(0, 40))}`,
    why: count === 0 ? 'no ignore rule holds here' : `${count} hold here, numbered from 1`,
    remedy: 'say /show ignores, and name a number of its list',
    retry: 'on-change',
  })
}

function notJoint(): Failure {
  return new Failure({
    code: 'BP2010',
    what: 'no cluster is taken out of this',
    why: 'that is possible only in a pull request of one cause over many clusters, and this is about one cluster',
    remedy: 'decide this one by itself',
  })
}
