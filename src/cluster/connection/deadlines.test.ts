/** A process that computes for longer than a deadline reads what came meanwhile, and nobody is blamed for it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hasEnded, standStill, startAnswer } from '../../../test/waiting/stand-still.ts'
import { FrameMemory } from '../watch/frame-reader.ts'
import { readStream } from '../watch/read-stream.ts'
import { runExecPlugin } from './exec-credential.ts'
import type { ClusterAccess } from './kubeconfig.ts'
import { describeRequestedPath } from './kubernetes-failure.ts'
import { runUnderDeadline } from './transport.ts'

const { signal } = new AbortController()

test('a blocked process still reads an answer that arrived before the deadline', async (t) => {
  const { stdout, miss } = startAnswer('answer', (end) => t.after(end))
  const answer = runUnderDeadline(40, signal, async (limit) =>
    String((await once(stdout, 'data', { signal: limit }))[0]),
  )
  await miss(100)
  assert.equal(await answer, 'answer')
})

test('a blocked process still reads a watch event that arrived before the deadline', async (t) => {
  const event = { type: 'BOOKMARK', object: { kind: 'Pod', metadata: { resourceVersion: '7' } } }
  const { stdout, miss } = startAnswer(`${JSON.stringify(event)}\n`, (end) => t.after(end))
  const ended = readStream(
    {
      status: 200,
      headers: new Map(),
      provenAt: undefined,
      listen: ({ data }) => stdout.on('data', data),
      close: () => undefined,
    },
    {
      requested: describeRequestedPath('test', '/api/v1/pods'),
      largestEvent: 1_000,
      memory: new FrameMemory(1_000),
      lasts: 80,
      silence: () => 40,
      take: () => ({ end: 'closed' }),
    },
    signal,
  )
  await miss(100)
  assert.deepEqual(await ended, { end: 'closed' })
})

const ACCESS: ClusterAccess = {
  context: 'test',
  namespace: 'default',
  server: new URL('https://127.0.0.1'),
  authority: undefined,
  serverName: undefined,
  skipTlsVerify: false,
  proxyUrl: undefined,
  user: {
    name: 'test',
    certificate: undefined,
    key: undefined,
    token: undefined,
    tokenFile: undefined,
    basic: undefined,
    impersonate: { user: undefined, uid: undefined, groups: [], extra: {} },
    exec: undefined,
    authProvider: undefined,
  },
  file: 'kubeconfig',
}

test('a blocked process still reads the credential of a plugin that answered in time', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plugin-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [command, mark] = [join(folder, 'plugin'), join(folder, 'id')]
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'given' },
  }
  writeFileSync(command, `#!/bin/sh\necho '${JSON.stringify(credential)}'\necho $$ > ${mark}\n`)
  chmodSync(command, 0o755)
  const plugin = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command,
    args: [],
    env: [],
    provideClusterInfo: false,
  }
  const options = { environment: {}, execAllow: [command], execTimeout: 40 }
  const run = runExecPlugin(plugin, ACCESS, options, signal)
  standStill(() => hasEnded(mark), 100)
  assert.equal((await run).token, 'given')
})
