/** Whether the name of a field, a variable or a flag says that its value is a credential. */

/** Whatever stands before or behind it: `DB_PASSWORD`, `clientSecret`, `token-b64`. Not `tokenizer`, `tokenIssuer`. */
const WORDS =
  'passw(?:or)?d|passwrd|passphrase|passcode|secret|token(?!i[sz])|bearer|api[-_.]?key|private[-_.]?key|access[-_.]?key|credential|mnemonic|connection[-_.]?string|erlang[-_.]?cookie|setcookie|(?:snmp|ro|rw)[-_.]?community'
/** `…Key` of these is one: `ENCRYPTION_KEY`, `accountKey`. Of others it is a name: `topologyKey`, `partitionKey`. */
const KEYS =
  'account|admin|aes|app|application|auth|authentication|client|consumer|cookie|crypto?|decryption|deploy|encryption|fernet|hash|hmac|host|identity|ingest|ingestion|instrumentation|integration|jwt|license|machine|master|meili|pgp|recovery|root|rsa|sas|service|session|shared|sign|signing|ssh|ssl|storage|subscription|tls|unseal|webhook|wireguard|write|x-functions'
/** These end a word, and are found without a separator: `DBPASS`, `bindpw`; not `bypass`, `compass`. */
const ENDINGS = '(?<!\\b(?:by|com|en|im|over|sur|tres|under|through))pass|(?<![a-z])(?:pass|pwd|psk|pin|otp|salt|pepper)|pwd|pw'

const CREDENTIAL = new RegExp(`${WORDS}|(?<![a-z])(?:${KEYS})[-_.]?key|(?:^|[-_.])(?:pass|pwd|pin)(?:$|[-_.])|(?:${ENDINGS})$`, 'i')
const CREDENTIAL_CAMEL = new RegExp(`(?:^|[a-z0-9])(?:${KEYS.split('|').map(capital).join('|')})Key`)
/** A name that ends so speaks of a credential and does not hold it: `secretName`, `passwordSecretRef`, `TOKEN_FILE`, `tokenReview`. */
const SPEAKS_OF =
  /(?:names?|refs?|references?|selectors?|paths?|files?|dirs?|director(?:y|ies)|folders?|mounts?|ur[li]s?|endpoints?|hosts?|addr(?:ess(?:es)?)?|ports?|servers?|domains?|regions?|issuers?|audiences?|class(?:es)?|types?|kinds?|formats?|namespaces?|versions?|stores?|providers?|backends?|templates?|polic(?:y|ies)|reviews?|requests?|headers?|prefix(?:es)?|fields?|properties|algorithms?|alg|seconds?|ttl|age|expir(?:y|es|ation)|durations?|intervals?|periods?|timeouts?|lengths?|size|bytes|counts?|limits?|rotation|enabled?|disabled?|required|optional|exists|created?|creation|generated?|users?|usernames?|usages?|description|hint|modes?|scopes?|(?<!secret|access|client|api)[-_.]?key[-_.]?ids?|last[-_.]?update|from[-_.]?secrets?|secrets|checksums?|fingerprints?)$/i

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

/** May be the name of one, where the value looks random too: `SEED`, `STRIPE_KEY`, `nonce`. */
export function mayBeCredentialName(name: string): boolean {
  const own = ownName(name)
  return WEAK.test(own) && !SPEAKS_OF.test(own)
}

/** Its value is a user with a password, `sst:hunter2`: `wsrep_sst_auth`, `stats auth`, `login`. */
export function isPairName(name: string): boolean {
  return /(?:auth|login|userpass|userpwd|^--?user)$/i.test(name)
}

const WEAK = /(?:key|sid|auth|seed|nonce|sig|signature|code|cookie|session|login|webhook|license|cred|hash|iv|dsn)s?$/i
