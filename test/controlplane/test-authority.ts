import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type WantedCertificate, x509Certificate } from './x509-certificate.ts'

/** A user as kube-apiserver sees it. `system:authenticated` is added by the server. */
export interface Identity {
  readonly user: string
  readonly groups: readonly string[]
}

/** Certificate and private key, both PEM. */
export interface Credential {
  readonly certificate: string
  readonly key: string
}

/** The certificate authority of one control plane. */
export interface TestAuthority {
  /** PEM. */
  readonly certificate: string
  readonly key: KeyObject
}

/** May do everything: member of `system:masters`. */
export const ADMIN: Identity = { user: 'admin', groups: ['system:masters'] }

/** May do what every authenticated user may: discovery and self reviews, nothing else. */
export const UNPRIVILEGED: Identity = { user: 'unprivileged', groups: [] }

const AUTHORITY_NAME = 'backporch-test-authority'
const HOUR = 3_600_000
const VALID_FOR = 30 * 24 * HOUR

/**
 * Makes an authority and writes `ca.crt` and `ca.key` into `directory`, so that every process that shares the control
 * plane can issue credentials with `openTestAuthority`.
 */
export async function createTestAuthority(directory: string): Promise<TestAuthority> {
  const key = newKey()
  const certificate = certify({
    key,
    issuer: key,
    purpose: 'authority',
    commonName: AUTHORITY_NAME,
  })
  await writeFile(join(directory, 'ca.key'), pem(key), { mode: 0o600 })
  await writeFile(join(directory, 'ca.crt'), certificate)
  return { certificate, key }
}

/** Reads what `createTestAuthority` wrote. Rejects with the file system's error when it is not there. */
export async function openTestAuthority(directory: string): Promise<TestAuthority> {
  const [certificate, key] = await Promise.all([
    readFile(join(directory, 'ca.crt'), 'utf8'),
    readFile(join(directory, 'ca.key'), 'utf8'),
  ])
  return { certificate, key: createPrivateKey(key) }
}

/** A client certificate that makes its holder `identity`. */
export function clientCredential(authority: TestAuthority, identity: Identity): Credential {
  const key = newKey()
  const subject = { commonName: identity.user, organizations: identity.groups }
  return {
    key: pem(key),
    certificate: certify({ key, issuer: authority.key, purpose: 'client', ...subject }),
  }
}

/** A serving certificate for 127.0.0.1 and localhost, but for what `other` says. */
export function servingCredential(
  authority: TestAuthority,
  other: Partial<WantedCertificate> = {},
): Credential {
  const key = newKey()
  const subject = { commonName: 'kube-apiserver', names: ['localhost'], addresses: ['127.0.0.1'] }
  return {
    key: pem(key),
    certificate: certify({ ...subject, ...other, key, issuer: authority.key, purpose: 'server' }),
  }
}

/** A new key pair for service account tokens, both halves PEM. */
export function serviceAccountKeys(): { readonly privateKey: string; readonly publicKey: string } {
  const key = newKey()
  return {
    privateKey: pem(key),
    publicKey: createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString(),
  }
}

interface Certified extends Partial<Omit<WantedCertificate, 'issuer'>> {
  readonly key: KeyObject
  readonly issuer: KeyObject
  readonly purpose: WantedCertificate['purpose']
  readonly commonName: string
}

function certify(wanted: Certified): string {
  const now = Date.now()
  return x509Certificate({
    organizations: [],
    names: [],
    addresses: [],
    // An hour back, for a machine whose clock is being corrected while the tests run.
    notBefore: new Date(now - HOUR),
    notAfter: new Date(now + VALID_FOR),
    ...wanted,
    issuer: { commonName: AUTHORITY_NAME, key: wanted.issuer },
  })
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}
