import { Failure } from '@backporch/kyaml/failure'
import { formatMarkdownCell, formatMarkdownProse } from '@backporch/kyaml/markdown'
import { formatNoteSentence, type Note } from '@backporch/kyaml/note'
import { omitUndefined } from '@backporch/kyaml/text'
import {
  describeMismatch,
  findIgnoreMismatch,
  isActive,
} from '../../../drift/noise/ignore-rules.ts'
import { RISK_RULES } from '../../../drift/risk/risk.ts'
import { assertNewestPolicy } from '../../../policy/last-good-policy.ts'
import {
  type CommandResult,
  explainText,
  helpText,
  planText,
  SEE_BELOW,
} from '../../../proposal/text/command-answer.ts'
import {
  COMMANDS,
  type CommandVerb,
  type CommentCommand,
} from '../../../proposal/text/comment-command.ts'
import { time } from '../../../proposal/text/words.ts'
import { addSeconds } from '../../observation/drift-age.ts'
import type { ResolutionRequest } from '../../observation/observation.ts'
import {
  type CommandContext,
  getOwnership,
  type PlannedCommand,
  type RequestState,
  requireObservedState,
} from './command-state.ts'
import { omitForeignCommits } from './comment-recreate.ts'
import { assertOwner, needsOwner } from './comment-rights.ts'
import { createNoSnoozeFailure } from './comment-status.ts'
import { listAllChanges } from './pick-changes.ts'
import type { Requester } from './proposal-requests.ts'
import { findMeantChanges, type RequestedChoice, resolveSelectors } from './resolution-request.ts'
import { ignore, removeIgnoreRules, showRules } from './rule-commands.ts'

export const RESOLUTIONS = { restore: 'Restore', adopt: 'Adopt', release: 'Release' } as const

const NOT_DONE = 'nothing is changed while an earlier policy decides'

interface RequestedCommand extends CommentCommand {
  readonly requester: Requester
  readonly group: readonly CommentCommand[]
}

type Planner = (
  context: CommandContext,
  command: RequestedCommand,
  state: RequestState,
) => PlannedCommand

const resolve: Planner = (context, { requester, group }, state) => {
  const choices = group.map((command) => ({
    resolution: getResolution(command.verb),
    selectors: command.selectors,
    ...omitUndefined({ via: command.via }),
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
    snooze(context, addSeconds(requester.at, duration ?? 0), state),
  ignore: (context, command, state) => ignore(context, command.requester, command, state),
  unignore: (context, { selectors }, state) => ({
    state,
    text: '',
    policy: removeIgnoreRules(context, selectors),
  }),
  exclude: (context, { selectors: [glob = ''] }, state) => exclude(context, glob, state),
  explain: (context, { selectors }, state) => ({ state, ...explain(context, selectors, state) }),
  show: (context, { requester }, state) => ({ state, ...showRules(context, requester) }),
  help: (_context, _command, state) => ({ state, text: SEE_BELOW, details: helpText() }),
}

/** @throws Failure why it is not done */
export function planCommand(
  context: CommandContext,
  requester: Requester,
  group: readonly CommentCommand[],
  state: RequestState,
): PlannedCommand {
  const [first] = group
  if (first === undefined) throw new TypeError('no command')
  if (COMMANDS[first.verb].decides) assertNewestPolicy(context.policies, NOT_DONE)
  return PLANNERS[first.verb](context, { ...first, requester, group }, state)
}

function getResolution(verb: CommandVerb): RequestedChoice['resolution'] {
  return verb === 'adopt' || verb === 'release' ? RESOLUTIONS[verb] : 'Restore'
}

/**
 * Checkboxes have no requester: they only change the plan, and merging the plan needs the owners.
 */
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
  const observed = requireObservedState(state)
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
          assertOwner(resolution.toLowerCase(), chosen, requester, getOwnership(context))
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
        : `${planText(record.spec)}${left.length === 0 ? '' : `.${formatNotes(left)}`}`,
  }
}

function joinResolutionRequests(
  earlier: ResolutionRequest,
  { resolution, changes, via, isAll, more = [], ...later }: ResolutionRequest,
): ResolutionRequest {
  const message = later.message ?? earlier.message
  const choice = { resolution, changes, ...omitUndefined({ via, isAll }) }
  return { ...earlier, ...later, message, more: [...(earlier.more ?? []), choice, ...more] }
}

export function planRecheck({ plan }: CommandContext, state: RequestState): PlannedCommand {
  const { observation } = requireObservedState(state)
  const created = plan({ ...state, observation })
  const { status } = created.report
  const text = `observed the cluster at ${time(observation.cluster.observedAt)}: ${status.stuckSince === undefined ? STATES[status.state] : STUCK}.${formatNotes(created.notes)}`
  return { state, text }
}

function formatNotes(notes: readonly Note[]): string {
  return notes
    .slice(0, 3)
    .map((note) => ` ${formatMarkdownProse(formatNoteSentence(note))}.`)
    .join('')
}

const STUCK = 'the syncer did not apply a difference in time'
const STATES = {
  InSync: 'nothing differs any longer',
  Drifted: 'it differs as shown above',
  Applying: 'the decision is not applied to the cluster yet',
  Silenced: 'it still differs, and its proposal was closed',
  Behind: 'the only differences are changes that the syncer has not applied yet',
  SyncFailed: 'the only differences are changes that the syncer failed to apply',
  Reconciling: 'the only differences are changes that the syncer is applying',
  Suspended: 'the only differences are changes that a suspended syncer does not apply',
  Unknown: 'not everything could be read, so the state is unknown',
  Off: 'the policy switches the package off',
} as const

function recreate({ plan }: CommandContext, start: RequestState): PlannedCommand {
  const state = requireObservedState(start)
  const before = plan(state)
  const isForeign = before.outcome === 'foreign' && before.report.status.state === 'Drifted'
  const after = isForeign ? { ...state, observation: omitForeignCommits(state.observation) } : state
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
          ? 'it has no record of backporch, so its expected content is unknown'
          : STATES[found],
      remedy: 'merge or delete the branch by hand',
      retry: 'on-change',
    })
  }
  return {
    state: after,
    text: `the branch has only content that backporch makes; ${planText(created.record.spec)}`,
  }
}

