/**
 * sigs.k8s.io/yaml: the rules of go-yaml v2 (`resolve.go`), then JSON. No JavaScript YAML library
 * has them (`no` is false, and `12:30` is text).
 */
import type { Json } from '../text/json.ts'

export type GoScalar =
  | { readonly is: 'value'; readonly value: Json }
  | { readonly is: 'no-json' }
  | { readonly is: 'refused'; readonly why: string }

const TRUE = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'])
const FALSE = new Set(['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'])
const NULL = new Set(['', '~', 'null', 'Null', 'NULL'])
const NO_JSON = /^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/
/**
 * go-yaml uses Go's ParseFloat, which accepts underscores between digits, directly only after a
 * leading dot.
 */
const DOT_FLOAT = /^\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?$/
const INT64_MAX = 2n ** 63n - 1n
const INT64_MIN = -(2n ** 63n)
const UINT64_MAX = 2n ** 64n - 1n

const TAG_PREFIX = 'tag:yaml.org,2002:'
/** kubectl reads others as text or ignores them, against the author's intent. */
const SCALAR_TAGS = new Set(['str', 'int', 'float', 'bool', 'null', 'timestamp', 'binary', 'merge'])

type Resolved =
  | { readonly kind: 'str' | 'bool' | 'null'; readonly value: Json }
  | { readonly kind: 'int'; readonly integer: bigint }
  | { readonly kind: 'float'; readonly float: number }

function resolvePlain(text: string): Resolved {
  if (TRUE.has(text)) return { kind: 'bool', value: true }
  if (FALSE.has(text)) return { kind: 'bool', value: false }
  if (NULL.has(text)) return { kind: 'null', value: null }
  if (NO_JSON.test(text))
    return {
      kind: 'float',
      float: /nan/i.test(text) ? Number.NaN : text.startsWith('-') ? -Infinity : Infinity,
    }
  const first = text.charAt(0)
  if (first === '.') {
    const float = DOT_FLOAT.test(text) ? Number(text.replaceAll('_', '')) : Number.NaN
    if (Number.isFinite(float)) return { kind: 'float', float }
  } else if (/[-+0-9]/.test(first)) {
    const digits = text.replaceAll('_', '')
    const integer = parseGoInteger(digits)
    if (integer !== undefined) return { kind: 'int', integer }
    const float = FLOAT.test(digits) ? Number(digits) : Number.NaN
    if (Number.isFinite(float)) return { kind: 'float', float }
  }
  return { kind: 'str', value: text }
}

/** `strconv.ParseInt(text, 0, 64)`, then `ParseUint`, then go-yaml's `0b` followed by a sign. */
function parseGoInteger(text: string): bigint | undefined {
  const match =
    /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]([0-7]+)|0([0-7]+)|(0|[1-9][0-9]*))$/.exec(
      text,
    )
  if (match === null) {
    const late = /^0b([-+])([01]+)$/.exec(text)
    if (late === null) return undefined
    const value = BigInt(`0b${late[2]}`)
    return fitInt64(late[1] === '-' ? -value : value)
  }
  const [, sign, hex, binary, octal, oldOctal, decimal] = match
  const magnitude =
    hex !== undefined
      ? `0x${hex}`
      : binary !== undefined
        ? `0b${binary}`
        : decimal !== undefined
          ? decimal
          : `0o${octal ?? oldOctal}`
  const value = BigInt(magnitude)
  if (sign === '' && value <= UINT64_MAX) return value
  return fitInt64(sign === '-' ? -value : value)
}

function fitInt64(value: bigint): bigint | undefined {
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined
}

/** Exact within int64. */
function convertIntegerToJson(integer: bigint): Json {
  if (fitInt64(integer) === undefined) return convertFloatToJson(Number(integer))
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer
}

