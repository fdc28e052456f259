/**
 * Orders keys as go-yaml writes the keys of a Go map (`sorter.go`): letters after other characters,
 * and numbers by value.
 */

export function compareGoKeys(one: string, other: string): number {
  const [ones, others] = [[...one], [...other]]
  let afterDigit = false
  for (let at = 0; at < ones.length && at < others.length; at += 1) {
    const [a = '', b = ''] = [ones[at], others[at]]
    if (a === b) {
      afterDigit = isDigit(a)
      continue
    }
    const [aIsLetter, bIsLetter] = [isLetter(a), isLetter(b)]
    if (aIsLetter && bIsLetter) return order(a, b)
    if (aIsLetter || bIsLetter) return (afterDigit ? aIsLetter : bIsLetter) ? -1 : 1
    return compareNumbers(ones, others, at)
  }
  return ones.length - others.length
}

const isLetter = (text: string): boolean => /^\p{L}$/u.test(text)
const isDigit = (text: string): boolean => /^\p{Nd}$/u.test(text)
const order = (a: string, b: string): number => (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0)

function compareNumbers(ones: readonly string[], others: readonly string[], at: number): number {
  const continues =
    (ones[at] === '0' || others[at] === '0') && /[1-9]0*$/.test(getDigitsBefore(ones, at))
      ? '1'
      : ''
  const [a, b] = [getDigitsFrom(ones, at), getDigitsFrom(others, at)]
  const [left, right] = [BigInt(`0${continues}${a}`), BigInt(`0${continues}${b}`)]
  if (left !== right) return left < right ? -1 : 1
  return a.length - b.length || order(ones[at] ?? '', others[at] ?? '')
}

function getDigitsFrom(text: readonly string[], at: number): string {
  return /^[0-9]*/.exec(text.slice(at).join(''))?.[0] ?? ''
}

function getDigitsBefore(text: readonly string[], at: number): string {
  return /[0-9]*$/.exec(text.slice(0, at).join(''))?.[0] ?? ''
}
