/** No host name, path, sentence, or name with dots. */
const TOKEN = /^[A-Za-z0-9+/=_~-]{16,512}$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Beside a possible credential name: at least 16 characters, digits and letters, no words. */
export function isLikelyRandom(text: string): boolean {
  if (!TOKEN.test(text) || !hasDigits(text, 1) || !/[A-Za-z]/.test(text)) return false
  if (UUID.test(text)) return true
  return measureEntropy(text) >= (/^[0-9a-f]+$/i.test(text) ? 3 : 3.5) && !isOfWords(text)
}

/**
 * Beside a possible credential name: chosen by a person or program, no words, versions or digests.
 */
export function isLikelyChosen(text: string): boolean {
  if (
    !/^[A-Za-z0-9_!#+*]{8,64}$/.test(text) ||
    !/[A-Za-z]/.test(text) ||
    /^[0-9a-f]+$/i.test(text) ||
    isOfWords(text)
  )
    return false
  const [digits, changes] = [
    text.match(/\d/g)?.length ?? 0,
    text.match(/(?<=[a-zA-Z])\d|(?<=\d)[a-zA-Z]/g)?.length ?? 0,
  ]
  return digits >= 4 || changes >= 3 || (text.length >= 12 && changes >= 2)
}

/**
 * At least 32 characters with capitals, small letters and digits. Not hexadecimal digests and
 * published texts: certificates, public keys, encrypted and signed texts, and base64 digests.
 */
export function holdsKey(text: string): boolean {
  const apart = text
    .replace(PUBLISHED, ' ')
    .replace(ADDRESS, (address) => address.replaceAll('/', ' '))
  return (apart.match(WORDS) ?? []).some(isLikelyKey)
}

const PUBLISHED =
  /-----BEGIN (?![A-Z0-9 ]{0,40}(?:PRIVATE|SECRET) KEY)[A-Z0-9 ]{1,40}-----[^-]{0,100000}|\bsha(?:1|256|384|512)[-:=][A-Za-z0-9+/=]{20,100}|\b(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp\d{3}|sk-\S{10,50}) {1,9}[A-Za-z0-9+/=]{20,}|"(?:[xyn]|kid|x5t(?:#S256)?)"\s{0,9}:\s{0,9}"[\w+/=-]{20,}"/g
/** A slash is part of keys, and separates names in addresses. */
const ADDRESS = /\bhttps?:\/\/[^\s"'<>]{1,2000}/g
const WORDS = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{32,512}={0,2}(?![A-Za-z0-9+/_=-])/g

function isLikelyKey(word: string): boolean {
  return (
    /[a-z].*[A-Z]|[A-Z].*[a-z]/.test(word) &&
    /\d/.test(word) &&
    hasDigits(word, 3) &&
    measureEntropy(word) >= 4.2 &&
    !isOfWords(word)
  )
}

/** Or changes character kinds as often as random texts. */
function hasDigits(word: string, least: number): boolean {
  if ((word.match(/\d/g)?.length ?? 0) >= least) return true
  const changes = word.match(/(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=\d)[A-Za-z]/g)?.length ?? 0
  return changes >= word.length * 0.4
}

function measureEntropy(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  return [...counts.values()].reduce(
    (bits, count) => bits - (count / text.length) * Math.log2(count / text.length),
    0,
  )
}

/** `web-frontend-canary-2`, `projects/shop/keyRings/main2`. */
function isOfWords(text: string): boolean {
  const parts = text.split(/[-_/=+~]/).filter((part) => part !== '')
  const words = parts.filter((part) =>
    /^(?:[a-z]{2,}\d{0,3}|[A-Z][a-z]+(?:[A-Z][a-z]+)*\d{0,3}|[A-Z]{2,}|[a-z]+(?:[A-Z][a-z]+)+\d{0,3}|v?\d{1,4})$/.test(
      part,
    ),
  )
  return parts.length > 1 && words.join('').length * 2 > text.length
}