function exclude(
  { plan, requests: { unit } }: CommandContext,
  glob: string,
  start: RequestState,
): PlannedCommand {
  if (unit.drifts.length < 2) throw createNotJointFailure()
  const state = requireObservedState(start)
  const after = { ...state, observation: { ...state.observation, exclude: glob } }
  plan(after)
  const text = `clusters named ${formatMarkdownCell(glob, 60)} are removed, and get their own pull requests when they are observed again`
  return { state: after, text }
}

function snooze({ plan }: CommandContext, end: string, start: RequestState): PlannedCommand {
  const state = requireObservedState(start)
  const after = { ...state, observation: { ...state.observation, snoozeUntil: end } }
  const { report } = plan(after)
  if (end <= state.observation.cluster.observedAt)
    return { state: after, text: `the time ${time(end)} is over` }
  if (report.status.snoozedUntil !== end) throw createNoSnoozeFailure(STATES[report.status.state])
  return {
    state: after,
    text: `no reminders until ${time(end)}; this stays open and is kept up to date`,
  }
}

const EXPLAINED = 10

function explain(
  { plan, requests: { unit } }: CommandContext,
  selectors: readonly string[],
  start: RequestState,
): Pick<CommandResult, 'text' | 'details'> {
  const state = requireObservedState(start)
  const { observation } = state
  const { changes } = plan(state).report.spec
  const chosen = findMeantChanges(selectors, unit.numbered, changes)
  const drifts = new Map(
    listAllChanges(observation.verdicts, observation.key).map(({ fingerprint, drift }) => [
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
      const mismatch = drift === undefined ? undefined : findIgnoreMismatch(drift, rule, sides)
      const why = isActive(rule, today)
        ? mismatch === undefined
          ? ''
          : describeMismatch(mismatch)
        : `over since ${rule.expires}`
      return `${rule.where} (${why})`
    })
    const rule = RISK_RULES.find(({ code }) => code === change.reason)
    return explainText(change, changes.indexOf(change) + 1, rule?.why, tried.slice(0, EXPLAINED))
  })
  const { mode, chain } = observation.policy
  const policy = `- policy: ${mode}, from ${chain.map((one) => formatMarkdownProse(one)).join(' over ')}`
  const more =
    chosen.length > EXPLAINED
      ? [`- and ${chosen.length - EXPLAINED} more, each with its number`]
      : []
  return { text: SEE_BELOW, details: [...details, ...more, policy].join('\n') }
}

function createNotJointFailure(): Failure {
  return new Failure({
    code: 'BP2010',
    what: 'no cluster is removed from this pull request',
    why: 'that is possible only in a pull request for many clusters, and this one is for one cluster',
    remedy: 'decide this one by itself',
  })
}
