/** Does the commands of one comment, and what ticked boxes say, each by one turn of the unit alone. */

import { describeRule, isActive, mismatchText, whyNotIgnored } from '../drift/ignore-rules.ts'
import { RISK_RULES } from '../drift/risk.ts'
import { Failure, type FailureCode } from '../failure.ts'
import { sentenceOf } from '../note.ts'
import { rulesFor } from '../plan/comment-policy.ts'
import { assertOwner, needsOwner } from '../plan/comment-rights.ts'
import { nothingToSnooze } from '../plan/comment-status.ts'
import { changesMeant, type RequestedChoice, type WishRequest } from '../plan/comment-wish.ts'
import { allChanges } from '../plan/pick-changes.ts'
import {
  type CommandResult,
  commandLine,
  explainText,
  failureSaid,
  helpText,
  planSaid,
  rulesText,
  SEE_BELOW,
} from '../proposal/command-answer.ts'
import type { CommandVerb, CommentCommand, CommentCommands } from '../proposal/comment-command.ts'
import type { Tick } from '../proposal/ticks.ts'
import { time } from '../proposal/words.ts'
import { markdownCell, markdownProse } from '../record/markdown-text.ts'
import type { Asker, Desk } from './answer-desk.ts'
import { proposeIgnore, proposeUnignore } from './answer-ignore.ts'
import type { AskedUnit } from './answer-unit.ts'
import { runTurn, type TurnRequest } from './run-turn.ts'
import type { UnitResult } from './unit-result.ts'

type PlannedUnit = UnitResult & { readonly state: 'planned' }
/** What a command answers with; `done` unless told otherwise. */
type Said = Pick<CommandResult, 'text' | 'details'>

const RESOLUTIONS = { restore: 'Restore', adopt: 'Adopt', release: 'Release' } as const

/** @throws Failure of git or the forge, or one that is worth another try: nothing of it is answered then */
export async function answerCommands(desk: Desk, asker: Asker, { commands, refused }: CommentCommands): Promise<readonly CommandResult[]> {
  const by = asker.login
  if (refused.length > 0) {
    const others = commands.map((command) => refusal(by, commandLine(command), 'not done, because another line of the comment cannot be'))
    return [...refused.map(({ line, why }) => refusal(by, line, markdownProse(why))), ...others]
  }
  const results: CommandResult[] = []
  for (const group of inOrder(commands)) {
    const line = group.map(commandLine).join(' ')
    results.push(await orRefuse(by, line, () => answerGroup(desk, asker, group)))
  }
  return results
}

/** A branch is taken back before anything is planned on it, and the plans of one comment are one. */
function inOrder(commands: readonly CommentCommand[]): readonly (readonly CommentCommand[])[] {
  const plans = commands.filter(({ verb }) => Object.hasOwn(RESOLUTIONS, verb))
  const recreates = commands.filter(({ verb }) => verb === 'recreate').slice(0, 1)
  const rest = commands.filter((command) => !plans.includes(command) && command.verb !== 'recreate')
  return [...recreates.map((one) => [one]), ...(plans.length === 0 ? [] : [plans]), ...rest.map((one) => [one])]
}

/** @throws Failure that is worth another try */
export async function answerTicks(desk: Desk, ticks: readonly Tick[]): Promise<readonly CommandResult[]> {
  const choices = ticks.flatMap(({ verb, changes }): RequestedChoice[] =>
    verb === 'recheck' ? [] : [{ resolution: RESOLUTIONS[verb], selectors: changes.map(String) }],
  )
  if (choices.length > 0) return [await orRefuse('', 'a ticked box', () => plan(desk, choices, '', undefined))]
  return ticks.length === 0 ? [] : [await orRefuse('', 'a ticked box', () => recheck(desk))]
}

/**
 * A fault of git or of the forge says nothing about what was asked, whatever has to change until it is over; and what was asked may be
 * done although its answer never came. So it is asked again, and never refused. A name that our own rules refuse stays refused.
 */
function isOutside(code: FailureCode): boolean {
  return /^BP[45]/.test(code) && code !== 'BP4004'
}

async function orRefuse(by: string, line: string, work: () => Promise<Said>): Promise<CommandResult> {
  try {
    return { by, line, done: true, ...(await work()) }
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.retry === 'backoff' || isOutside(thrown.code)) throw thrown
    return refusal(by, line, failureSaid(thrown))
  }
}

function refusal(by: string, line: string, text: string): CommandResult {
  return { by, line, done: false, text }
}

