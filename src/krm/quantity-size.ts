/** Kubernetes quantities, as far as their size goes. Source: apimachinery `pkg/api/resource/quantity.go`. */
import type { Json } from '../text/json.ts'

const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const DECIMAL = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])
/** All sizes are counted in parts of 10^-21, which is smaller than what the server keeps. */
const SCALE = 21

/** The size as an exact count of a common unit; undefined for what is no quantity. Finer than the unit is cut off. */
export function quantityOf(value: Json | undefined): bigint | undefined {
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
  if (typeof text !== 'string') return undefined
  const match = /^([+-]?)([0-9]{1,40})?(?:\.([0-9]{0,40}))?(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$/.exec(text)
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match
  if (whole === '' && fraction === '') return undefined
  const digits = BigInt(`${whole}${fraction}`)
  const binary = BINARY.indexOf(suffix)
  const exponent = /^[eE][+-]?[0-9]/.test(suffix) ? Number(suffix.slice(1)) : (DECIMAL.get(suffix) ?? 0)
  const power = SCALE - fraction.length + exponent
  const base = binary === -1 ? digits : digits * 1024n ** BigInt(binary + 1)
  const size = power >= 0 ? base * 10n ** BigInt(power) : base / 10n ** BigInt(-power)
  return sign === '-' ? -size : size
}
