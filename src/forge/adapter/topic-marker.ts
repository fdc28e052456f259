const MARKER = /^<!-- backporch:topic:([a-z0-9][a-z0-9/-]*) -->(?:\n|$)/

/** @param topic lower-case letters, digits, `-` and `/` */
export function addTopic(topic: string, body: string): string {
  return `<!-- backporch:topic:${topic} -->\n${body}`
}

/** Undefined for other texts. `body` has `\n` line breaks. */
export function readTopic(
  text: string,
): { readonly topic: string; readonly body: string } | undefined {
  const plain = normalizeLines(text)
  const match = MARKER.exec(plain)
  return match === null ? undefined : { topic: match[1] ?? '', body: plain.slice(match[0].length) }
}

/** Forges return `\r\n` after an edit in a browser. */
export function normalizeLines(text: string | null | undefined): string {
  return (text ?? '').replace(/\r\n?/g, '\n')
}

export function mayCommand(body: string): boolean {
  return /^\//m.test(body)
}

/** A forge may trim the end and change line breaks. */
export function isSameText(left: string, right: string): boolean {
  return normalizeLines(left).trimEnd() === normalizeLines(right).trimEnd()
}
