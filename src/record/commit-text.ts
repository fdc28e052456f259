/**
 * Forges read commit messages: mentions notify people, references close issues, `[skip ci]` keeps
 * checks from running, and Porch takes the first line that begins with `kpt:`. Such marks in
 * foreign text are written as `\u{…}`, like invisible characters in `oneLine`.
 */
const MARKS: readonly RegExp[] = [
  // Not the address in `Ada <ada@example.com>`.
  /(?<![\w.])@(?=\w)/g,
  /[#!](?=\d)/g,
  /(?<=\bGH)-(?=\d)/gi,
  // A closing keyword before the address closes the issue too.
  /(?<=:\/)\/(?=\S*\/(?:issues|pulls?|merge_requests|work_items)\/\d)/g,
  /\[(?=\s*(?:skip|no|ci|actions?)[\s-]*(?:skip|ci|actions?)?\s*\])/gi,
  /\*(?=\*\*NO_CI\*\*\*)/gi,
  /(?<=\bkpt):/gi,
  /(?<=\bskip-checks):/gi,
]

export function commitText(text: string): string {
  return replaceMarks(text, (code) => `\\u{${code.toString(16)}}`)
}

export function commitJson(text: string): string {
  const show = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`
  return replaceMarks(text, show).replace(/[\u007f-\uffff]/g, (unit) => show(unit.charCodeAt(0)))
}

function replaceMarks(text: string, show: (code: number) => string): string {
  return MARKS.reduce(
    (safe, mark) => safe.replace(mark, (character) => show(character.charCodeAt(0))),
    text,
  )
}