async function answerGroup(desk: Desk, asker: Asker, group: readonly CommentCommand[]): Promise<Said> {
  const [first] = group
  if (first === undefined) throw new TypeError('no command')
  const { verb, selectors } = first
  switch (verb) {
    case 'restore':
    case 'adopt':
    case 'release': {
      const choices = group.map((command) => ({ resolution: resolutionOf(command.verb), selectors: command.selectors }))
      const reasons = group.flatMap(({ reason }) => (reason === undefined || reason === '' ? [] : [reason]))
      return plan(desk, choices, asker.login, asker, reasons.length === 0 ? undefined : reasons.join('; '))
    }
    case 'recheck':
      return recheck(desk)
    case 'recreate':
      return recreate(desk)
    case 'snooze':
      return snooze(desk, until(asker, first.duration))
    case 'ignore': {
      const { plan: seen, observation } = await turn(desk, { dryRun: true })
      const chosen = changesMeant(selectors, desk.unit.numbered, seen.report.spec.changes)
      assertOwner('ignore', chosen, asker, ownedBy(desk))
      const end = first.duration === undefined ? undefined : until(asker, first.duration)
      return { text: await proposeIgnore(desk, observation, chosen, { reason: first.reason ?? '', end }, asker) }
    }
    case 'unignore':
      return { text: await proposeUnignore(desk, selectors, asker) }
    case 'exclude':
      return exclude(desk, selectors[0] ?? '')
    case 'explain':
      return explain(desk, selectors)
    case 'show':
      return showIgnores(desk, asker)
    case 'help':
      return { text: SEE_BELOW, details: helpText() }
  }
}

function resolutionOf(verb: CommandVerb): RequestedChoice['resolution'] {
  return verb === 'adopt' || verb === 'release' ? RESOLUTIONS[verb] : 'Restore'
}

function until({ at }: Asker, seconds = 0): string {
  return `${new Date(Date.parse(at) + seconds * 1_000).toISOString().slice(0, 19)}Z`
}

function ownedBy({ unit, codeOwners }: Desk) {
  return { packagePath: unit.packagePath, codeOwners }
}

/** One turn of the unit alone. @throws Failure what the unit failed with, or why it was not written */
async function turn({ unit, request, ports, signal }: Desk, more: Partial<TurnRequest>): Promise<PlannedUnit> {
  const { repository, forge } = ports
  const own: TurnRequest = { ...request, packages: [unit.packagePath || '.'], labels: undefined, wish: undefined, ...more }
  const { units } = await runTurn({ repository, forge, cluster: unit.reader }, own, signal)
  const [result] = units
  if (result === undefined) throw nothingThere(unit)
  if (result.state === 'failed') throw result.failures[0]
  if (result.refused !== undefined) throw result.refused
  return result
}

async function plan(
  desk: Desk,
  [first, ...also]: readonly RequestedChoice[],
  by: string,
  asker: Asker | undefined,
  message?: string,
): Promise<Said> {
  if (first === undefined) throw new TypeError('no choice')
  const wish: WishRequest = {
    ...first,
    also,
    message,
    numbered: desk.unit.numbered,
    by,
    // A box changes the plan only, and the merge of the plan asks the owners: nobody knows who ticked.
    assertAllowed: (resolution, chosen) => {
      if (asker !== undefined && needsOwner(resolution)) assertOwner(resolution.toLowerCase(), chosen, asker, ownedBy(desk))
    },
  }
  const { plan: made } = await turn(desk, { wish })
  return { text: made.record === undefined ? 'nothing differs any longer' : planSaid(made.record.spec) }
}

async function recheck(desk: Desk): Promise<Said> {
  const { plan: made, observation } = await turn(desk, {})
  const notes = made.notes.slice(0, 3).map((note) => ` ${markdownProse(sentenceOf(note))}.`)
  return {
    text: `looked at the cluster at ${time(observation.cluster.observedAt)}: ${made.report.status.stuckSince === undefined ? STATES[made.report.status.state] : STUCK}.${notes.join('')}`,
  }
}

const STUCK = 'something differs that the syncer did not apply in its time'
const STATES = {
  InSync: 'nothing differs any longer',
  Drifted: 'it differs as it stands above',
  Applying: 'what was decided is on its way to the cluster',
  Silenced: 'it still differs, and was closed before',
  Behind: 'nothing differs but what the syncer has not applied yet',
  Reconciling: 'nothing differs but what the syncer is applying',
  Suspended: 'nothing differs but what a suspended syncer does not apply',
  Unknown: 'not everything could be read, so nothing is certain',
  Off: 'the policy switches the package off',
} as const

