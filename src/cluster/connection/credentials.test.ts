import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { accessTo, NOBODY } from '../../../test/apiserver/scripted-cluster.ts'
import { scriptedServer } from '../../../test/apiserver/scripted-server.ts'
import { HANG } from '../../../test/processes/hang-command.ts'
import { type CredentialOptions, createCredentialSource } from './credentials.ts'
import type { ExecPlugin, KubeconfigUser } from './kubeconfig.ts'

const signal = new AbortController().signal
const SERVER = { url: 'https://127.0.0.1:6443', authority: '-----BEGIN CERTIFICATE-----\nx' }
const CREDENTIAL = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' }

function sourceFor(user: Partial<KubeconfigUser>, options: Partial<CredentialOptions> = {}) {
  return createCredentialSource(accessTo(SERVER, user), {
    environment: process.env,
    execAllow: [],
    now: () => new Date('2026-11-21T09:00:00Z'),
    ...options,
  })
}

function program(
  t: TestContext,
  script: string,
): { readonly folder: string; readonly plugin: ExecPlugin } {
  const folder = mkdtempSync(join(tmpdir(), 'exec-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const command = join(folder, 'plugin')
  writeFileSync(command, `#!/bin/sh\necho run >> ${folder}/ran\n${script}\n`)
  chmodSync(command, 0o755)
  return {
    folder,
    plugin: {
      command,
      args: [],
      env: [{ name: 'EXTRA', value: 'yes' }],
      apiVersion: CREDENTIAL.apiVersion,
      provideClusterInfo: false,
    },
  }
}

function failsWith(code: string, ...parts: readonly RegExp[]) {
  return (thrown: unknown): boolean => {
    assert.ok(thrown instanceof Failure, String(thrown))
    assert.equal(thrown.code, code, thrown.message)
    for (const part of parts) assert.match(`${thrown.what} ${thrown.why} ${thrown.remedy}`, part)
    assert.doesNotMatch(JSON.stringify(thrown) + String(thrown.stack), /HIDDEN/)
    return true
  }
}

test('sends a token, basic authentication and impersonation as headers', async () => {
  assert.deepEqual((await sourceFor({ token: 'abc' }).read(signal)).headers, {
    authorization: 'Bearer abc',
  })
  const basic = await sourceFor({ basic: { username: 'u', password: 'p' } }).read(signal)
  assert.deepEqual(basic.headers, {
    authorization: `Basic ${Buffer.from('u:p').toString('base64')}`,
  })
  const impersonate = {
    user: 'eve',
    uid: '7',
    groups: ['a', 'b'],
    extra: { 'example.com/Team': ['x'] },
  }
  assert.deepEqual((await sourceFor({ impersonate }).read(signal)).headers, {
    'impersonate-user': 'eve',
    'impersonate-uid': '7',
    'impersonate-group': ['a', 'b'],
    'impersonate-extra-example.com%2fteam': ['x'],
  })
})

test('a token file takes precedence over the token and is read each time', async (t) => {
  const { folder } = program(t, '')
  const tokenFile = join(folder, 'token')
  const source = sourceFor({ token: 'old', tokenFile })
  writeFileSync(tokenFile, 'one\n')
  assert.equal((await source.read(signal)).headers['authorization'], 'Bearer one')
  writeFileSync(tokenFile, 'two')
  assert.equal((await source.read(signal)).headers['authorization'], 'Bearer two')
})

test('reports missing files and invalid PEM data by field name', async () => {
  await assert.rejects(
    sourceFor({ tokenFile: '/nonexistent/token' }).read(signal),
    failsWith('BP1006', /tokenFile.*ENOENT/),
  )
  const data = Buffer.from('HIDDEN').toString('base64')
  await assert.rejects(
    sourceFor({ key: { data } }).read(signal),
    failsWith('BP1006', /client-key is not PEM/),
  )
})

test('does not run a plugin that is not allowed, and names the flag that allows it', async (t) => {
  const { folder, plugin } = program(t, 'echo HIDDEN')
  await assert.rejects(
    sourceFor({ exec: plugin }).read(signal),
    failsWith('BP1008', new RegExp(`--kubeconfig-exec-allow=${plugin.command}`)),
  )
  assert.equal(existsSync(join(folder, 'ran')), false)
})

test('finds a plugin without a path on the PATH and allows it by absolute path', async (t) => {
  const { folder, plugin } = program(
    t,
    `echo '${JSON.stringify({ ...CREDENTIAL, status: { token: 'from-path' } })}'`,
  )
  const environment = { ...process.env, PATH: `relative:${folder}:${process.env['PATH']}` }
  const exec = { ...plugin, command: 'plugin' }
  await assert.rejects(
    sourceFor({ exec }, { environment }).read(signal),
    failsWith('BP1008', new RegExp(plugin.command)),
  )
  const read = await sourceFor({ exec }, { environment, execAllow: [plugin.command] }).read(signal)
  assert.equal(read.headers['authorization'], 'Bearer from-path')
  await assert.rejects(
    sourceFor({ exec: { ...plugin, command: 'no-such-plugin' } }, { environment }).read(signal),
    failsWith('BP1008', /not on the PATH/),
  )
})

test('an allowed plugin follows the exec contract and supplies token, certificate and key until they expire', async (t) => {
  const status = {
    token: 'tok',
    clientCertificateData: 'CERT',
    clientKeyData: 'KEY',
    expirationTimestamp: '2026-11-21T10:00:00Z',
  }
  const { folder, plugin } = program(
    t,
    `echo "$KUBERNETES_EXEC_INFO $EXTRA" > "$(dirname "$0")/info"; echo '${JSON.stringify({ ...CREDENTIAL, status })}'`,
  )
  let now = new Date('2026-11-21T09:00:00Z')
  const source = sourceFor({ exec: plugin }, { execAllow: [plugin.command], now: () => now })
  const read = await source.read(signal)
  assert.deepEqual(
    [read.certificate, read.key, read.headers],
    ['CERT', 'KEY', { authorization: 'Bearer tok' }],
  )
  assert.match(
    readFileSync(join(folder, 'info'), 'utf8'),
    /"kind":"ExecCredential","spec":\{"interactive":false\}\} yes/,
  )
  await source.read(signal)
  assert.equal(readFileSync(join(folder, 'ran'), 'utf8'), 'run\n')
  now = new Date('2026-11-21T10:00:00Z')
  await source.read(signal)
  source.forget()
  await source.read(signal)
  assert.equal(readFileSync(join(folder, 'ran'), 'utf8'), 'run\nrun\nrun\n')
})

for (const [what, script, why] of [
  ['fails', 'echo HIDDEN >&2; exit 3', /ended with 3/],
  ['prints no JSON', 'echo HIDDEN', /not an ExecCredential/],
  [
    'prints another kind',
    `echo '{"kind":"Pod","status":{"token":"HIDDEN"}}'`,
    /not an ExecCredential/,
  ],
  [
    'prints no credential',
    `echo '${JSON.stringify({ ...CREDENTIAL, status: {} })}'`,
    /neither a token nor a certificate/,
  ],
  ['prints without end', 'yes HIDDEN', /more than 1048576 bytes/],
  ['hangs, with a child that hangs', HANG, /did not answer within 0.3 s/],
] as const) {
  test(`a plugin that ${what} supplies no credentials, and its output is not shown`, async (t) => {
    const { plugin } = program(t, script)
    const source = sourceFor(
      { exec: plugin },
      { execAllow: [plugin.command], execTimeout: what.startsWith('hangs') ? 300 : 8_000 },
    )
    await assert.rejects(source.read(signal), failsWith('BP3002', why))
  })
}

test('rejects auth providers that run programs from the kubeconfig', async (t) => {
  const { folder } = program(t, '')
  const config = { 'cmd-path': `touch ${folder}/ran` }
  await assert.rejects(
    sourceFor({ authProvider: { name: 'gcp', config } }).read(signal),
    failsWith('BP1008', /only oidc/),
  )
  assert.equal(existsSync(join(folder, 'ran')), false)
})

/** Their library asks the clock of the machine: a year 3000 is valid, and 1000 seconds after 1970 are over. */
const VALID = 32_503_680_000
const EXPIRED = 1000

function idToken(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'RS256' })}.${part(claims)}.c2ln`
}

function oidcUser(config: Readonly<Record<string, string>>): Partial<KubeconfigUser> {
  return { authProvider: { name: 'oidc', config } }
}

test('uses a valid OpenID Connect token, and rejects an expired one that cannot be refreshed', async () => {
  const valid = idToken({ exp: VALID })
  const read = await sourceFor(oidcUser({ 'id-token': valid })).read(signal)
  assert.equal(read.headers['authorization'], `Bearer ${valid}`)
  const expired = oidcUser({ 'id-token': idToken({ exp: EXPIRED }) })
  await assert.rejects(sourceFor(expired).read(signal), failsWith('BP3002', /expired/))
})

test('refreshes an expired OpenID Connect token at its provider, once until the new one expires', async (t) => {
  let fresh = ''
  const server = await scriptedServer(({ path }) =>
    path === '/token'
      ? { body: { access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token: fresh } }
      : { body: { issuer: server.url, token_endpoint: `${server.url}/token` } },
  )
  t.after(() => server.close())
  const claims = { iss: server.url, aud: 'kubectl', sub: 'eve', iat: EXPIRED }
  fresh = idToken({ ...claims, exp: VALID })
  const source = sourceFor(
    oidcUser({
      'id-token': idToken({ ...claims, exp: EXPIRED }),
      'client-id': 'kubectl',
      'client-secret': 'between us',
      'refresh-token': 'again',
      'idp-issuer-url': server.url,
      'idp-certificate-authority-data': Buffer.from(server.authority).toString('base64'),
    }),
  )
  for (const _ of [1, 2])
    assert.equal((await source.read(signal)).headers['authorization'], `Bearer ${fresh}`)
  assert.deepEqual(
    server.requests.map(({ method, path }) => `${method} ${path}`),
    ['GET /.well-known/openid-configuration', 'POST /token'],
  )
  const asked = Object.fromEntries(new URLSearchParams(server.requests[1]?.body))
  assert.deepEqual(asked, {
    grant_type: 'refresh_token',
    refresh_token: 'again',
    client_id: 'kubectl',
    client_secret: 'between us',
  })
})

test('an anonymous user sends no credentials and causes no error', async () => {
  assert.deepEqual((await sourceFor(NOBODY).read(signal)).headers, {})
})
