/**
 * Text from a cluster, from git or from a person on its way into a commit message. Forges read commit messages: mentions
 * notify people, references close issues, `[skip ci]` keeps the checks of a pull request from running, and Porch takes the
 * first line that begins with `kpt:` for its own. Such marks are written as `\u{…}`, the form in which `oneLine` writes invisible characters.
 */
const MARKS: readonly RegExp[] = [
  // A mention; not the address in `Ada <ada@example.com>`.
  /(?<![\w.])@(?=\w)/g,
  // `#1`, `org/repo#1`, `!1` of GitLab, `GH-1`.
  /[#!](?=\d)/g,
  /(?<=\bGH)-(?=\d)/gi,
  // The address of an issue or a request, which a closing keyword closes too.
  /(?<=:\/)\/(?=\S*\/(?:issues|pulls?|merge_requests|work_items)\/\d)/g,
  /\[(?=\s*(?:skip|no|ci|actions?)[\s-]*(?:skip|ci|actions?)?\s*\])/gi,
  /\*(?=\*\*NO_CI\*\*\*)/gi,
  /(?<=\bkpt):/gi,
  /(?<=\bskip-checks):/gi,
]

/** Every mark shown instead of meant. Line breaks stay. */
export function commitText(text: string): string {
  return withoutMarks(text, (code) => `\\u{${code.toString(16)}}`)
}

/** The same for the text of a JSON value, which stays the same value: JSON may write any character of a string as `\u` and four digits. */
export function commitJson(text: string): string {
  const show = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`
  return withoutMarks(text, show).replace(/[\u007f-\uffff]/g, (unit) => show(unit.charCodeAt(0)))
}

function withoutMarks(text: string, show: (code: number) => string): string {
  return MARKS.reduce(
    (safe, mark) => safe.replace(mark, (character) => show(character.charCodeAt(0))),
    text,
  )
}