async function recreate(desk: Desk): Promise<Said> {
  const { plan: made } = await turn(desk, { recreate: true })
  const { state, lifecycle } = made.report.status
  if (state !== 'Drifted' || lifecycle !== 'Proposed' || made.outcome === 'foreign' || made.record === undefined) {
    throw new Failure({
      code: 'BP2009',
      what: 'the branch is left as it is',
      why: state === 'Drifted' ? 'it has no record of ours, so nobody knows what belongs on it' : STATES[state],
      remedy: 'merge or delete the branch by hand',
      retry: 'on-change',
    })
  }
  return { text: `the branch has nothing on it but what backporch makes; ${planSaid(made.record.spec)}` }
}

async function exclude(desk: Desk, glob: string): Promise<Said> {
  // A joint proposal is known by one drift of its own, beside that of the unit.
  if (desk.unit.drifts.length < 2) throw notMass()
  await turn(desk, { exclude: glob })
  return {
    text: `clusters named ${markdownCell(glob, 60)} are taken out, and get pull requests of their own when they are looked at again`,
  }
}

async function snooze(desk: Desk, end: string): Promise<Said> {
  const { plan: made, observation } = await turn(desk, { snoozeUntil: end })
  if (end <= observation.cluster.observedAt) return { text: `that is over since ${time(end)}` }
  if (made.report.status.snoozedUntil !== end) throw nothingToSnooze(STATES[made.report.status.state])
  return { text: `no reminders until ${time(end)}; this stays open and is kept up to date` }
}

const EXPLAINED = 10

async function explain(desk: Desk, selectors: readonly string[]): Promise<Said> {
  const { plan: made, observation } = await turn(desk, { dryRun: true })
  const { changes } = made.report.spec
  const chosen = changesMeant(selectors, desk.unit.numbered, changes)
  const drifts = new Map(allChanges(observation.verdicts, observation.key).map(({ fingerprint, drift }) => [fingerprint, drift]))
  const today = observation.cluster.observedAt.slice(0, 10)
  const details = chosen.slice(0, EXPLAINED).map((change) => {
    const drift = drifts.get(change.fingerprint)
    const sides = observation.verdicts.find(({ items }) => drift !== undefined && items.includes(drift))
    const tried = observation.policy.ignore.map((rule) => {
      const mismatch = drift === undefined ? undefined : whyNotIgnored(drift, rule, sides)
      const why = isActive(rule, today) ? (mismatch === undefined ? '' : mismatchText(mismatch)) : `over since ${rule.expires}`
      return `${rule.where} (${why})`
    })
    const rule = RISK_RULES.find(({ code }) => code === change.reason)
    return explainText(change, changes.indexOf(change) + 1, rule?.why ?? '', tried.slice(0, EXPLAINED))
  })
  const { mode, chain } = observation.policy
  const policy = `- policy: ${mode}, from ${chain.map((one) => markdownProse(one)).join(' over ')}`
  const more = chosen.length > EXPLAINED ? [`- and ${chosen.length - EXPLAINED} more, each with its number`] : []
  return { text: SEE_BELOW, details: [...details, ...more, policy].join('\n') }
}

function showIgnores({ view, unit }: Desk, { at: asked }: Asker): Said {
  const rules = rulesFor(view.policies, unit)
  if (rules.length === 0) return { text: 'no ignore rule holds here' }
  const shown = rules.map(({ rule, policy, index }, at) => {
    const known = policy.ignore[index]
    return {
      number: at + 1,
      where: known?.where ?? policy.where,
      about: known === undefined ? '' : describeRule(known),
      reason: rule.reason,
      expires: rule.expires ?? '',
      over: rule.expires !== undefined && rule.expires < asked.slice(0, 10),
    }
  })
  return { text: SEE_BELOW, details: rulesText(shown) }
}

function notMass(): Failure {
  return new Failure({
    code: 'BP2010',
    what: 'no cluster is taken out of this',
    why: 'that is possible only in a pull request of one cause over many clusters, and this is about one cluster',
    remedy: 'decide this one by itself',
  })
}

function nothingThere({ packageName }: AskedUnit): Failure {
  return new Failure({
    code: 'BP2004',
    what: `${packageName} is not looked at`,
    why: 'no cluster of this installation runs the package',
    remedy: 'place it with a Placement in the policy',
    retry: 'on-change',
  })
}
