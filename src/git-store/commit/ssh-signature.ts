/**
 * `gpg.format=ssh`: SSHSIG (OpenSSH, PROTOCOL.sshsig) with the namespace `git`, over the commit
 * without its `gpgsig` header; keys as in PROTOCOL.key. Ed25519 only: its signatures are
 * deterministic, so the same draft gives the same commit.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'

const MAGIC = 'SSHSIG'
const NAMESPACE = 'git'
const KEY_TYPE = 'ssh-ed25519'
const HASHES = ['sha512', 'sha256']
const HEADER = 'gpgsig '
const [BEGIN, END] = ['-----BEGIN SSH SIGNATURE-----', '-----END SSH SIGNATURE-----']
/** Base64 characters per line, like ssh-keygen. */
const LINE = 70

/** A clause that contains nothing of the key. */
export class UnusableKey extends Error {}

export interface SigningKey {
  readonly publicKey: Buffer
  readonly privateKey: KeyObject
}

/**
 * @param text of `ssh-keygen -t ed25519`
 * @throws UnusableKey
 */
export function parsePrivateKey(text: string): SigningKey {
  const [, body] =
    /-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----/.exec(
      text,
    ) ?? []
  if (body === undefined) {
    throw new UnusableKey(
      text.includes(' PRIVATE KEY-----') || text.includes('-----BEGIN PRIVATE KEY-----')
        ? "it is a private key in another format than OpenSSH's"
        : 'it is not a private key',
    )
  }
  const bytes = Buffer.from(body, 'base64')
  const magic = 'openssh-key-v1\0'
  if (bytes.toString('latin1', 0, magic.length) !== magic) throw new UnusableKey('it is damaged')
  const file = new Reader(bytes, magic.length)
  const cipher = file.readText()
  file.readString()
  file.readString()
  const count = file.number()
  const publicKey = Buffer.from(file.readString())
  if (cipher !== 'none')
    throw new UnusableKey('it is encrypted with a passphrase, and backporch cannot ask for one')
  const type = new Reader(publicKey).readText()
  if (type !== KEY_TYPE || count !== 1)
    throw new UnusableKey(
      `its type is ${/^[a-z0-9@.-]{1,60}$/.test(type) ? type : 'unknown'}, and only ${KEY_TYPE} is used`,
    )
  const secret = new Reader(file.readString())
  const [check, again] = [secret.number(), secret.number()]
  if (check !== again) throw new UnusableKey('it is damaged')
  secret.readString()
  const point = secret.readString()
  const seed = secret.readString().subarray(0, 32)
  const jwk = {
    kty: 'OKP',
    crv: 'Ed25519',
    x: point.toString('base64url'),
    d: seed.toString('base64url'),
  }
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' })
  // Nobody could verify its signatures.
  if (
    createPublicKey(privateKey).export({ format: 'jwk' }).x !== jwk.x ||
    !publicKey.equals(encodeEd25519Key(point))
  )
    throw new UnusableKey('it is damaged')
  return { publicKey, privateKey }
}

export function computeKeyFingerprint(publicKey: Buffer): string {
  return `SHA256:${createHash('sha256').update(publicKey).digest('base64').replace(/=+$/, '')}`
}

export function signCommit(commit: Buffer, { publicKey, privateKey }: SigningKey): Buffer {
  const signature = sign(null, encodeSignedData(commit, 'sha512'), privateKey)
  const blob = Buffer.concat([
    Buffer.from(MAGIC),
    Buffer.from([0, 0, 0, 1]),
    encodeString(publicKey),
    encodeString(NAMESPACE),
    encodeString(''),
    encodeString('sha512'),
    encodeString(Buffer.concat([encodeString(KEY_TYPE), encodeString(signature)])),
  ])
  const lines = [
    BEGIN,
    ...(blob.toString('base64').match(new RegExp(`.{1,${LINE}}`, 'g')) ?? []),
    END,
  ]
  const end = commit.indexOf('\n\n') + 1
  return Buffer.concat([
    commit.subarray(0, end),
    Buffer.from(`${HEADER}${lines.join('\n ')}\n`),
    commit.subarray(end),
  ])
}

