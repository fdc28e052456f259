import { convertToOneLine } from '@backporch/kyaml/text'
import { SUBJECT_LIMIT } from '../record/subject.ts'

/** `{{type}}` is `fix` or `chore`, `{{summary}}` describes the commit. */
export interface SubjectRules {
  readonly prefix?: string | undefined
  /** Contains `{{summary}}` once. */
  readonly template?: string | undefined
}

export interface HouseRules {
  readonly commit: SubjectRules & { readonly signOff: boolean }
  readonly pullRequest: {
    readonly title: SubjectRules
    readonly reviewers: readonly string[]
    readonly assignees: readonly string[]
    readonly labels: readonly string[]
    readonly milestone: string | undefined
    readonly draft: boolean
    readonly footer: string | undefined
  }
}

export const NO_HOUSE_RULES: HouseRules = {
  commit: { signOff: true },
  pullRequest: {
    title: {},
    reviewers: [],
    assignees: [],
    labels: [],
    milestone: undefined,
    draft: false,
    footer: undefined,
  },
}

const CONVENTIONAL = /^(fix|chore)\(drift\): (.*)$/s
const CRITICAL = ' [CRITICAL]'
const LEAST = 40

export function formatHouseSubject(line: string, { prefix, template }: SubjectRules): string {
  const [, type, summary] = CONVENTIONAL.exec(line) ?? []
  if (
    type === undefined ||
    summary === undefined ||
    (prefix === undefined && template === undefined)
  )
    return line
  const [before = '', after = ''] = (template ?? '{{summary}}')
    .replaceAll('{{type}}', type)
    .split('{{summary}}')
  const head = `${prefix === undefined ? '' : `${prefix} `}${before}`
  return head + cut(summary, Math.max(LEAST, SUBJECT_LIMIT - head.length - after.length)) + after
}

export function formatHouseMessage(message: string, rules: SubjectRules): string {
  const [subject = '', ...rest] = message.split('\n')
  return [formatHouseSubject(subject, rules), ...rest].join('\n')
}

function cut(summary: string, room: number): string {
  if (!summary.endsWith(CRITICAL)) return convertToOneLine(summary, room)
  return convertToOneLine(summary.slice(0, -CRITICAL.length), room - CRITICAL.length) + CRITICAL
}
