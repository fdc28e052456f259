import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { hangLimit, retryWhile, waitSteady, waitUntil } from './wait-until.ts'

test('polls until the answer is neither undefined nor false, and returns it', async () => {
  const answers = [undefined, false, undefined, 0, 1]
  assert.equal(await waitUntil('a number', () => answers.shift()), 0)
  assert.deepEqual(answers, [1])
  assert.equal(await waitUntil('now', async () => ''), '')
})

test('a wait that hangs fails with what it waited for and what it last saw', async () => {
  const seen = (): string => 'three of four replicas'
  const hung = waitUntil('all replicas are ready', () => false, { hangsAfter: 30, describe: seen })
  await assert.rejects(
    hung,
    /^Error: this never came: all replicas are ready \(looked \d+ times in 0\.03 s\)\nthree of four replicas$/,
  )
  const silent = waitUntil('an answer', () => new Promise<undefined>(() => undefined), {
    hangsAfter: 30,
  })
  await assert.rejects(silent, /^Error: this never came: an answer \(looked 1 times in 0\.03 s\)$/)
})

test('polls once more after a machine that was suspended past the deadline', async () => {
  let looks = 0
  const standStill = (): boolean => {
    looks += 1
    if (looks === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60)
    return looks === 2
  }
  await waitUntil('it is so after a while', standStill, { hangsAfter: 10 })
  assert.equal(looks, 2)
})

test('an error of the poll ends the wait, and so does a signal, with its reason', async () => {
  await assert.rejects(
    waitUntil('it', () => Promise.reject(new Error('no such thing'))),
    /^Error: no such thing$/,
  )
  const stop = new AbortController()
  const stopped = waitUntil('it', () => void stop.abort(new Error('the server ended')), {
    signal: stop.signal,
  })
  await assert.rejects(stopped, /^Error: the server ended$/)
})

test('waits until several polls see the same value', async () => {
  const seen = [1, 2, undefined, undefined, undefined, undefined, 3, 3, 4, 4, 4, 4, 5]
  assert.equal(await waitSteady('it is at rest', async () => seen.shift()), 4)
  assert.deepEqual(seen, [5])
})

test('retries a transient failure, and fails on another one', async () => {
  const errors = ['not served', 'not served']
  const work = async (): Promise<string> => {
    const [error] = errors.splice(0, 1)
    if (error !== undefined) throw new Error(error)
    return 'served'
  }
  const isUnserved = (thrown: unknown): boolean => String(thrown).includes('not served')
  assert.equal(await retryWhile('it is served', work, isUnserved), 'served')
  errors.push('not served', 'forbidden', 'not served')
  await assert.rejects(retryWhile('it is served', work, isUnserved), /^Error: forbidden$/)
  assert.deepEqual(errors, ['not served'])
})

test('the time limit names the program that did not end', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const limit = hangLimit('kubectl get pods')
  t.mock.timers.tick(300_000)
  assert.match(String(limit.reason), /^Error: this did not end in 300 s: kubectl get pods$/)
})

test('an unfinished wait does not keep a failed test running', () => {
  const module = JSON.stringify(new URL('wait-until.ts', import.meta.url).href)
  const program = `
    import { test } from 'node:test'
    import { waitUntil } from ${module}
    test('fails', () => { waitUntil('what never comes', () => false); throw new Error('elsewhere') })`
  const { NODE_TEST_CONTEXT: _ours, ...env } = process.env
  const args = ['--input-type=module', '--no-warnings', '--eval', program]
  const ended = spawnSync(process.execPath, args, { encoding: 'utf8', env, timeout: 100_000 })
  assert.deepEqual([ended.status, ended.signal], [1, null], ended.stdout)
  assert.match(ended.stdout, /elsewhere/)
})
