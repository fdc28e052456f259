/** The invisible first line of our comments and issues, which names their topic. */

const MARKER = /^<!-- backporch:topic:([a-z0-9][a-z0-9/-]*) -->(?:\n|$)/

/** The text under its marker. @param topic a word of ours: lower-case letters, digits, `-` and `/` */
export function withTopic(topic: string, body: string): string {
  return `<!-- backporch:topic:${topic} -->\n${body}`
}

/** The topic of a text of ours, and the text under the marker; undefined for other text. `body` has `\n` as line break. */
export function readTopic(
  text: string,
): { readonly topic: string; readonly body: string } | undefined {
  const plain = plainLines(text)
  const match = MARKER.exec(plain)
  return match === null ? undefined : { topic: match[1] ?? '', body: plain.slice(match[0].length) }
}

/** Forges give back `\r\n` where somebody edited in a browser. */
export function plainLines(text: string | null | undefined): string {
  return (text ?? '').replace(/\r\n?/g, '\n')
}

/** A command may stand in the comment: only then are more requests spent on it. */
export function mayCommand(body: string): boolean {
  return /^\//m.test(body)
}

/** Equal texts on a forge, which may trim the end and change line breaks. */
export function sameText(left: string, right: string): boolean {
  return plainLines(left).trimEnd() === plainLines(right).trimEnd()
}
