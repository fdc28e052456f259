import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { withFileLock } from './with-file-lock.ts'

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'backporch-lock-'))
})
after(() => rm(directory, { recursive: true }))

const noWait = () => assert.fail('had to wait')

test('two users of one path take turns, and the second is told which process holds the lock', async () => {
  const path = join(directory, 'turns')
  const observed: string[] = []
  const use = (name: string) => async () => {
    observed.push(`${name} in`)
    await sleep(100)
    observed.push(`${name} out`)
  }
  const waits: number[] = []
  const report = (pid: number) => waits.push(pid)
  await Promise.all([
    withFileLock(path, use('a'), report),
    withFileLock(path, use('b'), report),
    withFileLock(path, use('c'), report),
  ])
  const names = observed.map((entry) => entry[0])
  for (const i of [0, 2, 4]) assert.equal(names[i], names[i + 1], observed.join(', '))
  assert.deepEqual(new Set(names).size, 3)
  assert.deepEqual(waits, [process.pid, process.pid])
})

test('releases the lock after work that fails, and leaves no files', async () => {
  const path = join(directory, 'failing')
  const failing = () => Promise.reject(new Error('broken'))
  await assert.rejects(withFileLock(path, failing, noWait), /broken/)
  assert.equal(await withFileLock(path, async () => 'done', noWait), 'done')
  assert.deepEqual(
    (await readdir(directory)).filter((name) => name.startsWith('failing')),
    [],
  )
})

test('a signal ends the wait, and leaves no files', async () => {
  const path = join(directory, 'waiting')
  const ending = new AbortController()
  await withFileLock(
    path,
    () =>
      assert.rejects(
        withFileLock(
          path,
          async () => assert.fail('ran'),
          () => ending.abort(),
          ending.signal,
        ),
        { name: 'AbortError' },
      ),
    noWait,
  )
  assert.deepEqual(
    (await readdir(directory)).filter((name) => name.startsWith('waiting')),
    [],
  )
})

test('takes over the lock of a killed process at once', async () => {
  const path = join(directory, 'killed')
  const child = spawn(process.execPath, [
    '--input-type=module',
    '--no-warnings',
    '--eval',
    holdForEver(path),
  ])
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal(await withFileLock(path, async () => 'mine', noWait), 'mine')
})

test('takes over the lock of an unresponsive process although its id is in use', async () => {
  const path = join(directory, 'silent')
  await writeFile(
    path,
    JSON.stringify({ pid: process.pid, nonce: 'of an earlier process with this id' }),
  )
  const longAgo = new Date(Date.now() - 60_000)
  await utimes(path, longAgo, longAgo)
  assert.equal(await withFileLock(path, async () => 'mine', noWait), 'mine')
})

function holdForEver(path: string): string {
  const module = new URL('with-file-lock.ts', import.meta.url).href
  const work = `() => { console.log('held'); return new Promise((resolve) => setTimeout(resolve, 60_000)) }`
  return `import { withFileLock } from ${JSON.stringify(module)}; await withFileLock(${JSON.stringify(path)}, ${work}, () => {})`
}
