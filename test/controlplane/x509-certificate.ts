import { createHash, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'

/** What a certificate is for; decides its key usages. */
export type CertificatePurpose = 'authority' | 'server' | 'client'

/** What `x509Certificate` writes into the certificate. */
export interface WantedCertificate {
  readonly purpose: CertificatePurpose
  /** Common name. For a client certificate this is the Kubernetes user. */
  readonly commonName: string
  /** Organizations. For a client certificate these are the Kubernetes groups. */
  readonly organizations: readonly string[]
  /** IPv4 addresses the certificate serves. */
  readonly addresses: readonly string[]
  /** DNS names the certificate serves. */
  readonly names: readonly string[]
  readonly notBefore: Date
  /** Must be before the year 2050: `UTCTime` has two-digit years. */
  readonly notAfter: Date
  /** The key the certificate is about: a private or public EC key. */
  readonly key: KeyObject
  /** Who signs: common name and P-256 private key. */
  readonly issuer: { readonly commonName: string; readonly key: KeyObject }
}

const EXTENDED_KEY_USAGE = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2'

/**
 * An X.509 v3 certificate in PEM, signed with ECDSA P-256 and SHA-256.
 *
 * Node reads certificates but cannot write them, and a test may need a certificate for any user at any time, with
 * standard server binaries as well as with our own build; so the few DER structures needed are written here.
 *
 * Source of the structures: RFC 5280 §4.1 and §4.2.1. Throws what `node:crypto` throws for an unusable key.
 */
export function x509Certificate(wanted: WantedCertificate): string {
  const algorithm = sequence(objectIdentifier(ECDSA_WITH_SHA256))
  const toBeSigned = sequence(
    explicit(0, integer(Buffer.from([2]))), // v3
    integer(serialNumber()),
    algorithm,
    distinguishedName(wanted.issuer.commonName, []),
    sequence(utcTime(wanted.notBefore), utcTime(wanted.notAfter)),
    distinguishedName(wanted.commonName, wanted.organizations),
    publicKeyInfo(wanted.key),
    explicit(3, sequence(...extensions(wanted))),
  )
  const signature = sign('sha256', toBeSigned, wanted.issuer.key)
  const der = sequence(toBeSigned, algorithm, bitString(signature, 0))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

function extensions(wanted: WantedCertificate): Buffer[] {
  const identifiers = [
    extension('2.5.29.14', 'optional', octetString(keyIdentifier(wanted.key))),
    extension('2.5.29.35', 'optional', sequence(tlv(0x80, keyIdentifier(wanted.issuer.key)))),
  ]
  if (wanted.purpose === 'authority') {
    return [
      extension('2.5.29.19', 'critical', sequence(boolean(true))), // basic constraints: a CA
      extension('2.5.29.15', 'critical', bitString(Buffer.from([0x06]), 1)), // keyCertSign, cRLSign
      ...identifiers,
    ]
  }
  const alternativeNames = [
    ...wanted.names.map((name) => tlv(0x82, Buffer.from(name, 'ascii'))),
    ...wanted.addresses.map((address) => tlv(0x87, Buffer.from(address.split('.').map(Number)))),
  ]
  return [
    extension('2.5.29.19', 'critical', sequence()),
    extension('2.5.29.15', 'critical', bitString(Buffer.from([0x80]), 7)), // digitalSignature
    extension(
      '2.5.29.37',
      'optional',
      sequence(objectIdentifier(EXTENDED_KEY_USAGE[wanted.purpose])),
    ),
    ...identifiers,
    // An empty list of names is invalid (RFC 5280 §4.2.1.6), so a client certificate has no such extension.
    ...(alternativeNames.length > 0
      ? [extension('2.5.29.17', 'optional', sequence(...alternativeNames))]
      : []),
  ]
}

function extension(oid: string, weight: 'critical' | 'optional', value: Buffer): Buffer {
  return sequence(
    objectIdentifier(oid),
    ...(weight === 'critical' ? [boolean(true)] : []),
    octetString(value),
  )
}

/** One organization per RDN: Go reads them all as groups, and this keeps their order. */
function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const attribute = (oid: string, text: string) =>
    tlv(0x31, sequence(objectIdentifier(oid), utf8String(text)))
  return sequence(
    ...organizations.map((text) => attribute('2.5.4.10', text)),
    attribute('2.5.4.3', commonName),
  )
}

function publicKeyInfo(key: KeyObject): Buffer {
  return (key.type === 'private' ? createPublicKey(key) : key).export({
    type: 'spki',
    format: 'der',
  })
}

function keyIdentifier(key: KeyObject): Buffer {
  return createHash('sha1').update(publicKeyInfo(key)).digest()
}

/** 16 random bytes whose first is never 0 and never has the sign bit: positive, and of minimal length. */
function serialNumber(): Buffer {
  const serial = randomBytes(16)
  serial.writeUInt8((serial.readUInt8(0) & 0x7f) | 0x40, 0)
  return serial
}

// DER, the subset above needs (X.690 §8 and §10).

function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), derLength(content.length), content])
}

function derLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, ...parts)
}

function explicit(number: number, part: Buffer): Buffer {
  return tlv(0xa0 | number, part)
}

/** `bytes` must be positive and minimal already. */
function integer(bytes: Buffer): Buffer {
  return tlv(0x02, bytes)
}

function boolean(value: boolean): Buffer {
  return tlv(0x01, Buffer.from([value ? 0xff : 0x00]))
}

function bitString(bytes: Buffer, unusedBits: number): Buffer {
  return tlv(0x03, Buffer.from([unusedBits]), bytes)
}

function octetString(bytes: Buffer): Buffer {
  return tlv(0x04, bytes)
}

function utf8String(text: string): Buffer {
  return tlv(0x0c, Buffer.from(text, 'utf8'))
}

/** `YYMMDDHHMMSSZ` */
function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/\D/g, '').slice(2, 14)
  return tlv(0x17, Buffer.from(`${digits}Z`, 'ascii'))
}

function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80)
  return bytes
}
