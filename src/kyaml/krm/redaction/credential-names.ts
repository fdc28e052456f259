/** Whether the name of a field, a variable, a header or a flag says that its value is a credential. */
import { looksChosen, looksRandom } from '../../text/random-text.ts'

/** Whatever stands before or behind it: `DB_PASSWORD`, `clientSecret`, `token-b64`. Not `tokenizer`, `tokenIssuer`. */
const WORDS =
  'passw(?:or)?d|passwrd|passphrase|passcode|secret(?!ar(?:y|i)|ion|ive)|token(?!i[sz])|bearer|api[-_.]?key|private[-_.]?key|access[-_.]?key|credential|mnemonic|connection[-_.]?string|erlang[-_.]?cookie|setcookie|authtok|masterauth|(?:snmp|ro|rw)[-_.]?community'
/** `…Key` of these is one: `ENCRYPTION_KEY`, `accountKey`. Of others it is a name: `topologyKey`, `partitionKey`. */
const KEYS =
  'account|admin|aes|app|application|auth|authentication|client|consumer|cookie|crypto?|decryption|deploy|encryption|fernet|hash|hmac|host|identity|ingest|ingestion|instrumentation|integration|jwt|license|machine|master|meili|pgp|recovery|root|rsa|sas|service|session|shared|sign|signing|ssh|ssl|storage|subscription|tls|unseal|webhook|wireguard|write|x-functions'
/** These end a word, and are found without a separator: `DBPASS`, `bindpw`; not `bypass`, `compass`. */
const ENDINGS =
  '(?<!\\b(?:by|com|en|im|over|sur|tres|under|through))pass|(?<![a-z])(?:pass|pwd|psk|pin|otp|salt|pepper)|pwd|pw'

/** Words that begin with "key" and are no keys, and with "pass". */
const NO_KEY = '(?!board|pad|word|note|frame|hole|stone|map)'
const NO_PASS = '(?![-_.]?(?:through|thru|by|port|age|over|on|rate)(?![a-z]))'

const CREDENTIAL = new RegExp(
  `${WORDS}|(?<![a-z])(?:${KEYS})[-_.]?key${NO_KEY}|(?:^|[-_.])(?:pass${NO_PASS}|pwd|pin)(?:$|[-_.])|(?:${ENDINGS})$`,
  'i',
)
const CREDENTIAL_CAMEL = new RegExp(
  `(?:^|[a-z0-9])(?:${KEYS.split('|').map(capital).join('|')})Key${NO_KEY}`,
)
/** A name that ends so speaks of a credential and does not hold it: `secretName`, `passwordSecretRef`, `TOKEN_FILE`, `tokenReview`. */
const SPEAKS_OF =
  /(?:names?|refs?|references?|selectors?|paths?|files?|dirs?|director(?:y|ies)|folders?|mounts?|ur[li]s?|endpoints?|hosts?|addr(?:ess(?:es)?)?|ports?|servers?|domains?|regions?|issuers?|audiences?|class(?:es)?|types?|kinds?|formats?|namespaces?|versions?|stores?|providers?|backends?|templates?|polic(?:y|ies)|reviews?|requests?|headers?|prefix(?:es)?|fields?|properties|algorithms?|alg|seconds?|ttl|age|expir(?:y|es|ation)|durations?|intervals?|periods?|timeouts?|lengths?|budgets?|size|bytes|counts?|limits?|rotation|enabled?|disabled?|required|optional|exists|created?|creation|generated?|users?|usernames?|usages?|description|hint|modes?|scopes?|(?<!secret|access|client|api)[-_.]?key[-_.]?ids?|last[-_.]?update|from[-_.]?secrets?|secrets|checksums?|fingerprints?)$/i

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** Of a label or an annotation without its domain: `external-secrets.io/component`. */
function ownName(name: string): string {
  return name.length > LONGEST_NAME ? '' : name.slice(name.lastIndexOf('/') + 1)
}

export function isCredentialName(name: string): boolean {
  const own = ownName(name)
  return (CREDENTIAL.test(own) || CREDENTIAL_CAMEL.test(own)) && !SPEAKS_OF.test(own)
}

