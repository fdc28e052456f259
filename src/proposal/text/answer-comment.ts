/**
 * The one comment with the results of the last commands. Its text is their only storage: it is read back, so that a command that is
 * answered again stays one entry at the same position. Names of people are in code, so that nobody is mentioned.
 */
import { markdownCell } from '@backporch/kyaml/markdown'
import { type CommandResult, SEE_BELOW } from './command-answer.ts'
import { firstFitting, time } from './words.ts'

export const ANSWER_TOPIC = 'command'

export interface PostedAnswer extends CommandResult {
  /** Undefined for a ticked box: the person and the time are unknown. */
  readonly requested?: CommandComment
}

interface CommandComment {
  /** Id of the comment on the forge. */
  readonly comment: string
  /** RFC 3339 UTC: when its text was written. */
  readonly at: string
  /** Login of its author, where another person may have edited it. */
  readonly author?: string
  /** Whether its author may command here. Of others only the last few are listed, so that they cannot push out the rest. */
  readonly heard: boolean
}

/** A line of the comment. All lines of one comment of a person are replaced together. */
interface Entry {
  readonly at: string
  /** Empty for a ticked box. */
  readonly comment: string
  /** Position of the command in its comment, from 0. */
  readonly index: number
  readonly heard: boolean
  /** Markdown. */
  readonly line: string
  /** Markdown, with its heading. */
  readonly details: string | undefined
}

/** The last entries are shown. */
const SHOWN = 10
const UNHEARD_SHOWN = 3
const DETAILS_SHOWN = 4
const TOO_LONG = 'The reactions on the comments show the results.\n'

/**
 * @param before the present comment, which only its author may have written; empty without one
 * @param results of one comment in their order
 * @param limit most UTF-16 code units
 */
export function answerComment(
  before: string,
  results: readonly PostedAnswer[],
  limit: number,
): string {
  const retained = readEntries(before)
  const entries = entriesOf(results, retained)
  const again = new Set(entries.map(({ comment }) => comment))
  const all = [...retained.filter(({ comment }) => !again.has(comment)), ...entries].sort(inOrder)
  const unheard = new Set(all.filter(({ heard }) => !heard).slice(-UNHEARD_SHOWN))
  const heard = new Set(all.filter((entry) => entry.heard).slice(-SHOWN))
  const last = all.filter((entry) => heard.has(entry) || unheard.has(entry))
  const withDetails = Array.from({ length: DETAILS_SHOWN + 1 }, (_, index) => ({
    entries: last,
    details: DETAILS_SHOWN - index,
  }))
  const without = last.slice(1).map((_, index) => ({ entries: last.slice(index + 1), details: 0 }))
  return (
    firstFitting(
      [...withDetails, ...without],
      ({ entries: shown, details }) => bodyOf(shown, details),
      limit,
    ) ?? TOO_LONG
  )
}

function entriesOf(results: readonly PostedAnswer[], retained: readonly Entry[]): Entry[] {
  const count = new Map<string, number>()
  const newest = retained.at(-1)?.at ?? ''
  return results.map((result) => {
    const { by, line, done, text, details, requested } = result
    const { comment, heard } = requested ?? { comment: '', heard: true }
    const index = count.get(comment) ?? 0
    count.set(comment, index + 1)
    const whose =
      requested === undefined
        ? 'a ticked box'
        : `${markdownCell(line, 100)} of ${markdownCell(by, 60)}${editing(by, requested)}, ${time(requested.at)}`
    const message = `${done ? '✅' : '😕'} ${whose}: ${text}`
    // A box that is refused again keeps the time of its first refusal.
    const at =
      requested?.at ??
      retained.find((entry) => entry.comment === '' && entry.line === message)?.at ??
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

function editing(by: string, { author = by }: CommandComment): string {
  return author === by ? '' : `, who edited a comment of ${markdownCell(author, 60)}`
}

/** By time; within a second by the number of the comment on the forge. A ticked box follows the comments. */
function inOrder(left: Entry, right: Entry): number {
  if (left.at !== right.at) return left.at < right.at ? -1 : 1
  if (left.comment === right.comment) return left.index - right.index
  if (left.comment === '' || right.comment === '') return left.comment === '' ? 1 : -1
  const shorter = left.comment.length - right.comment.length
  return shorter !== 0 ? shorter : left.comment < right.comment ? -1 : 1
}

function bodyOf(entries: readonly Entry[], most: number): string {
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

/** Never throws. Lines in another form are left out: people with the right to do so may have edited the comment. */
function readEntries(body: string): Entry[] {
  const details = readDetails(body)
  return body.split('\n').flatMap((text): Entry[] => {
    const [, line = '', word, at = '', comment = '', index = ''] =
      (text.length <= LONGEST_LINE ? LINE.exec(text) : null) ?? []
    if (word === undefined || !isHarmless(line)) return []
    const own = details.get([comment, index].join())
    return [{ at, comment, index: Number(index), heard: word === 'answer', line, details: own }]
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

/** Whether nothing outside of code mentions a person, is HTML, or is a command. */
function isHarmless(line: string): boolean {
  return !/[@<]|^\s*\//.test(line.replaceAll(CODE, 'code').replaceAll(ADDRESS, ']'))
}
