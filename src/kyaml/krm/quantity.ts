/**
 * Size, and the text that the API server stores (`1000m` as `1`):
 * k8s.io/apimachinery/pkg/api/resource (quantity.go, suffix.go). test/e2e/proof.live.test.ts
 * compares the texts with a server's.
 */
import type { Json } from '../text/json.ts'

const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
/** 10^-21 is finer than the server's precision. */
const SCALE = 21
const UNIT = 10n ** BigInt(SCALE)
const NANO = UNIT / 10n ** 9n
const LARGEST = (2n ** 63n - 1n) * UNIT

const QUANTITY =
  /^([+-]?)([0-9]{1,40})?(?:\.([0-9]{0,40}))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$/
/** The server sometimes stores others unchanged, such as `01`, `5.` and `1e3`. */
const USUAL = /^(0|[1-9][0-9]*)(?:\.[0-9]{1,12})?([numkMGTPE]|[KMGTPE]i)?$/

/**
 * The size as an exact count of 10^-21; undefined if it is not a quantity. Finer digits are cut
 * off.
 */
export function parseQuantity(value: Json | undefined): bigint | undefined {
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
  const match = typeof text === 'string' ? QUANTITY.exec(text) : null
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match
  if (whole === '' && fraction === '') return undefined
  const exponent = /^[eE][+-]?[0-9]/.test(suffix)
    ? Number(suffix.slice(1))
    : DECIMAL.includes(suffix)
      ? 3 * DECIMAL.indexOf(suffix) - 9
      : 0
  const base = BigInt(`${whole}${fraction}`) * 1024n ** BigInt(Math.max(0, BINARY.indexOf(suffix)))
  const power = SCALE - fraction.length + exponent
  const size = power >= 0 ? base * 10n ** BigInt(power) : base / 10n ** BigInt(-power)
  return sign === '-' ? -size : size
}

/** @returns undefined if it is not a quantity, or one that the server rounds or caps */
export function formatCanonicalQuantity(text: string): string | undefined {
  const suffix = USUAL.exec(text)?.[2] ?? ''
  const size = USUAL.test(text) && text.length <= 64 ? parseQuantity(text) : undefined
  if (size === undefined || size % NANO !== 0n || size > LARGEST) return undefined
  if (size === 0n) return '0'
  // Less than 1024, or fractional: no binary suffix can express it.
  const binary = suffix.endsWith('i') && size >= 1024n * UNIT && size % UNIT === 0n
  return binary
    ? reduceNumber(size / UNIT, 1024n, BINARY)
    : reduceNumber(size / NANO, 1000n, DECIMAL)
}

function reduceNumber(number: bigint, factor: bigint, suffixes: readonly string[]): string {
  let [rest, steps] = [number, 0]
  while (rest % factor === 0n && steps < suffixes.length - 1) {
    rest /= factor
    steps += 1
  }
  return `${rest}${suffixes[steps] ?? ''}`
}