/** As Go writes JSON: integers below 1e21 have no exponent. */
function convertFloatToJson(float: number): Json {
  if (Object.is(float, -0)) return 0
  if (!Number.isInteger(float) || Number.isSafeInteger(float) || Math.abs(float) >= 1e21)
    return float
  return BigInt(String(float))
}

function convertToJson(resolved: Resolved): GoScalar {
  if (resolved.kind === 'int') return { is: 'value', value: convertIntegerToJson(resolved.integer) }
  if (resolved.kind !== 'float') return { is: 'value', value: resolved.value }
  return Number.isFinite(resolved.float)
    ? { is: 'value', value: convertFloatToJson(resolved.float) }
    : { is: 'no-json' }
}

function resolveTagged(
  text: string,
  plain: boolean,
  tag: string | undefined,
): Resolved | { readonly kind: 'refused'; readonly why: string } {
  if (tag === undefined) return plain ? resolvePlain(text) : { kind: 'str', value: text }
  if (tag === '!') return { kind: 'str', value: text }
  const name = tag.startsWith(TAG_PREFIX) ? tag.slice(TAG_PREFIX.length) : undefined
  if (name === undefined || !SCALAR_TAGS.has(name))
    return { kind: 'refused', why: 'the tag is not one that kubectl knows for a scalar' }
  if (name === 'str' || name === 'merge') return { kind: 'str', value: text }
  if (name === 'binary') return decodeBinary(text)
  const resolved = resolvePlain(text)
  if (name === 'timestamp')
    return resolved.kind === 'str'
      ? resolved
      : { kind: 'refused', why: 'the value does not fit its tag' }
  if (name === 'float' && resolved.kind === 'int')
    return { kind: 'float', float: Number(resolved.integer) }
  return resolved.kind === name
    ? resolved
    : { kind: 'refused', why: 'the value does not fit its tag' }
}

function decodeBinary(text: string): Resolved | { readonly kind: 'refused'; readonly why: string } {
  const packed = text.replace(/[\r\n]/g, '')
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(packed) || packed.length % 4 !== 0)
    return { kind: 'refused', why: 'the value is not base64' }
  return {
    kind: 'str',
    value: new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      Uint8Array.from(atob(packed), (c) => c.charCodeAt(0)),
    ),
  }
}

/**
 * @param text folded and unescaped
 * @param plain unquoted and not a block scalar
 * @param tag full: `tag:yaml.org,2002:str`; `!` is the non-specific tag
 */
export function resolveGoScalar(text: string, plain: boolean, tag?: string): GoScalar {
  const resolved = resolveTagged(text, plain, tag)
  return resolved.kind === 'refused'
    ? { is: 'refused', why: resolved.why }
    : convertToJson(resolved)
}

/**
 * As `kpt live apply` sends it: go-yaml v3 (`resolve.go`), then JSON
 * (docs/facts/kpt-live-scalars.md). Only `true` and `false` are booleans, a date is a time, and
 * every number is a double.
 */
export function resolveKptScalar(text: string, plain: boolean, tag?: string): GoScalar {
  const isUntagged = plain && tag === undefined
  if (isUntagged && (TRUE.has(text) || FALSE.has(text)) && !/^(true|false)$/i.test(text))
    return { is: 'value', value: text }
  const time = isUntagged ? readGoTime(text) : undefined
  if (time !== undefined) return { is: 'value', value: time }
  const read = resolveGoScalar(text, plain, tag)
  return read.is === 'value' && typeof read.value === 'bigint'
    ? { is: 'value', value: Number(read.value) }
    : read
}

const TIME =
  /^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[Tt]([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,]([0-9]+))?(Z|[-+][0-9]{2}:[0-9]{2})| ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,]([0-9]+))?)?$/

