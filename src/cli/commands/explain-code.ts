import { FAILURE_CODES, Failure, type FailureCode, getExitCode } from '@backporch/kyaml/failure'
import { NOTE_CAUSES, type NoteCause } from '@backporch/kyaml/note'
import { findNearestNames } from '@backporch/kyaml/text'
import { findRuleByName, NOISE_RULES } from '../../drift/noise/presets.ts'
import { RISK_RULES } from '../../drift/risk/risk.ts'
import { TENANCY_RULES, type TenancyRule } from '../../policy/tenancy-rules.ts'
import { wrapText } from '../print/explain-lines.ts'
import { FAILURE_GUIDE } from '../print/failure-guide.ts'
import { NOTE_GUIDE } from '../print/note-guide.ts'

/**
 * Undefined: `what` is a package.
 * @throws Failure BP1001 for an unknown code
 */
export function explainCode(what: string, width: number): readonly string[] | undefined {
  const code = what.toUpperCase()
  if (Object.hasOwn(FAILURE_CODES, code)) {
    const known = code as FailureCode
    const { cause, fix } = FAILURE_GUIDE[known]
    return [
      `${known}: ${FAILURE_CODES[known]}`,
      ...wrapText('cause: ', cause, width),
      ...wrapText('fix: ', fix, width),
      exitLine(known),
    ]
  }
  const rule = RISK_RULES.find((candidate) => candidate.code === code)
  if (rule !== undefined) return [`${rule.code}: ${rule.why}`, `risk ${rule.risk}`]
  if (Object.hasOwn(TENANCY_RULES, code))
    return [
      `${code}: ${TENANCY_RULES[code as TenancyRule]}`,
      `${FAILURE_CODES.BP3017} (BP3017), exit code 3`,
    ]
  const preset = what.startsWith('preset:') ? findRuleByName(what) : undefined
  if (preset !== undefined) return [`${what}: ${preset.reason}`, preset.mutes, `see ${preset.link}`]
  const cause = noteCause(what)
  if (cause !== undefined)
    return [
      `note ${cause}: it is about ${NOTE_CAUSES[cause]}`,
      ...wrapText('fix: ', NOTE_GUIDE[cause], width),
    ]
  if (!/^([Bb][Pp][0-9]+|[A-Z]+(-[A-Z]+)+|preset:.*|note:.*)$/.test(what)) return undefined
  const near = listNearestCodes(what)
  const didYouMean = near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`
  throw new Failure({
    code: 'BP1001',
    what: `there is no code ${what.slice(0, 100)}`,
    why: `codes are BPnnnn for errors, the reasons that diff prints after the risk, preset:NAME for what is not drift, and note:CAUSE for notes${didYouMean}`,
    remedy:
      near.length === 0
        ? describeCodesOfKind(code)
        : `write ${near.map((each) => `backporch explain ${each}`).join(' or ')}`,
  })
}

export function addNearestCodes(thrown: unknown, what: string): unknown {
  const near = listNearestCodes(what)
  if (!(thrown instanceof Failure) || thrown.code !== 'BP1004' || near.length === 0) return thrown
  return new Failure({
    ...thrown.toJSON(),
    remedy: `${thrown.remedy}; for a code, write ${near.join(' or ')}`,
  })
}

/** The prefix is optional only for names with a hyphen, which folders rarely have. */
function noteCause(what: string): NoteCause | undefined {
  const name = what.replace(/^note:/, '')
  return Object.hasOwn(NOTE_CAUSES, name) && (name !== what || name.includes('-'))
    ? (name as NoteCause)
    : undefined
}

/** These do not end a command. */
const OF_AN_OBJECT: ReadonlySet<FailureCode> = new Set(['BP3011', 'BP3012', 'BP3017', 'BP4011'])

function exitLine(code: FailureCode): string {
  const ends = `exit code ${getExitCode(code)}`
  return OF_AN_OBJECT.has(code)
    ? `exit code 3 if it is about an object, ${getExitCode(code)} if it ends the command`
    : ends
}

const CODES: ReadonlyMap<string, string> = new Map([
  ...[
    ...Object.keys(FAILURE_CODES),
    ...RISK_RULES.map(({ code }) => code),
    ...Object.keys(TENANCY_RULES),
  ].map((code) => [code, code] as const),
  ...listPrefixedNames(
    'preset:',
    NOISE_RULES.map(({ name }) => name),
  ),
  ...listPrefixedNames('note:', Object.keys(NOTE_CAUSES)),
])

function listPrefixedNames(
  prefix: string,
  names: readonly string[],
): (readonly [typed: string, code: string])[] {
  return names.flatMap((name) =>
    [`${prefix}${name}`, name].map((typed) => [typed, `${prefix}${name}`] as const),
  )
}

const MOST_OFFERED = 3

/** By edit distance alone, BP1002 is as near to BP9002 as BP9001. */
function listNearestCodes(what: string): readonly string[] {
  const near = findNearestNames(what, CODES.keys()).toSorted(
    (one, other) => countCommonPrefix(other, what) - countCommonPrefix(one, what),
  )
  return [...new Set(near.map((typed) => CODES.get(typed) ?? typed))].slice(0, MOST_OFFERED)
}

function countCommonPrefix(one: string, other: string): number {
  const [left, right] = [one.toLowerCase(), other.toLowerCase()]
  let length = 0
  while (length < left.length && left[length] === right[length]) length += 1
  return length
}

function describeCodesOfKind(code: string): string {
  if (code.startsWith('PRESET:'))
    return `presets are ${NOISE_RULES.map(({ name }) => name).join(', ')}`
  if (code.startsWith('NOTE:')) return `causes are ${Object.keys(NOTE_CAUSES).join(', ')}`
  if (code.startsWith('BP')) return `codes of errors are ${listFailureRanges().join(', ')}`
  if (code.startsWith('TEN-'))
    return `codes of objects outside a package are ${Object.keys(TENANCY_RULES).join(', ')}`
  return `risk codes are ${RISK_RULES.map((rule) => rule.code).join(', ')}`
}

function listFailureRanges(): readonly string[] {
  const hundreds = Map.groupBy(Object.keys(FAILURE_CODES), (code) => code.slice(0, -2))
  return [...hundreds.values()].map((codes) => [...new Set([codes[0], codes.at(-1)])].join(' to '))
}
