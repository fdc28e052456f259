/**
 * The comment is the only storage of the results: it is read back, so that a repeated command stays
 * one entry at the same position. Names of people are formatted as code, so that nobody is
 * mentioned.
 */
import { formatMarkdownCell } from '@backporch/kyaml/markdown'
import { type CommandResult, SEE_BELOW } from './command-answer.ts'
import { findFirstFitting, time } from './words.ts'

export const ANSWER_TOPIC = 'command'

export interface PostedAnswer extends CommandResult {
  /** Undefined for a ticked box, whose person and time are unknown. */
  readonly requested?: CommandComment
}

interface CommandComment {
  readonly comment: string
  /** RFC 3339 UTC. */
  readonly at: string
  readonly author?: string
  /**
   * The author may give commands. Of others only the last few are listed, so that they cannot
   * displace the rest.
   */
  readonly heard: boolean
}

/** All lines of one person's comment are replaced together. */
interface Entry {
  readonly at: string
  /** Undefined for a ticked box. */
  readonly comment: string | undefined
  readonly index: number
  readonly heard: boolean
  readonly line: string
  readonly details: string | undefined
}

const SHOWN = 10
const UNHEARD_SHOWN = 3
const DETAILS_SHOWN = 4
const TOO_LONG = 'The reactions on the comments show the results.\n'

/**
 * @param before only its author may have written it; empty without one
 * @param results of one comment in order
 * @param limit UTF-16 code units
 */
export function answerComment(
  before: string,
  results: readonly PostedAnswer[],
  limit: number,
): string {
  const retained = readEntries(before)
  const entries = createEntries(results, retained)
  const again = new Set(entries.map(({ comment }) => comment))
  const all = [...retained.filter(({ comment }) => !again.has(comment)), ...entries].sort(
    compareEntries,
  )
  const unheard = new Set(all.filter(({ heard }) => !heard).slice(-UNHEARD_SHOWN))
  const heard = new Set(all.filter((entry) => entry.heard).slice(-SHOWN))
  const last = all.filter((entry) => heard.has(entry) || unheard.has(entry))
  const withDetails = Array.from({ length: DETAILS_SHOWN + 1 }, (_, index) => ({
    entries: last,
    details: DETAILS_SHOWN - index,
  }))
  const without = last.slice(1).map((_, index) => ({ entries: last.slice(index + 1), details: 0 }))
  return (
    findFirstFitting(
      [...withDetails, ...without],
      ({ entries: shown, details }) => formatBody(shown, details),
      limit,
    ) ?? TOO_LONG
  )
}

function createEntries(results: readonly PostedAnswer[], retained: readonly Entry[]): Entry[] {
  const count = new Map<string | undefined, number>()
  const newest = retained.at(-1)?.at ?? ''
  return results.map((result) => {
    const { by, line, done, text, details, requested } = result
    const { comment, heard } = requested ?? { comment: undefined, heard: true }
    const index = count.get(comment) ?? 0
    count.set(comment, index + 1)
    const whose =
      requested === undefined || by === undefined
        ? 'a ticked box'
        : `${formatMarkdownCell(line, 100)} of ${formatMarkdownCell(by, 60)}${formatEditing(by, requested)}, ${time(requested.at)}`
    const message = `${done ? '✅' : '😕'} ${whose}: ${text}`
    // A box that is refused again keeps its first refusal's time.
    const at =
      requested?.at ??
      retained.find((entry) => entry.comment === undefined && entry.line === message)?.at ??
      newest
    return {
      at,
      comment,
      index,
      heard,
      line: message,
      details: details === undefined ? undefined : `${whose}:\n\n${details}`,
    }
  })
}

function formatEditing(by: string, { author = by }: CommandComment): string {
  return author === by ? '' : `, who edited a comment of ${formatMarkdownCell(author, 60)}`
}

/** Within a second by the comment's number. Ticked boxes follow the comments. */
function compareEntries(left: Entry, right: Entry): number {
  if (left.at !== right.at) return left.at < right.at ? -1 : 1
  if (left.comment === right.comment) return left.index - right.index
  if (left.comment === undefined) return 1
  if (right.comment === undefined) return -1
  const shorter = left.comment.length - right.comment.length
  return shorter !== 0 ? shorter : left.comment < right.comment ? -1 : 1
}

function formatBody(entries: readonly Entry[], most: number): string {
  const detailed = entries.filter(({ details }) => details !== undefined)
  const shown = new Set(detailed.slice(Math.max(0, detailed.length - most)))
  return [
    'Results of the last commands:',
    '',
    ...entries.map((entry) => {
      const { at, comment, index, heard, line } = entry
      const text = shown.has(entry)
        ? line
        : line.replace(POINTER, ': answered; the answer is no longer shown')
      return `- ${text} <!-- backporch:${heard ? 'answer' : 'unheard'}=${[at, comment, index].join()} -->`
    }),
    ...[...shown].flatMap(({ comment, index, details = '' }) => [
      '',
      `<!-- backporch:details=${[comment, index].join()} -->`,
      '',
      details,
    ]),
    '',
  ].join('\n')
}

const POINTER = new RegExp(`: ${SEE_BELOW}$`)
const LINE =
  /^- ((?:✅|😕) .*) <!-- backporch:(answer|unheard)=([0-9TZ:.-]{0,30}),([A-Za-z0-9_-]{0,60}),([0-9]{1,3}) -->$/u
const DETAILS = /^<!-- backporch:details=([A-Za-z0-9_-]{0,60}),([0-9]{1,3}) -->$/
const LONGEST_LINE = 5_000

/** Never throws. Skips other lines, because authorised people may have edited the comment. */
function readEntries(body: string): Entry[] {
  const details = readDetails(body)
  return body.split('\n').flatMap((text): Entry[] => {
    const [, line = '', word, at = '', comment = '', index = ''] =
      (text.length <= LONGEST_LINE ? LINE.exec(text) : null) ?? []
    if (word === undefined || !isHarmless(line)) return []
    const own = details.get([comment, index].join())
    return [
      {
        at,
        comment: comment || undefined,
        index: Number(index),
        heard: word === 'answer',
        line,
        details: own,
      },
    ]
  })
}

function readDetails(body: string): ReadonlyMap<string, string> {
  const found = new Map<string, string[]>()
  let own: string[] | undefined
  for (const line of body.split('\n')) {
    const [, comment, index] = DETAILS.exec(line) ?? []
    if (comment === undefined) own?.push(line)
    else {
      own = []
      found.set([comment, index].join(), own)
    }
  }
  const harmless = [...found].filter(([, lines]) =>
    lines.every((line) => line.length <= LONGEST_LINE && isHarmless(line)),
  )
  return new Map(harmless.map(([key, lines]) => [key, lines.join('\n').trim()]))
}

const CODE = /(`+)(?!`).*?(?<!`)\1(?!`)/g
const ADDRESS = /\]\(https?:[^()\s]*\)/g

function isHarmless(line: string): boolean {
  return !/[@<]|^\s*\//.test(line.replaceAll(CODE, 'code').replaceAll(ADDRESS, ']'))
}
