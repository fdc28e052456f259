/** git documentation, git-interpret-trailers. */
import type { Identity } from '../objects/object-format.ts'

/** `kpt:{…}` has no space after the colon, so its paragraph never takes a trailer. */
const TRAILER = /^[A-Za-z0-9-]+: /

export function normalizeMessage(message: string): string {
  return `${message.replace(/\r\n?/g, '\n').trimEnd()}\n`
}

export function signOff(message: string, identity: Identity): string {
  const text = normalizeMessage(message).trimEnd()
  const line = `Signed-off-by: ${identity.name} <${identity.email}>`
  const paragraphs = text.split(/\n{2,}/)
  const last = (paragraphs.at(-1) ?? '').split('\n')
  const trailers =
    paragraphs.length > 1 &&
    last.every((each, at) => TRAILER.test(each) || (at > 0 && /^[ \t]/.test(each)))
  if (trailers && last.includes(line)) return `${text}\n`
  return `${text}${trailers ? '\n' : '\n\n'}${line}\n`
}

export const BOT: Identity = {
  name: 'backporch[bot]',
  email: 'backporch@users.noreply.backporch.dev',
}
