import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { clientCredential, createTestAuthority } from '../../../test/controlplane/test-authority.ts'
import { getSecureContext } from './secure-contexts.ts'

test('only connections with the same authority, certificate and key share a TLS context', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-contexts-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const authority = await createTestAuthority(folder)
  const [one, other] = ['one', 'other'].map((user) => {
    const { certificate: cert, key } = clientCredential(authority, { user, groups: [] })
    return { ca: authority.certificate, cert, key, minVersion: 'TLSv1.2' } as const
  })
  assert.ok(one !== undefined && other !== undefined)
  const context = getSecureContext(one)
  assert.equal(getSecureContext({ ...one }), context)
  assert.notEqual(getSecureContext(other), context)
  assert.notEqual(getSecureContext({ ca: one.ca, minVersion: 'TLSv1.2' }), context)
  assert.notEqual(getSecureContext({ minVersion: 'TLSv1.2' }), context)
})

test('rejects an invalid key each time', () => {
  for (let attempt = 0; attempt < 2; attempt += 1)
    assert.throws(() => getSecureContext({ key: 'none', minVersion: 'TLSv1.2' }))
})
