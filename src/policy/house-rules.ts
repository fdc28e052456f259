/** What a repository demands of commits and pull requests: its rulesets, its DCO check, its release tools. */
import { oneLine } from '@backporch/kyaml/text'
import { SUBJECT_LIMIT } from '../record/subject.ts'

/** `{{type}}` is `fix` or `chore`, `{{summary}}` what the commit does. */
export interface SubjectRules {
  /** Stands before the summary, in place of `fix(drift):`. */
  readonly prefix?: string | undefined
  /** With `{{summary}}` once. */
  readonly template?: string | undefined
}

export interface HouseRules {
  readonly commit: SubjectRules & { readonly signOff: boolean }
  readonly pullRequest: {
    readonly title: SubjectRules
    /** Logins and `org/team` names, without `@`. */
    readonly reviewers: readonly string[]
    readonly assignees: readonly string[]
    readonly labels: readonly string[]
    /** Its title. */
    readonly milestone: string | undefined
    /** Opened as a draft, which a person marks as ready. */
    readonly draft: boolean
    /** Markdown below every body. */
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
/** Characters of a summary that a long prefix leaves. */
const LEAST = 40

/** @param line `fix(drift): adopt …`, as every subject and title of ours is */
export function houseSubject(line: string, { prefix, template }: SubjectRules): string {
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

/** The same commit message with its subject as the repository has it. */
export function houseMessage(message: string, rules: SubjectRules): string {
  const [subject = '', ...rest] = message.split('\n')
  return [houseSubject(subject, rules), ...rest].join('\n')
}

function cut(summary: string, room: number): string {
  if (!summary.endsWith(CRITICAL)) return oneLine(summary, room)
  return oneLine(summary.slice(0, -CRITICAL.length), room - CRITICAL.length) + CRITICAL
}
