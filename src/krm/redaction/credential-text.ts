/**
 * Whether a text is, or holds, a credential by its own form, wherever it stands: tokens with a prefix of their issuer, keys, addresses with a
 * password, names with a value (`password=x`, `--token x`, `<password>x</password>`), the same in base64, URL-encoded or escaped, and what a
 * library knows. Sources of the forms: the issuers' documentation as collected in gitleaks' `config/gitleaks.toml` (facts, not its code).
 */
import { createHash } from 'node:crypto'
import { holdsKey } from '../../text/random-text.ts'
import { isCredentialName, isNamedCredential, isPairName } from './credential-names.ts'
import { libraryFinds } from './rule-library.ts'

// Every repetition is bounded or cannot overlap: a value may be a megabyte of whatever its writer likes.
const FORMS = [
  /-----BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY|OpenVPN Static key)/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\b(?:gh[pousr]_|github_pat_|glpat-|gl(?:rt|dt|ptt|cbt|soat|ft|imt|agent)-|xox[abeoprs]-|xapp-\d-|xoxe\.xox[bp]-|[sr]k_(?:live|test)_|whsec_|hv[sbr]\.|npm_|AIza|ya29\.|AGE-SECRET-KEY-1|pypi-|gls[ac]_|glc_|shp(?:at|ca|pa|ss)_|do[opr]_v1_|pul-|pscale_(?:tkn|pw|oauth)_|cf(?:k|ut|at)_|NRAK-|NRII-|ATATT3|ATCTT3|EAA[A-Z]|sk-|pk-lf-|sntr[ysu]s?_|dp\.(?:pt|st|ct|sa)\.(?:[\w-]{1,40}\.)?|PMAK-|rubygems_|lin_api_|figd_|hf_|gsk_|dckr_pat_|ops_eyJ|tskey-|ntn_|secret_|sbp_|rnd_|fly[A-Za-z0-9]{0,4}_|vault:v\d+:|CCIPAT_|AccountKey=|SharedAccessKey=)[A-Za-z0-9_+/=-]{14}/,
  /\b[A-Za-z0-9]{14}\.atlasv1\.[\w-]{18}/,
  /\b(?:eu01xx|[0-9a-f]{6})[0-9a-f]{26}FFFFNRAL\b/,
  // A private JSON Web Key, and the gossip key of Consul and Nomad.
  /"d"\s{0,9}:\s{0,9}"[\w-]{20}/,
  /\bencrypt["']?\s{0,9}[:=]\s{0,9}["'][A-Za-z0-9+/]{20,100}={1,2}["']/,
  /\bK10[0-9a-f]{64}::[^\s"']{6}/,
  /\beyJ[A-Za-z0-9_-]{10,300}={0,2}\.[A-Za-z0-9_-]{10}/,
  // Twilio, SendGrid, Telegram, Azure AD, kubeadm, Mailchimp.
  /\b(?:SK|AC)[0-9a-f]{32}\b/,
  /\bSG\.[\w-]{16,32}\.[\w-]{30,60}/,
  /\b\d{8,10}:AA[A-Za-z0-9_-]{32,34}\b/,
  /\b[A-Za-z0-9_~.]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}/,
  /(?:^|[\s"'=:])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.-])/,
  /\b[0-9a-f]{32}-us\d{1,2}\b/,
  // Hashes of passwords: crypt, bcrypt, apr1, argon2, SCRAM, SHA1 of htpasswd.
  /\$(?:1|2[abxy]|5|6|7|y|gy|apr1|argon2(?:id?|d)|pbkdf2[\w-]{0,10}|scrypt)\$[\w./$=,+-]{16}/,
  /\bSCRAM-SHA-(?:1|256|512)\$\d/,
  /\{S?SHA(?:256|512)?\}[A-Za-z0-9+/=]{20}/,
  // Addresses: with a password, with a token instead of a user, and those that are one themselves.
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/(?!\$?[{(<])[^\s/:@"'<>]{0,200}:(?!\d{1,5}(?:[/?#]|$)|(?:\*+|\$\{[^}\s]{1,80}\}|\$\([^)\s]{1,80}\)|\$[A-Z_]{1,60}|\{\{[^}]{1,80}\}\}|\{[\w.-]{1,60}\}|<[^>\s]{1,60}>|%[A-Za-z_]{1,60}%)@)[^\s@"'<>]{1,300}@/i,
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/[\w-]{20,200}@/i,
  /\b[\w.-]{1,64}:(?!\$|\{|<)[^\s:@/"']{3,128}@(?:tcp|udp|unix)\(/,
  /\boracle:(?:thin|oci\d?):[^\s/:@]{1,64}\/(?![$<{])[^\s@]{1,128}@/i,
  /\bhooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/[A-Z0-9]{5}/i,
  /\bdiscord(?:app)?\.com\/api\/webhooks\/\d{5,30}\/[\w-]{20}/i,
  /\.webhook\.office\.com\/webhookb2\/[\w@-]{20}/i,
  /\bchat\.googleapis\.com\/v1\/spaces\/[^\s?]{1,80}\?key=/i,
  /\bhooks\.zapier\.com\/hooks\/catch\/\d/i,
  /[?&](?:sig|signature|x-amz-signature|x-goog-signature|access_token|auth_token|api_?key|apikey|key|token|sas|client_secret|auth|code)=(?![<{$*]|%[7{])[\w%+/.~-]{12}/i,
  // Headers.
  /\bauthorization["'\\]{0,4}\s{0,9}(?:[:=]|\s)\s{0,9}["'\\]{0,4}(?:basic|bearer|token|digest|apikey|splunk|aws4-hmac-sha256)\s{1,9}(?![<{$*%])[^\s"'\\]{4}/i,
  /(?:^|["'\s])(?:bearer)\s+(?![<{$*%])(?=[\w.~+/-]{0,300}\d)[\w.~+/-]{20}/i,
  /^\s{0,9}(?:bearer|token|apikey|negotiate)\s{1,9}(?![<{$*%])(?=\S{0,300}\d)[\w.~+/=-]{6,4000}\s{0,9}$/i,
  // Arguments whose letter says nothing by itself.
  /\bcurl\b[^\n]{0,300}\s(?:-u|--user|--proxy-user)[ =]{0,2}["']?[\w.@-]{1,80}:(?![$<{])[^\s"']{3}/,
  /\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump|sshpass|mongo|mongosh|mongodump|docker login|redis-cli|ldapsearch|ldapadd)\b[^\n]{0,300}\s-[pwa] ?(?![$<{"-]|\s)[^\s"']{4}/,
  /\b(?:sqlplus|impdp|expdp|rman|sqlldr)\b[^\n]{0,300}\s[\w$]{1,64}\/(?![$<{/])[^\s@/]{3,128}@/,
  /\brabbitmqctl\b[^\n]{0,100}\s(?:add_user|change_password|authenticate_user)\s{1,9}\S{1,80}\s{1,9}["']?(?![$<{"'])\S{3}/,
  /\bhtpasswd\s{1,9}-\w{0,8}b\w{0,8}(?:\s{1,9}[^\s;|&>]{1,200}){1,4}?\s{1,9}["']?(?![$<{"'-])[^\s;|&>]{3,200}\s{0,9}(?:$|[;|&>])/m,
  /\b(?:sqlcmd|bcp)\b[^\n]{0,300}\s-P ?["']?(?![$<{"'-])\S{3}/,
  /\blftp\b[^\n]{0,300}\s-u ?[\w.@-]{1,80},(?![$<{"'-])\S{3}/,
  /\bmc\b[^\n]{0,100}\s(?:alias\s{1,9}set|config\s{1,9}host\s{1,9}add)\s{1,9}\S{1,80}\s{1,9}\S{1,300}\s{1,9}\S{1,200}\s{1,9}["']?(?![$<{"'])\S{3}/,
  /\s(?:-U|--user)[ =]?["']?[\w.@\\-]{1,80}%(?![$<{%])[^\s"']{3}/,
  /\bvault\s{1,9}login\s{1,9}(?:-\S{1,80}\s{1,9}){0,4}(?:token=)?(?![$<{"'-])(?=\S{0,300}\d)[^\s;|&>=]{4}/,
  /\baz\b[^\n]{0,100}\slogin\b[^\n]{0,300}\s(?:-p|--password)[ =]{1,2}["']?(?![$<{"'-])\S{3}/,
  /\bcreate\s{1,9}secret\b[^\n]{0,300}\s--from-literal[ =]["']?[\w.-]{1,80}=(?![$<{])[^\s"']{3}/,
  /\becho\s{1,9}(?:-n\s{1,9})?["']?[\w.-]{1,64}:(?![$<{])[^\s"'|]{3,200}["']?\s{0,9}\|\s{0,9}(?:\S{1,80}\s{1,9})?chpasswd\b/,
  /\bopenssl\b[^\n]{0,300}\s(?:-k|-K|-pass(?:in|out)?\s{1,9}pass:)\s{0,9}["']?(?![$<{"'-])[^\s;|&>]{4}/,
  /\bopenssl\s{1,9}passwd\b(?:\s{1,9}-\S{1,20}){0,5}\s{1,9}["']?(?![$<{"'-])[^\s;|&>)]{4}/,
  /\b(?:kinit|passwd|su|ssh-add)\b[^\n<]{0,200}<<<\s{0,9}["']?(?![$<{])[^\s"']{3}/,
  /\becho\s{1,9}(?:-n\s{1,9})?["']?(?![$<{])[^\s"'|]{3,200}["']?\s{0,9}\|\s{0,9}sudo\s{1,9}(?:-\w{1,9}\s{1,9}){0,3}-\w{0,5}S/,
  /\.(?:auth|login|authenticate)\(\s{0,9}["'][^"'\n]{1,80}["']\s{0,9},\s{0,9}["'](?![$<{])[^"'\n]{3}/,
  // netrc, redis, LDAP, PostgreSQL's password file, HAProxy.
  /\blogin\s{1,20}\S{1,100}\s{1,20}password\s{1,20}\S/,
  /^\s{0,20}(?:requirepass|masterauth|bindpw|rootpw|ldap_bind_passwd|r[ow]community6?)\s{1,20}["']?(?![$<{])\S/m,
  /^(?:[\w.*-]{1,100}):(?:\d{3,5}|\*):[\w*.-]{1,100}:[\w*.-]{1,100}:(?!\$)\S{3,200}$/m,
  /^\s{0,20}user\s{1,20}\S{1,80}\s{1,20}(?:insecure-)?password\s{1,20}\S{3}/m,
  /^\s{0,20}(?:acl\s{1,9}setuser|user)\s{1,20}[^\n]{1,300}?\s>(?![$<{])\S{3}/im,
  /\b(?:identified\b[^\n']{0,80}?\sby|password)[ \t]{1,20}(?:=[ \t]{0,9})?[a-z]?'(?![$<{:%])[^'\n]{3}/i,
  /^\s{0,20}createuser\s{1,20}(?:-e\s{1,9}\S{1,80}\s{1,9})?\S{1,80}\s{1,20}(?:MD5|SHA\S{0,6})\s{1,20}["']?(?![$<{])\S{3}/im,
  // Keys of chrony and ntpd: number, type, key.
  /^\s{0,20}\d{1,5}\s{1,20}(?:M|MD5|SHA-?\d{1,3}|SHA3-\d{3}|AES\d{3}|AES-\d{3}-CMAC)\s{1,20}(?:ASCII:|HEX:)?(?![$<{])\S{3}/m,
  // Lines of a user with a password: of Postfix, PgBouncer, and below chpasswd.
  /^\s{0,20}(?:\[[\w.:-]{1,253}\](?::\w{1,20})?\s{1,20}[^\s:]{1,200}|[\w.:-]{1,253}\s{1,20}[^\s:@]{1,100}@[^\s:@]{1,200}):(?![$<{])[^\s/]{3,300}\s{0,9}$/m,
  /^"[^"\n]{1,64}"[ \t]{1,9}"(?![$<{])(?=[^"\n]{0,300}\d)[^"\s]{3,300}"[ \t]{0,9}$/m,
  /\bchpasswd\b[\s\S]{0,300}?^\s{0,40}(?:-\s{1,9})?[a-z_][\w-]{0,31}:(?![\s$<{*!])\S{3}/m,
  // A kubeconfig, and the credentials of a container registry.
  /\bclient-key-data\b/,
  /["'\\]auths?["'\\]{1,4}\s{0,9}:\s{0,9}(?:\{|["'\\]{1,4}[A-Za-z0-9+/=]{6})/,
  /(?:^|[:/\s])_(?:authToken|auth|password)\s{0,5}=\s{0,5}(?!\$)\S{4}/m,
]

/** `password=x`, `token: x`, `"apiKey":"x"`, `password: |`, `-password x`, `requirepass x` in a longer text. */
const ASSIGNMENT =
  /(?<![\w.-])([\w.-]{2,80})["'\\]{0,7}\]?(?:[ \t]{0,20}(?:=>|:=|\?=|==|[:=])[ \t]{0,20}(?:[|>][+-]?\d?[ \t]{0,5}\r?\n[ \t]{1,40})?|(?<=(?<![\w-])--?[\w.-]{2,80})[ \t]{1,20}|%3[ad])["'\\]{0,7}(?=([^\s"'\\,;<>}&]{0,300}))/gi
/** A line of a configuration that ends in a name and its value: `remote_password x1`, `neighbor 10.0.0.1 password x1`. */
const LINE_END =
  /^[ \t]{0,40}(?:[^\s"'=]{1,80}[ \t]{1,20}){0,4}?([\w.-]{4,80})[ \t]{1,20}(?:\d[ \t]{1,20})?([^\s"'=:;,(){}]{3,300})[ \t]{0,20};?[ \t]{0,20}(?:#.{0,200})?$/gim
/** A command about a Secret, or a token, names one. */
const NAMES_AN_OBJECT = /\b(?:kubectl|oc|helm|flux|argocd|vault|velero)\b/
/** The name in one place and the value beside it: `name: DB_PASSWORD, value: x`, `<property name="password" value="x"/>`. */
const BESIDE =
  /\b(?:name|key)["'\\]{0,4}[ \t]{0,9}[:=][ \t]{0,9}["'\\]{0,4}([\w.-]{2,80})["'\\]{0,4}[\s,]{1,60}["'\\]{0,4}value["'\\]{0,4}[ \t]{0,9}[:=][ \t]{0,9}["'\\]{0,4}([^\s"'\\,;<>}]{1,300})/gi
/** The name and then the value in quotes: `secret "x1"`, `define('AUTH_SALT', 'x1 y')`. */
const QUOTED = /(?<![\w.-])([\w.-]{2,80})(?:["'][ \t]{0,9},[ \t]{0,20}|[ \t]{1,20})["'](?=([^"'\n]{3,300})["'])/gi
/** `wsrep_sst_auth = sst:x`, `stats auth admin:x`: the value ends where the line or the word does. */
const PAIR = /(?<![\w.-])([\w.-]{4,80})["']?[ \t]{0,20}[ \t=:][ \t]{0,20}["']?[\w.@-]{1,80}:(?=([^\s"':,;/]{4,300})(?:$|[\s"',;]))/gim
/** An element for the name and one for the value: `<name>fs.s3a.secret.key</name><value>x</value>`. */
const XML_BESIDE = /<(?:name|key)>\s{0,9}([\w.-]{2,80})\s{0,9}<\/(?:name|key)>\s{0,60}<[\w.]{1,40}>\s{0,9}([^<>\s]{1,300})/gi
const XML = /<([\w.:-]{2,80})(?:\s[^<>]{0,200})?>\s{0,20}(?:<!\[CDATA\[)?([^<>\s\]]{1,300})/g

/** A flag or none, a reference to something else, a placeholder, or a path. */
const NO_VALUE =
  /^(?:true|false|yes|no|on|off|null|nil|none|undefined|all|any|string|str|integer|int|bytes?|object|required|optional|-.*|env|vault|file|changeme|redacted|\.{2,}|\*+|x{3,}|-+|[|>][+-]?|[[{(].{0,2}|\d{1,4}|v?\d+(?:\.\d+){1,3}|\$\([^)]{0,100}\)?|\$\{\{?[^}]{0,100}\}{0,2}|\$\$?[A-Z_][A-Z0-9_]*|\$[a-z]+(?:_[a-z]+)*|\$\d|\{\{.{0,200}|<.{0,100}|%\w{1,60}%|%\(\w{1,60}\)s|\/[a-z][\w.-]{0,80}(?:\/[\w.@-]{1,80}){1,12}\/?|\.{1,2}\/\S{1,200}|(?:os|process|env|System|config|self|this|req|ctx|secrets?|var|local|data|module|input)[.[(]\S{0,200}|file:\S{1,200}|[\w-]{1,40}\(\S{0,200})$/i

/** Whether a value that is assigned to a telling name is a credential itself, rather than a flag or a reference. */
function isValue(name: string, text: string): boolean {
  const value = text.replace(/[)\].]+$/, '')
  if (value.length < 3 || NO_VALUE.test(value)) return false
  return !isCaption(name, value) && isNamedCredential(name, value)
}

/** `login.password=Passwort`: the text beside a field of a form. */
function isCaption(name: string, value: string): boolean {
  return /^(?:Passwor[dt]|Kennwort|Passphrase|Token|Secret|Wachtwoord|Senha|Haslo|Contrase\S{2})$/.test(value) && name.includes('.')
}

/** Where the name alone is not enough: no word (`secret "web-tls"`), port, version or reference. */
function isPassword(value: string): boolean {
  return /\d/.test(value) && /[A-Za-z]/.test(value) && !NO_VALUE.test(value)
}

function assigns(text: string): boolean {
  for (const pattern of [ASSIGNMENT, BESIDE, XML, XML_BESIDE]) {
    for (const [, name = '', value = ''] of text.matchAll(pattern)) if (isValue(name, value)) return true
  }
  for (const [, name = '', value = ''] of text.matchAll(QUOTED)) if (isPassword(value) && isValue(name, value)) return true
  for (const [line, name = '', value = ''] of text.matchAll(LINE_END))
    if (isPassword(value) && isCredentialName(name) && !NAMES_AN_OBJECT.test(line)) return true
  for (const [, name = '', value = ''] of text.matchAll(PAIR)) if (isPairName(name) && isPassword(value)) return true
  return false
}

const MOST_KNOWN = 20_000
/** By the text, or by its hash where it is long: a turn asks for the same values many times. */
const known = new Map<string, string | undefined>()

/** Whether a text is, or holds, a credential by its own form, wherever it stands. */
export function hasSecretText(text: string): boolean {
  return whySecretText(text) !== undefined
}

/** Why a text is, or holds, a credential, as a clause without the text; undefined where it is none. */
export function whySecretText(text: string): string | undefined {
  // A name with its value needs one of these signs, and every other form 16 characters.
  if (text.length < 6 || (text.length < 16 && !/[\s:=@<%&\\]/.test(text))) return undefined
  const key = text.length <= 64 ? text : createHash('sha256').update(text).digest('base64')
  if (known.has(key)) return known.get(key)
  const answer = credentialIn(text, LAYERS)
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(key, answer)
  return answer
}

/** A Secret as YAML or JSON text. */
const SECRET_KIND = /\bkind["'\\]{0,4}\s{0,9}:\s{0,9}["'\\]{0,4}Secret\b(?![\w-])/
const SECRET_CONTENT = /\b(?:data|stringData)["'\\]{0,4}\s{0,9}:/

/** Encodings around a credential that are taken off: base64 of a file in which a value is base64 again. */
const LAYERS = 3

function credentialIn(text: string, layers: number): string | undefined {
  if (FORMS.some((pattern) => pattern.test(text)))
    return 'it is or has a token, a key, an address, a header, a command or a line of a file with a credential'
  if (SECRET_KIND.test(text) && SECRET_CONTENT.test(text)) return 'it has the manifest of a Secret'
  // Not which: the name is a part of the hidden text.
  if (assigns(text)) return 'a name in it says that its value is a credential'
  if (holdsBasic(text)) return 'it has a user with a password in base64'
  if (holdsKey(text)) return 'it has a long random word'
  if (windowsOf(text).some((part) => LONG_RUN.test(part) && libraryFinds(part))) return 'it has a token of a known issuer'
  for (const inner of layers > 0 ? decoded(text) : []) {
    const why = credentialIn(inner, layers - 1)
    if (why !== undefined) return `in another encoding, ${why}`
  }
  return undefined
}

/** A user and a password of basic authentication (RFC 7617), whatever stands before it. */
function holdsBasic(text: string): boolean {
  for (const [, token = ''] of text.matchAll(/\bbasic\s{1,9}([A-Za-z0-9+/_-]{6,2000}={0,2})/gi))
    if (/^[^:\s]{0,200}:[^\s:]/.test(readable(Buffer.from(token, 'base64')) ?? '')) return true
  return false
}

/** Every rule of the library wants one. */
const LONG_RUN = /[\w+/=.:@~-]{16}/
/** Characters. The library's rules take a time that grows faster than the text: at most 20 ms for a window, of whatever text. */
const WINDOW = 16_384
/** The longest form of the library, a key of 10,000 characters aside, which has a form here. */
const OVERLAP = 1_024

function windowsOf(text: string): readonly string[] {
  if (text.length <= WINDOW) return [text]
  return Array.from({ length: Math.ceil(text.length / (WINDOW - OVERLAP)) }, (_, index) =>
    text.slice(index * (WINDOW - OVERLAP), index * (WINDOW - OVERLAP) + WINDOW),
  )
}

const BASE64 = /(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/]{16,}|[A-Za-z0-9_-]{16,})={0,2}(?![A-Za-z0-9+/_-])/g
const MOST_TOKENS = 200

/** What stands in the text in another encoding, as text. */
function decoded(text: string): readonly string[] {
  const inner: string[] = []
  for (const [token] of text.replace(/\\n|(?<=[A-Za-z0-9+/]{60,76})\r?\n[ \t]*/g, '').matchAll(BASE64)) {
    const plain = readable(Buffer.from(token, 'base64'))
    if (plain !== undefined) inner.push(plain)
    const hex = /^(?:[0-9a-f]{2}){8,}$/i.test(token) ? readable(Buffer.from(token, 'hex')) : undefined
    if (hex !== undefined) inner.push(hex)
    if (inner.length >= MOST_TOKENS) break
  }
  if (/%[0-9a-f]{2}/i.test(text))
    inner.push(text.replace(/%([2-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16))))
  if (/\\["nu]/.test(text)) inner.push(text.replace(/\\n/g, '\n').replace(/\\(["\\/])/g, '$1'))
  if (/&(?:quot|lt|amp|#\d{2,3});/.test(text))
    inner.push(
      text
        .replace(/&quot;/g, '"')
        .replace(/&lt;/g, '<')
        .replace(/&gt;/g, '>')
        .replace(/&amp;/g, '&'),
    )
  return inner
}

/** The bytes as text, where they are one. */
function readable(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8')
  return /^[\t\n\r\x20-\x7e\u00a0-\u024f]{6,}$/.test(text) ? text : undefined
}
