import { FAILURE_CODES, type FailureCode } from '@backporch/kyaml/failure'
import { explainHidden, explainSecret, formatShownPath } from '@backporch/kyaml/redaction'
import { describeResourceId, getAnnotations } from '@backporch/kyaml/resource'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { Drift, ObjectVerdict, SetAside } from '../../drift/compare/drift.ts'
import {
  describeMismatch,
  describeRule,
  findIgnoreMismatch,
  type IgnoreRule,
  isActive,
} from '../../drift/noise/ignore-rules.ts'
import { findRuleByName } from '../../drift/noise/presets.ts'
import { isNeverShown, PASSWORD_BY_SCHEMA } from '../../drift/noise/visibility.ts'
import { RISK_RULES } from '../../drift/risk/risk.ts'
import type { Observation } from '../../plan/observation/observation.ts'
import { listLiveOnlyAnnotations } from '../../policy/package-annotations.ts'
import type { Change } from '../../record/documents/change.ts'
import type { Incomplete } from '../../record/documents/drift-report.ts'
import { explainActor } from './actor-text.ts'
import { describeStuckSince } from './time-text.ts'

/** `aside`: no drift. */
export interface ExplainedLine {
  readonly number: number
  readonly drift: Drift
  readonly verdict: ObjectVerdict
  readonly change: Change
  readonly aside: SetAside | undefined
}

export interface UnprovenLine {
  readonly number: number
  readonly incomplete: Incomplete
}

export function formatUnprovenLines(
  { number, incomplete }: UnprovenLine,
  packageName: string,
  width: number,
): string[] {
  const { ref, state, code, why, remedy } = incomplete
  const rows: (readonly [label: string, text: string])[] = [
    ['state', `${UNPROVEN[state ?? 'unreadable']}, so it is neither drift nor in sync`],
    ['why', convertToOneLine(why, 600)],
    ...(remedy === undefined ? [] : [['fix', convertToOneLine(remedy, 400)] as const]),
    ['code', `${code}: ${FAILURE_CODES[code as FailureCode] ?? ''}`],
  ]
  return [
    `${number}  ${ref === undefined ? convertToOneLine(packageName) : convertToOneLine(describeResourceId(ref))}  (${state ?? 'not observed'})`,
    ...rows.flatMap(([label, text]) => wrapText(`   ${label.padEnd(8)}`, text, width)),
  ]
}

const UNPROVEN = {
  unverified: 'unverified: what was read proves neither',
  unreadable: 'unreadable: it was not observed',
  blocked: 'blocked: the API server rejects what git has',
  outside: 'outside: the package does not cover it, and only its name is shown',
} as const

export const RULE_ORDER =
  'presets, annotations (object, then Kptfile), policies by priority: the first match hides'

interface ExplainDetail {
  /** Characters; words are never broken, so that a long path can be copied. */
  readonly width: number
  /** False: only the number of rules, and whether one hides the line. */
  readonly everyRule: boolean
  /** Once per object. */
  readonly unheard: boolean
  readonly origin?: readonly string[]
}

export function explainLines(
  { number, drift, verdict, change, aside }: ExplainedLine,
  observed: Observation,
  detail: ExplainDetail,
): string[] {
  const path = formatShownPath(observed.key, drift.id, drift.path)
  const rows: (readonly [label: string, text: string])[] = []
  if (aside === undefined) {
    const risk = RISK_RULES.find(({ code }) => code === change.reason)
    rows.push([
      'plan',
      `${change.resolution}, risk ${change.risk} ${change.reason}: ${risk?.why ?? ''}`,
    ])
  } else rows.push(['state', stateText(aside)])
  const shown = describeVisibility(drift)
  if (shown !== undefined) rows.push(['value', convertToOneLine(shown, 400)])
  for (const [index, text] of explainActor(drift.actor, observed.policy.actors).entries())
    rows.push([index === 0 ? 'writer' : '', text])
  for (const [index, text] of (detail.origin ?? []).entries())
    rows.push([index === 0 ? 'git' : '', convertToOneLine(text, 400)])
  for (const note of drift.notes) rows.push(['note', convertToOneLine(note, 400)])
  for (const name of detail.unheard ? describeUnheardAnnotations(verdict) : [])
    rows.push([
      'note',
      `${convertToOneLine(name, 100)} counts with its value in git, not with the live one`,
    ])
  return [
    `${number}  ${convertToOneLine(describeResourceId(drift.id))}  ${convertToOneLine(path, 200)}${path === '' ? '' : '  '}(${drift.change}${drift.rolledBack === undefined ? '' : ', rolled back'})`,
    ...rows.flatMap(([label, text]) => wrapText(`   ${label.padEnd(8)}`, text, detail.width)),
    ...formatRuleLines({ drift, verdict, aside }, observed, detail),
  ]
}

function describeVisibility(drift: Drift): string | undefined {
  if (drift.liveUnread) return 'not shown: the content of the Secret is not read'
  const values = [drift.live, drift.git].filter((value) => value !== undefined)
  const hidden = values.map((value) => explainHidden(drift, value)).find((why) => why !== undefined)
  if (drift.path.length > 0 && hidden !== undefined)
    return `not shown: ${hidden}${canBeShown(drift, hidden) ? '; a policy can show it with spec.show' : ''}`
  return drift.visibility?.shown === true ? `shown: ${drift.visibility.why}` : undefined
}

