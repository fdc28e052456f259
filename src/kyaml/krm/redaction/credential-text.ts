/**
 * By the text's own form, also in base64, URL-encoded or escaped. Sources of the forms: the
 * issuers' documentation as collected in gitleaks' `config/gitleaks.toml` (facts, not its code).
 */
import { createHash } from 'node:crypto'
import { holdsKey } from '../../text/random-text.ts'
import { isCredentialName, isNamedCredential, isPairName } from './credential-names.ts'
import { KNOWN_FORMS } from './known-forms.ts'
import { hasLibraryFinding } from './rule-library.ts'

/** `password=x`, `"apiKey":"x"`, `password: |`, `-password x`, `requirepass x` in a longer text. */
const ASSIGNMENT =
  /(?<![\w.-])(?!(?<=\$\{)[\w.-]{2,80}:(?:\?|[-=+]?\}|[-=+]\$))([\w.-]{2,80})["'\\]{0,7}\]?(?:[ \t]{0,20}(?:=>|:=|\?=|==|[:=])[ \t]{0,20}(?:[|>][+-]?\d?[ \t]{0,5}\r?\n[ \t]{1,40})?|(?<=(?<![\w-])--?[\w.-]{2,80})[ \t]{1,20}|%3[ad])["'\\]{0,7}(?=([^\s"'\\,;<>}&]{0,300}))/gi
