import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Failure } from '@backporch/kyaml/failure'
import { getResourceKey } from '@backporch/kyaml/resource'
import { type AuditSample, auditEvent } from '../../../test/fakes/audit-samples.ts'
import { type AuditLogLimits, openAuditLog } from './audit-log.ts'

const ID = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' }

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'backporch-audit-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function line(sample: AuditSample): string {
  return `${JSON.stringify(auditEvent(sample))}\n`
}

const by = (user: string, second = 0): AuditSample => ({
  user,
  at: `2026-11-21T09:00:${String(second).padStart(2, '0')}Z`,
})

async function users(
  log: {
    writesTo: (
      cluster: string,
      wanted: (typeof ID)[],
      signal: AbortSignal,
    ) => Promise<{ writes: ReadonlyMap<string, readonly { user: string }[]> }>
  },
  id = ID,
): Promise<string[]> {
  const { writes } = await log.writesTo('c', [id], new AbortController().signal)
  return (writes.get(getResourceKey(id)) ?? []).map(({ user }) => user)
}

test('finds the writes to the object, oldest first, among other events and invalid lines', async (t) => {
  const path = join(folder(t), 'audit.log')
  const noise = [
    line({ verb: 'get', user: 'reader' }),
    line({ name: 'other', user: 'x' }),
    'not json\n',
    '\n',
    line({ code: 403, user: 'refused' }),
  ]
  writeFileSync(
    path,
    [
      ...noise,
      line(by('bob', 2)),
      line(by('ada', 1)),
      line({
        ...by('quoted'),
        name: 'other',
        userAgent: '"objectRef":{"name":"web","namespace":"shop"}',
      }),
    ].join(''),
  )
  assert.deepEqual(await users(await openAuditLog(path)), ['ada', 'bob'])
})

test('reads an unfinished last line once it is complete', async (t) => {
  const path = join(folder(t), 'audit.log')
  const [whole, next] = [line(by('ada', 1)), line(by('bob', 2))]
  writeFileSync(path, whole + next.slice(0, 100))
  const log = await openAuditLog(path)
  assert.deepEqual(await users(log), ['ada'])
  appendFileSync(path, next.slice(100) + line(by('carl', 3)).trimEnd())
  assert.deepEqual(await users(log), ['ada', 'bob', 'carl'])
  appendFileSync(path, `\n${line(by('dora', 4))}`)
  assert.deepEqual(await users(log), ['ada', 'bob', 'carl', 'dora'])
})

test('reads rotated files too, also compressed ones, but no files with merely similar names', async (t) => {
  const location = folder(t)
  const path = join(location, 'audit.log')
  writeFileSync(
    join(location, 'audit-2026-11-20T08-00-00.000.log.gz'),
    gzipSync(line(by('ada', 1))),
  )
  writeFileSync(join(location, 'audit-2026-11-21T08-00-00.000.log'), line(by('bob', 2)))
  writeFileSync(join(location, 'audit-old.log'), line(by('nobody', 9)))
  writeFileSync(path, line(by('carl', 3)))
  const log = await openAuditLog(path)
  assert.deepEqual(await users(log), ['ada', 'bob', 'carl'])
  renameSync(path, join(location, 'audit-2026-11-21T09-00-00.000.log'))
  writeFileSync(path, line(by('dora', 4)))
  assert.deepEqual(await users(log), ['ada', 'bob', 'carl', 'dora'])
})

test('rereads a log that was truncated and restarted', async (t) => {
  const path = join(folder(t), 'audit.log')
  writeFileSync(path, line(by('ada', 1)) + line(by('bob', 2)))
  const log = await openAuditLog(path)
  await users(log)
  writeFileSync(path, line(by('carl', 3)))
  assert.deepEqual(await users(log), ['carl'])
})

test('reads only the end of a huge log, starting at a whole line', async (t) => {
  const location = folder(t)
  const path = join(location, 'audit.log')
  const lines = Array.from({ length: 50 }, (_, index) => line(by(`u${index}`, index)))
  writeFileSync(path, lines.join(''))
  writeFileSync(join(location, 'audit-2026-11-20T08-00-00.000.log'), line(by('too-old')))
  const bytes = Buffer.byteLength(lines.slice(47).join('')) + 10
  const limits: AuditLogLimits = { bytes, events: 200 }
  assert.deepEqual(await users(await openAuditLog(path, limits)), ['u47', 'u48', 'u49'])
  assert.deepEqual(await users(await openAuditLog(path, { bytes: 1_000_000, events: 2 })), [
    'u48',
    'u49',
  ])
})

test('reports and skips an endless line, and reads what follows it', async (t) => {
  const path = join(folder(t), 'audit.log')
  writeFileSync(
    path,
    `${line(by('ada', 1))}{"x":"${'y'.repeat(18_000_000)}"}\n${line(by('bob', 2))}`,
  )
  const log = await openAuditLog(path)
  assert.deepEqual(await users(log), ['ada', 'bob'])
  const { notes } = await log.writesTo('c', [ID], new AbortController().signal)
  assert.deepEqual(notes, ['1 lines of the audit log are too long and were not read'])
})

test('the writes to an object include deletions of its namespace and of its collection', async (t) => {
  const path = join(folder(t), 'audit.log')
  const namespace: AuditSample = {
    ...by('ada', 1),
    verb: 'delete',
    resource: 'namespaces',
    name: 'shop',
  }
  writeFileSync(
    path,
    line(namespace) + line({ ...by('bob', 2), verb: 'deletecollection', name: '' }),
  )
  const log = await openAuditLog(path)
  assert.deepEqual(await users(log), ['ada', 'bob'])
  assert.deepEqual(
    await users(log, { group: '', kind: 'Namespace', namespace: '', name: 'shop' }),
    ['ada'],
  )
})

test('reports a missing log, or a folder in its place, with a remedy', async (t) => {
  const location = folder(t)
  for (const path of [join(location, 'none.log'), location]) {
    await assert.rejects(
      openAuditLog(path),
      (error) => error instanceof Failure && error.code === 'BP1001' && error.where === path,
    )
  }
})