/** Any doubt is false. */
export function isSignedBy(commit: Buffer, publicKeys: readonly Buffer[]): boolean {
  const parts = splitCommit(commit)
  if (parts === undefined) return false
  try {
    const bytes = Buffer.from(parts.signature, 'base64')
    if (bytes.toString('base64') !== parts.signature.replaceAll('\n', '')) return false
    const blob = new Reader(bytes)
    if (blob.readBytes(MAGIC.length).toString('latin1') !== MAGIC || blob.number() !== 1)
      return false
    const publicKey = blob.readString()
    const [namespace, , hash] = [blob.readText(), blob.readString(), blob.readText()]
    const inner = new Reader(blob.readString())
    const [type, signature] = [inner.readText(), inner.readString()]
    if (
      !publicKeys.some((known) => known.equals(publicKey)) ||
      namespace !== NAMESPACE ||
      !HASHES.includes(hash)
    )
      return false
    if (type !== KEY_TYPE || !blob.isAtEnd || !inner.isAtEnd) return false
    const key = new Reader(publicKey)
    key.readString()
    const x = key.readString().toString('base64url')
    return verify(
      null,
      encodeSignedData(parts.payload, hash),
      createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }),
      signature,
    )
  } catch (thrown) {
    if (thrown instanceof UnusableKey || thrown instanceof TypeError) return false
    throw thrown
  }
}

/**
 * Undefined for another type.
 * @throws UnusableKey
 */
export function parsePublicKey(type: string, base64: string): Buffer | undefined {
  if (type !== KEY_TYPE) return undefined
  const key = Buffer.from(base64, 'base64')
  const reader = new Reader(key)
  if (reader.readText() !== KEY_TYPE || reader.readString().length !== 32 || !reader.isAtEnd)
    throw new UnusableKey('a public key in it is damaged')
  return key
}

function splitCommit(
  commit: Buffer,
): { readonly payload: Buffer; readonly signature: string } | undefined {
  const end = commit.indexOf('\n\n') + 1
  const head = commit.toString('latin1', 0, end)
  const lines = head.split(/(?<=\n)/)
  const from = lines.findIndex((line) => line.startsWith('gpgsig'))
  if (from < 0 || !lines[from]?.startsWith(HEADER)) return undefined
  const after = lines.findIndex((line, at) => at > from && !line.startsWith(' '))
  const to = after < 0 ? lines.length : after
  if (lines.slice(to).some((line) => line.startsWith('gpgsig'))) return undefined
  const armoured = lines
    .slice(from, to)
    .join('')
    .slice(HEADER.length)
    .replaceAll('\n ', '\n')
    .trimEnd()
  if (!armoured.startsWith(`${BEGIN}\n`) || !armoured.endsWith(`\n${END}`)) return undefined
  const signature = armoured.slice(BEGIN.length, -END.length)
  if (!/^[A-Za-z0-9+/\n]+={0,2}\n$/.test(signature)) return undefined
  const rest = [...lines.slice(0, from), ...lines.slice(to)].join('')
  return { payload: Buffer.concat([Buffer.from(rest, 'latin1'), commit.subarray(end)]), signature }
}

/** With the namespace, so that no other signature is valid for a commit. */
function encodeSignedData(payload: Buffer, hash: string): Buffer {
  const digest = createHash(hash).update(payload).digest()
  return Buffer.concat([
    Buffer.from(MAGIC),
    encodeString(NAMESPACE),
    encodeString(''),
    encodeString(hash),
    encodeString(digest),
  ])
}

function encodeEd25519Key(point: Buffer): Buffer {
  return Buffer.concat([encodeString(KEY_TYPE), encodeString(point)])
}

/** RFC 4251: a length in four bytes, then the bytes. */
function encodeString(value: Buffer | string): Buffer {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

class Reader {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes
    this.#at = at
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  readBytes(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new UnusableKey('it is damaged')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  number(): number {
    return this.readBytes(4).readUInt32BE()
  }

  readString(): Buffer {
    return this.readBytes(this.number())
  }

  readText(): string {
    return this.readString().toString('latin1')
  }
}
