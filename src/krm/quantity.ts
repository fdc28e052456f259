/**
 * Quantities as the API server writes them: it reads `1000m` or `1024Mi`, and stores and answers `1` and `1Gi`.
 * Source: k8s.io/apimachinery/pkg/api/resource (quantity.go, suffix.go); compared with a real server by test/e2e/proof.live.test.ts.
 */

/** The forms that people write; others, as `01`, `5.` and `1e3`, come back sometimes as they were sent and sometimes not. */
const FORM = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?([numkMGTPE]|[KMGTPE]i)?$/
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
/** The smallest step that is kept, as a power of ten. */
const NANO = 9n
const LARGEST = 2n ** 63n - 1n

/**
 * The text that the server stores for a quantity.
 * @returns undefined where it is none, or one that the server rounds or caps: then nobody but the server can say
 */
export function canonicalQuantity(text: string): string | undefined {
  const [, whole = '', fraction = '', suffix = ''] = FORM.exec(text) ?? []
  if (whole === '' || text.length > 64) return undefined
  const scaled = toNano(BigInt(`${whole}${fraction}`), fraction.length, suffix)
  if (scaled === undefined || scaled > LARGEST * 10n ** NANO) return undefined
  return scaled === 0n ? '0' : write(scaled, suffix)
}

/** Billionths of the unit; undefined where they are not a whole number. */
function toNano(digits: bigint, decimals: number, suffix: string): bigint | undefined {
  const binary = BINARY.indexOf(suffix)
  const factor = suffix !== '' && binary !== -1 ? 1024n ** BigInt(binary) : 1n
  const exponent = NANO + BigInt(suffix === '' || binary !== -1 ? 0 : (DECIMAL.indexOf(suffix) - 3) * 3) - BigInt(decimals)
  const value = digits * factor
  if (exponent >= 0n) return value * 10n ** exponent
  const divisor = 10n ** -exponent
  return value % divisor === 0n ? value / divisor : undefined
}

function write(nano: bigint, suffix: string): string {
  const unit = 10n ** NANO
  // Less than 1024, or a part of one: no binary suffix can say it.
  if (suffix !== '' && BINARY.includes(suffix) && nano >= 1024n * unit && nano % unit === 0n) {
    const { number, steps } = reduce(nano / unit, 1024n, BINARY.length - 1)
    return `${number}${BINARY[steps] ?? ''}`
  }
  const { number, steps } = reduce(nano, 1000n, DECIMAL.length - 1)
  return `${number}${DECIMAL[steps] ?? ''}`
}

/** The number with as many factors taken out as it has, and how many those are. */
function reduce(number: bigint, factor: bigint, most: number): { readonly number: bigint; readonly steps: number } {
  let [rest, steps] = [number, 0]
  while (rest % factor === 0n && steps < most) {
    rest /= factor
    steps += 1
  }
  return { number: rest, steps }
}