function canBeShown({ path, live, git }: Drift, hidden: string): boolean {
  if (hidden === PASSWORD_BY_SCHEMA) return true
  return (
    [live, git].every((value) => value === undefined || !isNeverShown(path, value)) &&
    [live, git].some((value) => explainSecret(path, value) === hidden)
  )
}

function stateText({ state, why, commit, stuckSince, observe }: SetAside): string {
  const late =
    state === 'SyncFailed' || stuckSince === undefined
      ? state
      : `${state} (${describeStuckSince(stuckSince || undefined)})`
  if (stuckSince !== undefined)
    return `${late}: ${convertToOneLine(why, 600)}${observe === undefined ? '' : `; ${observe}`}`
  const at =
    commit === undefined || why.includes(commit.slice(0, 7))
      ? ''
      : `; live is commit ${commit.slice(0, 12)}`
  return `${state}, no drift: ${convertToOneLine(why, 400)}${at}`
}

function describeUnheardAnnotations({ live, desired }: ObjectVerdict): readonly string[] {
  if (live === undefined) return []
  return listLiveOnlyAnnotations(
    getAnnotations(live),
    desired === undefined ? new Map() : getAnnotations(desired.object),
  )
}

function formatRuleLines(
  { drift, verdict, aside }: Pick<ExplainedLine, 'drift' | 'verdict' | 'aside'>,
  { policy, cluster }: Observation,
  { width, everyRule }: ExplainDetail,
): string[] {
  const today = cluster.observedAt.slice(0, 10)
  const preset =
    aside?.state === 'Ignored' && aside.rule !== undefined ? findRuleByName(aside.rule) : undefined
  const tried = [
    ...(verdict.tried ?? [])
      .filter((one) => one.change === drift.change && one.path === drift.path)
      .map((one) => ({ name: one.rule, about: undefined, answer: `no: ${one.because}` })),
    ...(preset === undefined || aside === undefined
      ? []
      : [
          {
            name: `preset:${preset.name}`,
            about: undefined,
            answer: `hides it: ${preset.reason} See ${preset.link}`,
          },
        ]),
    ...listRuleAnswers(policy.ignore, { drift, verdict }, today, preset !== undefined),
  ]
  const count = `${tried.length} ${tried.length === 1 ? 'rule' : 'rules'} tried`
  if (tried.length === 0)
    return ['   rules   there is no ignore rule, and no preset covers such a field']
  if (!everyRule)
    return [`   rules   ${count}, ${aside?.state === 'Ignored' ? 'one hides it' : 'none hides it'}`]
  return [
    `   rules   ${count}, in this order`,
    ...tried.flatMap((one) => formatTriedLines(one, width)),
  ]
}

interface Tried {
  readonly name: string
  /** Undefined if the answer names it. */
  readonly about: string | undefined
  readonly answer: string
}

function formatTriedLines({ name, about, answer }: Tried, width: number): string[] {
  const one = `     ${name}  ${answer}`
  if (about === undefined && one.length <= width) return [one]
  return [
    ...wrapText('     ', `${name}${about === undefined ? '' : `  ${about}`}`, width),
    ...wrapText('       ', answer, width),
  ]
}

function listRuleAnswers(
  rules: readonly IgnoreRule[],
  { drift, verdict }: Pick<ExplainedLine, 'drift' | 'verdict'>,
  today: string,
  hidden: boolean,
): Tried[] {
  let first = !hidden
  return rules.map((rule) => {
    const about = convertToOneLine(describeRule(rule) || 'every object', 200)
    const name = `${convertToOneLine(rule.where, 200)} (${levelText(rule)})`
    if (!isActive(rule, today))
      return { name, about, answer: `not tried: it ended on ${rule.expires ?? ''}` }
    const mismatch = findIgnoreMismatch(drift, rule, verdict)
    if (mismatch !== undefined)
      return {
        name,
        about: undefined,
        answer: `no: ${convertToOneLine(describeMismatch(mismatch), 300)}`,
      }
    const answer = first ? 'hides it' : 'would hide it too'
    first = false
    const until = rule.expires === undefined ? 'without an end' : `until ${rule.expires}`
    return { name, about, answer: `${answer}, ${until}: ${convertToOneLine(rule.reason, 200)}` }
  })
}

function levelText({ level, policy }: IgnoreRule): string {
  if (level === 'object') return 'annotation of the object'
  if (level === 'package') return 'annotation of the Kptfile'
  return policy === undefined ? 'policy' : `policy/${policy.name}, priority ${policy.priority}`
}

export function wrapText(head: string, text: string, width: number): string[] {
  const lines: string[] = []
  let line = head
  for (const word of text.split(' ')) {
    const empty = line.trim() === '' || line === head
    if (!empty && line.length + 1 + word.length > width) {
      lines.push(line)
      line = ' '.repeat(head.length) + word
    } else line += empty ? word : ` ${word}`
  }
  return [...lines, line]
}
