import { isLikelyChosen, isLikelyRandom } from '../../text/random-text.ts'

/** Anywhere in the name: `DB_PASSWORD`, `token-b64`. Not `tokenizer`, `tokenIssuer`. */
const WORDS =
  'passw(?:or)?d|passwrd|passphrase|passcode|secret(?!ar(?:y|i)|ion|ive)|token(?!i[sz])|bearer|api[-_.]?key|private[-_.]?key|access[-_.]?key|credential|mnemonic|connection[-_.]?string|erlang[-_.]?cookie|setcookie|authtok|masterauth|(?:snmp|ro|rw)[-_.]?community'
/** `ENCRYPTION_KEY`, `accountKey`; not `topologyKey`, `partitionKey`. */
const KEYS =
  'account|admin|aes|app|application|auth|authentication|client|consumer|cookie|crypto?|decryption|deploy|encryption|fernet|hash|hmac|host|identity|ingest|ingestion|instrumentation|integration|jwt|license|machine|master|meili|pgp|recovery|root|rsa|sas|service|session|shared|sign|signing|ssh|ssl|storage|subscription|tls|unseal|webhook|wireguard|write|x-functions'
/** At the end of a word, without a separator: `DBPASS`, `bindpw`; not `bypass`, `compass`. */
const ENDINGS =
  '(?<!\\b(?:by|com|en|im|over|sur|tres|under|through))pass|(?<![a-z])(?:pass|pwd|psk|pin|otp|salt|pepper)|pwd|pw'

const NO_KEY = '(?!board|pad|word|note|frame|hole|stone|map)'
const NO_PASS = '(?![-_.]?(?:through|thru|by|port|age|over|on|rate)(?![a-z]))'

const CREDENTIAL = new RegExp(
  `${WORDS}|(?<![a-z])(?:${KEYS})[-_.]?key${NO_KEY}|(?:^|[-_.])(?:pass${NO_PASS}|pwd|pin)(?:$|[-_.])|(?:${ENDINGS})$`,
  'i',
)
const CREDENTIAL_CAMEL = new RegExp(
  `(?:^|[a-z0-9])(?:${KEYS.split('|').map(capitalizeWord).join('|')})Key${NO_KEY}`,
)
/** Such a name refers to a credential: `secretName`, `passwordSecretRef`, `TOKEN_FILE`. */
const SPEAKS_OF =
  /(?:names?|refs?|references?|selectors?|paths?|files?|dirs?|director(?:y|ies)|folders?|mounts?|ur[li]s?|endpoints?|hosts?|addr(?:ess(?:es)?)?|ports?|servers?|domains?|regions?|issuers?|audiences?|class(?:es)?|types?|kinds?|formats?|namespaces?|versions?|stores?|providers?|backends?|templates?|polic(?:y|ies)|reviews?|requests?|headers?|prefix(?:es)?|fields?|properties|algorithms?|alg|seconds?|ttl|age|expir(?:y|es|ation)|durations?|intervals?|periods?|timeouts?|lengths?|budgets?|size|bytes|counts?|limits?|rotation|enabled?|disabled?|required|optional|exists|created?|creation|generated?|users?|usernames?|usages?|description|hint|modes?|scopes?|(?<!secret|access|client|api)[-_.]?key[-_.]?ids?|last[-_.]?update|from[-_.]?secrets?|secrets|checksums?|fingerprints?)$/i

function capitalizeWord(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function getOwnName(name: string): string {
  return name.length > LONGEST_NAME ? '' : name.slice(name.lastIndexOf('/') + 1)
}

export function isCredentialName(name: string): boolean {
  const own = getOwnName(name)
  return (CREDENTIAL.test(own) || CREDENTIAL_CAMEL.test(own)) && !SPEAKS_OF.test(own)
}

const LONGEST_NAME = 200

export function hasCredentialWord(name: string): boolean {
  return SPEAKS_OF.test(name)
}

/** If the value also looks random or chosen: `SEED`, `STRIPE_KEY`, `nonce`. */
function mayBeCredentialName(name: string): boolean {
  const own = getOwnName(name)
  return WEAK.test(own) && !SPEAKS_OF.test(own)
}

const WEAK =
  /(?:key|sid|auth|seed|nonce|sig|signature|code|cookie|session|login|webhook|license|cred|hash|hmac|keytab|iv|dsn)s?$/i

/** The value is `sst:hunter2`: `wsrep_sst_auth`, `stats auth`, `login`. */
export function isPairName(name: string): boolean {
  return /(?:auth|login|basic|creds|userpass|userpwd|^--?user)$/i.test(name)
}

/** Not a port, a path or an address. */
const PAIR = /^[\w.@+-]{1,80}:(?!\d{1,5}$)(?=[^:]{0,300}\d)(?=[^:]{0,300}[A-Za-z])[^\s:,;/]{4,300}$/

/** RFC 9110, RFC 6265, and API gateways. */
const HEADER =
  /^(?:http[-_])?(?:(?:proxy|x)[-_])?authorization$|^(?:set[-_])?cookie$|^x[-_](?:[a-z]+[-_])*auth(?:orization)?$|^x-honeycomb-team$/i
const KIND_OF_AUTHORIZATION = /^[a-z][a-z-]*$|^[A-Z][A-Za-z]*$|^(?:oauth|oidc|saml|v)-?\d$/

/** SNMP: the password of a device. */
const COMMUNITY = /(?:^|[-_.a-z])community$/i
/** BGP (RFC 1997, 4360, 8092). */
const BGP_COMMUNITY =
  /^(?:0x[0-9a-f]{1,16}|\d{1,20}(?::\d{1,20}){0,3})(?:[\s,]{1,9}\d{1,20}(?::\d{1,20}){0,3})*$|^(?:no-(?:export|advertise|peer)|local-as|internet|graceful-shutdown|blackhole)$/i

const AMOUNT_NAME =
  /tokens$|(?:^|[-_.])(?:max|min|limit|quota|count)(?:[-_.]|$)|(?:^max|^min|[a-z](?:Max|Min|Limit|Quota|Count))(?![a-z])|per[-_]?(?:second|minute|hour|day|request|call)/
const AMOUNT = /^[+-]?\d[\d_.,]{0,30}\s?(?:[kKMGT]i?|m|ms|s|h|d|%)?$/

/** Tokens can be counted, other credentials cannot. */
function isAmount(name: string, value: string): boolean {
  if (!AMOUNT.test(value) || !AMOUNT_NAME.test(/[a-z]/.test(name) ? name : name.toLowerCase()))
    return false
  return !isCredentialName(name.replace(/tokens?/gi, ''))
}

/**
 * The single rule for a name and its value. Flags, references and placeholders are excluded before.
 */
export function isNamedCredential(name: string, value: string): boolean {
  if (isCredentialName(name)) return !isAmount(name, value)
  const own = getOwnName(name)
  if (HEADER.test(own)) return !KIND_OF_AUTHORIZATION.test(value)
  if (COMMUNITY.test(own)) return !BGP_COMMUNITY.test(value)
  return (
    (isPairName(own) && PAIR.test(value)) ||
    (mayBeCredentialName(name) && (isLikelyRandom(value) || isLikelyChosen(value)))
  )
}