/** `remote_password x1`, `neighbor 10.0.0.1 password x1`. */
const LINE_END =
  /^[ \t]{0,40}(?:[^\s"'=]{1,80}[ \t]{1,20}){0,8}?([\w.-]{3,80})[ \t]{1,20}(?:\d[ \t]{1,20})?([^\s"'=:;,(){}]{3,300})[ \t]{0,20};?[ \t]{0,20}(?:#.{0,200})?$/gim
/** A command about a Secret or a token names one. */
const NAMES_AN_OBJECT = /\b(?:kubectl|oc|helm|flux|argocd|vault|velero)\b/
/** `name: DB_PASSWORD, value: x`, `<property name="password" value="x"/>`. */
const BESIDE =
  /\b(?:name|key)["'\\]{0,4}[ \t]{0,9}[:=][ \t]{0,9}["'\\]{0,4}([\w.-]{2,80})["'\\]{0,4}[\s,]{1,60}["'\\]{0,4}value["'\\]{0,4}[ \t]{0,9}[:=][ \t]{0,9}["'\\]{0,4}([^\s"'\\,;<>}]{1,300})/gi
/** `{"value":"x","name":"DB_PASSWORD"}`. */
const BESIDE_REVERSED =
  /\bvalue["'\\]{0,4}[ \t]{0,9}[:=][ \t]{0,9}["'\\]{0,4}([^\s"'\\,;<>}]{1,300})["'\\]{0,4}[\s,]{1,60}["'\\]{0,4}(?:name|key)["'\\]{0,4}[ \t]{0,9}[:=][ \t]{0,9}["'\\]{0,4}([\w.-]{2,80})/gi
/** `password:` and then `- x1`. */
const NEXT_LINE =
  /(?<![\w.-])([\w.-]{2,80})["']?:[ \t]{0,20}\r?\n[ \t]{0,40}(?:-[ \t]{1,9})?["']?([^\s"':{}[\],#&*!|>%@`-][^\s"':,]{2,300})["']?[ \t]{0,20}$/gim
/** `${DB_PASSWORD:-x}`, `${db.password:x}`, `${DB_PASSWORD=x}`. After `?` comes a message. */
const DEFAULT = /\$\{([\w.-]{2,80}):[-=+]?[ \t]{0,9}([^}\s$?][^}\s]{2,300})\}/g
const SHELL_DEFAULT = /\$\{(\w{2,80})[-=+]([^}\s$?][^}\s]{2,300})\}/g
/** `secret "x1"`, `define('AUTH_SALT', 'x1 y')`, `env.API_KEY || 'x1'`. */
const QUOTED =
  /(?<![\w.-])([\w.-]{2,80})(?:["'][ \t]{0,9},[ \t]{0,20}|["')\]]{0,3}[ \t]{1,9}(?:\|\||\?\?|or)[ \t]{1,9}|[ \t]{1,20})["'](?=([^"'\n]{3,300})["'])/gi
/** `wsrep_sst_auth = sst:x`, `stats auth admin:x`. */
const PAIR =
  /(?<![\w.-])([\w.-]{4,80})["']?[ \t]{0,20}[ \t=:][ \t]{0,20}["']?[\w.@-]{1,80}:(?=([^\s"':,;/]{4,300})(?:$|[\s"',;]))/gim
/** `<name>fs.s3a.secret.key</name><value>x</value>`. */
const XML_BESIDE =
  /<(?:name|key)>\s{0,9}([\w.-]{2,80})\s{0,9}<\/(?:name|key)>\s{0,60}<[\w.]{1,40}>\s{0,9}([^<>\s]{1,300})/gi
/** `"db_password":{"value":"x"}`, `<Password><Value>x</Value>`. */
const BELOW =
  /(?<![\w.-])([\w.-]{2,80})(?:["'\\]{0,4}[ \t]{0,9}[:=]\s{0,60}\{?\s{0,60}["'\\]{0,4}(?:value|default|plain(?:text|_text)?|literal)["'\\]{0,4}[ \t]{0,9}[:=][ \t]{0,9}|>\s{0,60}<(?:value|plain)>)["'\\]{0,4}(?=([^\s"'\\,;<>}&]{3,300}))/gi
/** `<property name="password">x</property>`. */
const XML_ATTRIBUTE =
  /<\w[\w.:-]{0,40}\s(?:[^<>]{0,100}\s)?(?:name|key)=["']([\w.-]{2,80})["'][^<>]{0,100}(?<!\/)>\s{0,20}([^<>\s]{3,300})/g
const XML = /<([\w.:-]{2,80})(?:\s[^<>]{0,200})?>\s{0,20}(?:<!\[CDATA\[)?([^<>\s\]]{1,300})/g

const NO_VALUE =
  /^(?:true|false|yes|no|on|off|null|nil|none|undefined|all|any|string|str|integer|int|bytes?|object|required|optional|-.*|env|vault|file|changeme|redacted|\.{2,}|\*+|x{3,}|-+|[|>][+-]?|[[{(].{0,2}|\d{1,4}|v?\d+(?:\.\d+){1,3}|\$\([^)]{0,100}\)?|\$\{\{?[^}]{0,100}\}{0,2}|\$\$?[A-Z_][A-Z0-9_]*|\$[a-z]+(?:_[a-z]+)*|\$\d|\{\{.{0,200}|<.{0,100}|%\w{1,60}%|%\(\w{1,60}\)s|\/[a-z][\w.-]{0,80}(?:\/[\w.@-]{1,80}){1,12}\/?|\.{1,2}\/\S{1,200}|(?:os|process|env|System|config|self|this|req|ctx|secrets?|var|local|data|module|input)[.[(]\S{0,200}|file:\S{1,200}|[\w-]{1,40}\(\S{0,200})$/i

function isValue(name: string, text: string): boolean {
  const value = text.replace(/[)\].]+$/, '')
  if (value.length < 3 || NO_VALUE.test(value)) return false
  return !isCaption(name, value) && isNamedCredential(name, value)
}

function isCaption(name: string, value: string): boolean {
  return (
    /^(?:Passwor[dt]|Kennwort|Passphrase|Token|Secret|Wachtwoord|Senha|Haslo|Contrase\S{2})$/.test(
      value,
    ) && name.includes('.')
  )
}

/** Excludes words (`secret "web-tls"`), ports, versions and references. */
function isPassword(value: string): boolean {
  return /\d/.test(value) && /[A-Za-z]/.test(value) && !NO_VALUE.test(value)
}

function hasAssignment(text: string): boolean {
  for (const pattern of [
    ASSIGNMENT,
    BESIDE,
    BELOW,
    DEFAULT,
    SHELL_DEFAULT,
    XML,
    XML_ATTRIBUTE,
    XML_BESIDE,
  ]) {
    for (const [, name = '', value = ''] of text.matchAll(pattern))
      if (isValue(name, value)) return true
  }
  for (const [, value = '', name = ''] of text.matchAll(BESIDE_REVERSED))
    if (isValue(name, value)) return true
  for (const pattern of [QUOTED, NEXT_LINE]) {
    for (const [, name = '', value = ''] of text.matchAll(pattern))
      if (isPassword(value) && isValue(name, value)) return true
  }
  for (const [line, name = '', value = ''] of text.matchAll(LINE_END))
    if (isPassword(value) && isCredentialName(name) && !NAMES_AN_OBJECT.test(line)) return true
  for (const [, name = '', value = ''] of text.matchAll(PAIR))
    if (isPairName(name) && isPassword(value)) return true
  return false
}

const MOST_KNOWN = 20_000
/** A long text by its hash. A turn checks the same values many times. */
const known = new Map<string, string | undefined>()

export function hasSecretText(text: string): boolean {
  return explainSecretText(text) !== undefined
}

export function explainSecretText(text: string): string | undefined {
  // A name with its value needs one of these signs, and every other form 16 characters.
  if (text.length < 6 || (text.length < 16 && !/[\s:=@<%&\\]/.test(text))) return undefined
  const key = text.length <= 64 ? text : createHash('sha256').update(text).digest('base64')
  if (known.has(key)) return known.get(key)
  const answer = findCredential(text, LAYERS)
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(key, answer)
  return answer
}

const SECRET_KIND = /\bkind["'\\]{0,4}\s{0,9}:\s{0,9}["'\\]{0,4}Secret\b(?![\w-])/
const SECRET_CONTENT = /\b(?:data|stringData)["'\\]{0,4}\s{0,9}:/

/** Base64 of a file with a base64 value. */
const LAYERS = 3

function findCredential(text: string, layers: number): string | undefined {
  if (KNOWN_FORMS.some((pattern) => pattern.test(text)))
    return 'it is or has a token, a key, an address, a header, a command or a line of a file with a credential'
  if (SECRET_KIND.test(text) && SECRET_CONTENT.test(text)) return 'it has the manifest of a Secret'
  // The name is part of the hidden text.
  if (hasAssignment(text)) return 'a name in it says that its value is a credential'
  if (holdsBasic(text)) return 'it has a user with a password in base64'
  if (holdsKey(text)) return 'it has a long random word'
  if (splitWindows(text).some((part) => LONG_RUN.test(part) && hasLibraryFinding(part)))
    return 'it has a token of a known issuer'
  for (const inner of layers > 0 ? decodeTokens(text) : []) {
    const why = findCredential(inner, layers - 1)
    if (why !== undefined) return `in another encoding, ${why}`
  }
  return undefined
}

/** RFC 7617, with any text before. */
function holdsBasic(text: string): boolean {
  for (const [, token = ''] of text.matchAll(/\bbasic\s{1,9}([A-Za-z0-9+/_-]{6,2000}={0,2})/gi))
    if (/^[^:\s]{0,200}:[^\s:]/.test(findReadableText(Buffer.from(token, 'base64')) ?? ''))
      return true
  return false
}

const LONG_RUN = /[\w+/=.:@~-]{16}/
/** Characters. The library's rules take superlinear time: at most 20 ms per window. */
const WINDOW = 16_384
/** The library's longest form, except a key of 10,000 characters, which has a form here. */
const OVERLAP = 1_024

function splitWindows(text: string): readonly string[] {
  if (text.length <= WINDOW) return [text]
  return Array.from({ length: Math.ceil(text.length / (WINDOW - OVERLAP)) }, (_, index) =>
    text.slice(index * (WINDOW - OVERLAP), index * (WINDOW - OVERLAP) + WINDOW),
  )
}

const BASE64 =
  /(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/]{16,}|[A-Za-z0-9_-]{16,})={0,2}(?![A-Za-z0-9+/_-])/g
const MOST_TOKENS = 200

function decodeTokens(text: string): readonly string[] {
  const inner: string[] = []
  for (const [token] of text
    .replace(/\\n|(?<=[A-Za-z0-9+/]{60,76})\r?\n[ \t]*/g, '')
    .matchAll(BASE64)) {
    const plain = findReadableText(Buffer.from(token, 'base64'))
    if (plain !== undefined) inner.push(plain)
    const hex = /^(?:[0-9a-f]{2}){8,}$/i.test(token)
      ? findReadableText(Buffer.from(token, 'hex'))
      : undefined
    if (hex !== undefined) inner.push(hex)
    if (inner.length >= MOST_TOKENS) break
  }
  if (/%[0-9a-f]{2}/i.test(text))
    inner.push(
      text.replace(/%([2-7][0-9a-f])/gi, (_, code: string) =>
        String.fromCharCode(parseInt(code, 16)),
      ),
    )
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

function findReadableText(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8')
  return /^[\t\n\r\x20-\x7e\u00a0-\u024f]{6,}$/.test(text) ? text : undefined
}
