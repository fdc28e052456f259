import assert from 'node:assert/strict'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { type WantedCertificate, x509Certificate } from './x509-certificate.ts'

const authorityKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const issuer = { commonName: 'the authority', key: authorityKey }
const base = {
  organizations: [],
  names: [],
  addresses: [],
  notBefore: new Date('2026-01-02T03:04:05Z'),
  notAfter: new Date('2049-12-31T23:59:59Z'),
  issuer,
} satisfies Partial<WantedCertificate>

const authority = new X509Certificate(
  x509Certificate({
    ...base,
    purpose: 'authority',
    commonName: 'the authority',
    key: authorityKey,
  }),
)

test('creates a self-signed certificate authority', () => {
  assert.equal(authority.ca, true)
  assert.equal(authority.verify(authority.publicKey), true)
  assert.equal(authority.checkIssued(authority), true)
})

test('a client certificate carries the user, the groups in their order, and the client usage', () => {
  const wanted = {
    ...base,
    key,
    purpose: 'client',
    commonName: 'jürgen',
    organizations: ['b', 'a'],
  } as const
  const client = new X509Certificate(x509Certificate(wanted))
  assert.equal(client.subject, 'O=b\nO=a\nCN=jürgen')
  assert.equal(client.ca, false)
  assert.equal(client.checkIssued(authority), true)
  assert.equal(client.verify(authority.publicKey), true)
  assert.deepEqual(client.keyUsage, ['1.3.6.1.5.5.7.3.2'])
  assert.equal(client.subjectAltName, undefined)
})

test('a serving certificate contains its addresses and hosts', () => {
  const wanted = {
    ...base,
    key,
    purpose: 'server',
    commonName: 'x',
    names: ['localhost'],
    addresses: ['127.0.0.1'],
  } as const
  const server = new X509Certificate(x509Certificate(wanted))
  assert.equal(server.checkHost('localhost'), 'localhost')
  assert.equal(server.checkIP('127.0.0.1'), '127.0.0.1')
  assert.equal(server.checkIP('127.0.0.2'), undefined)
})

test('uses the requested dates', () => {
  assert.equal(authority.validFromDate.toISOString(), '2026-01-02T03:04:05.000Z')
  assert.equal(authority.validToDate.toISOString(), '2049-12-31T23:59:59.000Z')
})

test('encodes certificates longer than 255 and 65,535 bytes correctly', () => {
  for (const count of [10, 3_000]) {
    const organizations = Array.from({ length: count }, (_, i) => `group-with-a-long-name-${i}`)
    const client = new X509Certificate(
      x509Certificate({ ...base, key, purpose: 'client', commonName: 'u', organizations }),
    )
    assert.equal(client.subject.split('\n').length, count + 1)
  }
})
