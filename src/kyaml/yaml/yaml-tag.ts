/** As in go-yaml (`encode.go`, `node`; `resolve.go`). */
import { resolveGoScalar } from './go-scalar.ts'
import type { YamlAlias, YamlNode, YamlScalar, YamlSource } from './yaml-node.ts'

/** go-yaml writes a tag in the text again, even if redundant. */
export interface TaggedSource extends YamlSource {
  readonly tagged: true
}

function isTagged({ source }: YamlNode): boolean {
  return source !== undefined && 'tagged' in source
}

const OWN_TAG = { map: '!!map', list: '!!seq' } as const

export function getWrittenTag(node: Exclude<YamlNode, YamlAlias>): string {
  const { tag } = node
  // go-yaml v3 reads a merge key with its own tag, and then no longer recognises it.
  if (
    tag === '' &&
    node.kind === 'scalar' &&
    node.style === 'plain' &&
    node.value === '<<' &&
    node.source !== undefined
  )
    return '!!merge'
  if (tag === '' || tag === '!') return ''
  if (isTagged(node)) return tagText(tag)
  if (node.kind !== 'scalar') return tag === OWN_TAG[node.kind] ? '' : tagText(tag)
  return tag === '!!str' || tag === derivePlainTag(node.value) ? '' : tagText(tag)
}

export function getWantedStyle(node: YamlScalar): YamlScalar['style'] {
  const { tag, value } = node
  if (node.style !== 'plain') return node.style
  if (value.includes('\n')) return 'literal'
  const isText = tag === '!' || (tag === '!!str' && !isTagged(node))
  return isText && !readsAsText(value) ? 'double' : 'plain'
}

const LONG_TAG = 'tag:yaml.org,2002:'
const TAG_CHARACTER = /[-A-Za-z0-9_;/?:@&=+$,.~*'()[\]]/

function tagText(tag: string): string {
  const content = (text: string): string =>
    Array.from(text, (each) => (TAG_CHARACTER.test(each) ? each : encodePercent(each))).join('')
  if (tag.startsWith('!!')) return `!!${content(tag.slice(2))}`
  if (tag.startsWith(LONG_TAG)) return `!!${content(tag.slice(LONG_TAG.length))}`
  return tag.startsWith('!') ? `!${content(tag.slice(1))}` : `!<${content(tag)}>`
}

function encodePercent(character: string): string {
  return Array.from(
    new TextEncoder().encode(character),
    (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('')
}

/** go-yaml v2 in kubectl reads `yes` as true, and v3 in kpt reads a date as a time. */
export function readsAsText(text: string): boolean {
  const read = resolveGoScalar(text, true)
  return (
    text !== '<<' &&
    read.is === 'value' &&
    typeof read.value === 'string' &&
    derivePlainTag(text) === '!!str'
  )
}

export function derivePlainTag(text: string): string {
  if (/^(true|True|TRUE|false|False|FALSE)$/.test(text)) return '!!bool'
  if (isGoTime(text)) return '!!timestamp'
  const read = resolveGoScalar(text, true)
  if (read.is !== 'value') return '!!float'
  if (read.value === null) return '!!null'
  if (typeof read.value !== 'number' && typeof read.value !== 'bigint') return '!!str'
  if (/^[-+]?0[xob]/i.test(text)) return '!!int'
  return /[.e]/i.test(text) || BigInt(text.replace(/[-+_]/g, '')) >= 2n ** 64n ? '!!float' : '!!int'
}

const GO_TIME =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)| (\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?)?$/

/** In Go's JSON form. */
export function goTimeText(text: string): string {
  const [, year = '', month = '', day = '', ...clock] = GO_TIME.exec(text) ?? []
  const [hours, minutes, seconds] = clock[0] === undefined ? clock.slice(3, 6) : clock
  const two = (part: string | undefined): string => (part ?? '').padStart(2, '0')
  const fraction = /[.,](\d{1,9})/.exec(text)?.[1]?.replace(/0+$/, '') ?? ''
  const zone = /[-+]\d\d:\d\d$/.exec(text)?.[0] ?? 'Z'
  return `${year}-${two(month)}-${two(day)}T${two(hours)}:${two(minutes)}:${two(seconds)}${fraction && `.${fraction}`}${zone.replace(/^[-+]00:00$/, 'Z')}`
}

function isGoTime(text: string): boolean {
  const match = GO_TIME.exec(text)
  if (match === null) return false
  const part = (index: number): number => Number(match[index] ?? 0)
  const [month, day] = [part(2), part(3)]
  const days = new Date(Date.UTC(2000 + (part(1) % 400), month, 0)).getUTCDate()
  const inYear = month >= 1 && month <= 12 && day >= 1 && day <= days
  return inYear && part(4) + part(7) < 24 && part(5) + part(8) < 60 && part(6) + part(9) < 60
}