const LONGEST_NAME = 200

/** A name that speaks of a credential and does not hold one. */
export function speaksOfCredential(name: string): boolean {
  return SPEAKS_OF.test(name)
}

/** May be the name of one, where the value looks random or chosen too: `SEED`, `STRIPE_KEY`, `nonce`. */
function mayBeCredentialName(name: string): boolean {
  const own = ownName(name)
  return WEAK.test(own) && !SPEAKS_OF.test(own)
}

const WEAK =
  /(?:key|sid|auth|seed|nonce|sig|signature|code|cookie|session|login|webhook|license|cred|hash|hmac|keytab|iv|dsn)s?$/i

/** Its value is a user with a password, `sst:hunter2`: `wsrep_sst_auth`, `stats auth`, `login`. */
export function isPairName(name: string): boolean {
  return /(?:auth|login|basic|creds|userpass|userpwd|^--?user)$/i.test(name)
}

/** A user with a password; a port, a path and an address are none. */
const PAIR = /^[\w.@+-]{1,80}:(?!\d{1,5}$)(?=[^:]{0,300}\d)(?=[^:]{0,300}[A-Za-z])[^\s:,;/]{4,300}$/

/** Headers that authenticate (RFC 9110, RFC 6265, and those of API gateways). */
const HEADER =
  /^(?:http[-_])?(?:(?:proxy|x)[-_])?authorization$|^(?:set[-_])?cookie$|^x[-_](?:[a-z]+[-_])*auth(?:orization)?$|^x-honeycomb-team$/i
/** What a field of such a name says where it is no header: the kind of an authorization. */
const KIND_OF_AUTHORIZATION = /^[a-z][a-z-]*$|^[A-Z][A-Za-z]*$|^(?:oauth|oidc|saml|v)-?\d$/

/** SNMP's password of a device is its community. */
const COMMUNITY = /(?:^|[-_.a-z])community$/i
/** Communities of BGP (RFC 1997, 4360, 8092). */
const BGP_COMMUNITY =
  /^(?:0x[0-9a-f]{1,16}|\d{1,20}(?::\d{1,20}){0,3})(?:[\s,]{1,9}\d{1,20}(?::\d{1,20}){0,3})*$|^(?:no-(?:export|advertise|peer)|local-as|internet|graceful-shutdown|blackhole)$/i

/** A name of amounts: `MAX_TOKENS`, `tokens_per_minute`, `maxNewTokens`; not `MINIO_TOKEN`. */
const AMOUNT_NAME =
  /tokens$|(?:^|[-_.])(?:max|min|limit|quota|count)(?:[-_.]|$)|(?:^max|^min|[a-z](?:Max|Min|Limit|Quota|Count))(?![a-z])|per[-_]?(?:second|minute|hour|day|request|call)/
const AMOUNT = /^[+-]?\d[\d_.,]{0,30}\s?(?:[kKMGT]i?|m|ms|s|h|d|%)?$/

/** `MAX_TOKENS: 4096`, `tokens_per_minute: 90k`: tokens are counted, and no other credential is. */
function isAmount(name: string, value: string): boolean {
  if (!AMOUNT.test(value) || !AMOUNT_NAME.test(/[a-z]/.test(name) ? name : name.toLowerCase()))
    return false
  return !isCredentialName(name.replace(/tokens?/gi, ''))
}

/**
 * Whether a value under this name is a credential: the one rule of a name and its value, in whatever form the two stand. Flags, references and
 * placeholders are left out before.
 */
export function isNamedCredential(name: string, value: string): boolean {
  if (isCredentialName(name)) return !isAmount(name, value)
  const own = ownName(name)
  if (HEADER.test(own)) return !KIND_OF_AUTHORIZATION.test(value)
  if (COMMUNITY.test(own)) return !BGP_COMMUNITY.test(value)
  return (
    (isPairName(own) && PAIR.test(value)) ||
    (mayBeCredentialName(name) && (looksRandom(value) || looksChosen(value)))
  )
}