function readGoTime(text: string): string | undefined {
  const match = TIME.exec(text)
  if (match === null) return undefined
  const [, year = '', month = '', day = '', ...rest] = match
  const [hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] =
    rest[0] === undefined ? rest.slice(5) : rest
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > days)
    return undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const two = (part: string): string => part.padStart(2, '0')
  const nanoseconds = fraction.slice(0, 9).replace(/0+$/, '')
  const at = `${two(hour)}:${two(minute)}:${two(second)}${nanoseconds === '' ? '' : `.${nanoseconds}`}`
  return `${year}-${two(month)}-${two(day)}T${at}${/^[-+]00:00$/.test(zone) ? 'Z' : zone}`
}

/** JSON has only text keys: `no:` is "false" and `1e6:` is "1e+06". */
export function resolveGoKey(
  text: string,
  plain: boolean,
  tag?: string,
): { readonly key: string } | { readonly why: string } {
  const resolved = resolveTagged(text, plain, tag)
  if (resolved.kind === 'refused') return { why: resolved.why }
  if (resolved.kind === 'null') return { why: 'a key cannot be empty or null' }
  if (resolved.kind === 'float') return { key: formatFloat32(resolved.float) }
  if (resolved.kind !== 'int') return { key: String(resolved.value) }
  return fitInt64(resolved.integer) === undefined
    ? { why: 'a key cannot be a number beyond 64 bits' }
    : { key: String(resolved.integer) }
}

/** `FormatFloat(value, 'g', -1, 64)`: `1e+06` for 1000000. */
export function formatGoFloat(value: number): string {
  return Number.isFinite(value) ? formatShortGoFloat(value.toExponential()) : String(value)
}

/** `FormatFloat(value, 'g', -1, 32)`, as sigs.k8s.io/yaml writes a float key. */
function formatFloat32(value: number): string {
  const single = Math.fround(value)
  if (Number.isNaN(single)) return '.nan'
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf'
  if (single === 0) return Object.is(single, -0) ? '-0' : '0'
  let digits = 0
  while (Math.fround(Number(single.toExponential(digits))) !== single) digits += 1
  return formatShortGoFloat(single.toExponential(digits))
}

/** @param exponential with the fewest digits */
function formatShortGoFloat(exponential: string): string {
  const [mantissa = '', exponent = '0'] = exponential.split('e')
  const power = Number(exponent)
  if (power >= -4 && power < 6) return String(Number(exponential))
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

const CORE_INTEGER = /^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$/

/** kubectl and YAML 1.2 (core schema) differ for `no`, `017`, `1_000` and `0b1`. */
export function readsAlike(text: string): boolean {
  const resolved = resolvePlain(text)
  if (resolved.kind === 'null') return true
  if (resolved.kind === 'bool') return /^(true|false)$/i.test(text)
  if (resolved.kind === 'int')
    return (
      CORE_INTEGER.test(text) &&
      BigInt(text.replace(/^[-+]/, '')) === computeAbsolute(resolved.integer)
    )
  if (resolved.kind === 'float') return !text.includes('_')
  return !CORE_INTEGER.test(text) && !FLOAT.test(text)
}

function computeAbsolute(value: bigint): bigint {
  return value < 0n ? -value : value
}

/** YAML 1.2: `Off` is a text, and `017` is 17. */
export function resolveCoreScalar(text: string): Json {
  const read = resolveGoScalar(text, true)
  if (readsAlike(text) && read.is === 'value') return read.value
  return CORE_INTEGER.test(text) ? Number(text) : text
}

/** For YAML 1.1 readers (PyYAML, Ruby), in addition to kubectl's. */
const OLD_YAML =
  /^([-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt\s].*)?|=|<<|[-+]?[0-9][0-9_]*\.?[0-9_]*|[-+]?[0-9_.]*e[-+]?[0-9]+|[-+]?\.[0-9_]*|[-+]?0[oxb][0-9a-fA-F_]*|[-+]?\.?(inf|nan))$/i

/** Does not check YAML's own punctuation. */
export function isTextToAll(text: string): boolean {
  return resolvePlain(text).kind === 'str' && readsAlike(text) && !OLD_YAML.test(text)
}
