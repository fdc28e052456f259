/** Several repositories in one process. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import {
  begun,
  ControllerProcess,
  failure,
  MINUTE,
  type Reload,
} from '../../test/fakes/controller-process.ts'
import type { RepositoryEntry } from './repository-set.ts'

test('a repository that always fails and one whose turn hangs delay no other repository', async (t) => {
  const running = new ControllerProcess()
  running.trouble.set('a/down', failure('BP4001'))
  running.trouble.set('a/slow', 'hang')
  running.start(
    t,
    ['a/down', 'a/slow', 'a/good'].map((name) => running.entry(name)),
  )
  await running.clock.pass(5 * MINUTE)
  assert.deepEqual(running.minutes('a/good'), [0, 1, 2, 3, 4, 5])
  assert.ok(running.minutes('a/down').length >= 4, 'it is tried again')
  assert.equal(running.minutes('a/slow').length, 1)
  assert.deepEqual(
    running.events('failure').map(({ code, repository }) => [code, repository]),
    [['BP4001', 'a/down']],
  )
  assert.ok(
    running
      .events('turn')
      .every(({ repository }) => repository === 'a/good' || repository === 'a/down'),
  )
})

test('each repository has its interval, and a stop ends all of them', async (t) => {
  const running = new ControllerProcess()
  running.start(t, [running.entry('a/often'), running.entry('a/seldom', '', 3 * MINUTE)])
  await running.clock.pass(6 * MINUTE + 1)
  assert.deepEqual([running.minutes('a/often').length, running.minutes('a/seldom').length], [7, 3])
  assert.equal(await running.stop(), 'stopped')
  assert.deepEqual(running.closed.sort(), ['a/often', 'a/seldom'])
  await running.clock.pass(10 * MINUTE)
  assert.equal(running.minutes('a/often').length, 7)
})

test('the process ends as aborted when one turn must be aborted', async (t) => {
  const running = new ControllerProcess()
  running.trouble.set('a/slow', 'hang')
  running.start(t, [running.entry('a/slow'), running.entry('a/good')])
  await running.clock.pass(1_000)
  assert.equal(await running.stop(), 'aborted')
})

test('an address that can never work is reported and tried again while another repository may work', async (t) => {
  const running = new ControllerProcess()
  running.trouble.set('a/none', failure('BP1002', 'never'))
  running.start(t, [running.entry('a/none'), running.entry('a/good')])
  await running.clock.pass(3 * MINUTE)
  assert.deepEqual(running.minutes('a/none'), [0, 1, 2, 3])
  assert.deepEqual(
    running.events('failure').map(({ code, repository }) => [code, repository]),
    [['BP1002', 'a/none']],
  )
  running.trouble.delete('a/none')
  await running.clock.pass(MINUTE)
  assert.equal(running.events('recovered').length, 1)
})

test('the process ends when no repository can ever work', async (t) => {
  const running = new ControllerProcess()
  for (const name of ['a/none', 'a/nothing']) running.trouble.set(name, failure('BP1002', 'never'))
  running.start(t, [running.entry('a/none'), running.entry('a/nothing')])
  const ended = assert.rejects(
    running.ended,
    (thrown) => thrown instanceof Failure && thrown.code === 'BP1002',
  )
  await running.clock.pass(1_000)
  await ended
})

test('repositories that cannot work do not end the process once another one worked', async (t) => {
  const running = new ControllerProcess()
  running.trouble.set('a/none', failure('BP1002', 'never'))
  const none = running.entry('a/none')
  let now: readonly RepositoryEntry[] = [none, running.entry('a/good')]
  running.start(t, now, () => now)
  await running.clock.pass(MINUTE)
  now = [none]
  await running.clock.pass(3 * MINUTE)
  assert.equal(running.minutes('a/none').length, 5)
})

test('on reload an added repository starts, a removed one stops and a changed one restarts', async (t) => {
  const running = new ControllerProcess()
  let next: readonly RepositoryEntry[] | undefined
  const reload: Reload = () => {
    const entries = next
    next = undefined
    return entries
  }
  running.start(
    t,
    [running.entry('a/kept'), running.entry('a/gone'), running.entry('a/changed', 'one')],
    reload,
  )
  await running.clock.pass(30_000)
  next = [running.entry('a/kept'), running.entry('a/changed', 'other'), running.entry('a/new')]
  await running.clock.pass(90_000)
  assert.deepEqual(running.closed, ['a/gone', 'a/changed'])
  assert.deepEqual(running.minutes('a/kept'), [0, 1, 2])
  assert.deepEqual(running.minutes('a/gone'), [0])
  assert.deepEqual(running.minutes('a/changed'), [0, 0.6, 1.6])
  assert.deepEqual(running.minutes('a/new'), [0.6, 1.6])
  assert.deepEqual(
    running.events('configured').map(({ added, changed, removed }) => [added, changed, removed]),
    [[1, 1, 1]],
  )
  assert.deepEqual(running.hooks?.remotes(), [
    'https://a/kept',
    'https://a/new',
    'https://a/changed',
  ])
  next = [running.entry('a/kept'), running.entry('a/changed', 'other'), running.entry('a/new')]
  await running.clock.pass(10_000)
  assert.equal(running.events('configured').length, 1)
})

test("a removed repository's running turn gets the grace period, without delaying added ones", async (t) => {
  const running = new ControllerProcess()
  running.trouble.set('a/slow', 'hang')
  const good = running.entry('a/good')
  let next: readonly RepositoryEntry[] | undefined = [good, running.entry('a/new')]
  running.start(t, [running.entry('a/slow'), good], () => {
    const entries = next
    next = undefined
    return entries
  })
  await running.clock.pass(6_000)
  assert.equal(running.minutes('a/new').length, 1)
  await running.clock.pass(25_000)
  assert.equal(running.events('configured').length, 1)
  assert.equal(await running.stop(), 'stopped')
})

test('a webhook requests turns only of the repositories it names', async (t) => {
  const running = new ControllerProcess()
  running.start(t, [running.entry('a/one'), running.entry('a/other')])
  await running.clock.pass(10_000)
  running.hooks?.onUpdate(undefined, ['https://a/one'])
  await running.clock.pass(5_000)
  assert.deepEqual([running.turns.get('a/one'), running.turns.get('a/other')], [[0, 10_500], [0]])
  running.hooks?.onUpdate(undefined, [])
  await running.clock.pass(5_000)
  running.hooks?.onUpdate()
  await running.clock.pass(5_000)
  assert.deepEqual(
    [running.turns.get('a/one'), running.turns.get('a/other')],
    [
      [0, 10_500, 20_500],
      [0, 20_500],
    ],
  )
})

test('ready while one repository observes a cluster; metrics drop a removed repository', async (t) => {
  const running = new ControllerProcess()
  running.trouble.set('a/down', failure('BP4001'))
  const down = running.entry('a/down')
  let next: readonly RepositoryEntry[] | undefined
  running.start(t, [down, running.entry('a/good')], () => next)
  const { readiness } = running.monitoring ?? assert.fail('it serves probes')
  assert.equal(readiness().ready, false)
  await running.clock.pass(2_000)
  assert.deepEqual(
    [readiness().ready, ...readiness().checks.map(({ text }) => text)],
    [
      true,
      'first turn ended',
      'repository a/down: BP4001, the repository cannot be reached',
      'clusters: none was observed yet',
      'repository a/good ok',
      'cluster prod ok',
    ],
  )
  const series = async (): Promise<readonly (string | undefined)[]> => {
    const text = await running.metrics.renderExposition()
    return [
      /^backporch_package_info\{.*\} (\d+)$/m,
      /^backporch_failures\{code="BP4001"\} (\d+)$/m,
    ].map((wanted) => wanted.exec(text)?.[1])
  }
  assert.deepEqual(await series(), ['1', '1'])
  next = [down]
  await running.clock.pass(10_000)
  assert.deepEqual(await series(), [undefined, '1'])
  assert.equal(readiness().ready, false)
})

test('a reload request opens a new session at once despite back-off, and rereads the file', async (t) => {
  const running = new ControllerProcess()
  const asked: boolean[] = []
  running.trouble.set('a/locked', failure('BP5002', 'on-change'))
  running.start(
    t,
    [running.entry('a/locked'), running.entry('a/fine')],
    (isAsked) => void asked.push(isAsked),
  )
  await running.clock.pass(12_000)
  assert.deepEqual([asked, running.closed], [[false, false], []])
  running.trouble.delete('a/locked')
  running.askToReload()
  await running.clock.pass(2_000)
  assert.deepEqual(asked, [false, false, true])
  assert.deepEqual(running.closed, ['a/fine'])
  assert.deepEqual(begun(running, 'a/locked', 'a/fine'), [
    [0, 12_500],
    [0, 12_500],
  ])
  assert.deepEqual([running.events('reloading').length, running.events('recovered').length], [1, 1])
  assert.equal(await running.stop(), 'stopped')
  assert.throws(() => running.askToReload(), /nobody listens any more/)
})

test('concurrent turns are limited, and the turn due first runs next', async (t) => {
  const running = new ControllerProcess()
  const names = ['a/1', 'a/2', 'a/3', 'a/4', 'a/5']
  for (const name of names) running.lasts.set(name, 10_000)
  running.start(
    t,
    names.map((name) => running.entry(name)),
    undefined,
    2,
  )
  await running.clock.pass(2_000)
  const waiting = async (): Promise<string | undefined> =>
    /^workqueue_depth\{name="turns"\} (\d+)$/m.exec(await running.metrics.renderExposition())?.[1]
  assert.equal(await waiting(), '3')
  await running.clock.pass(30_000)
  assert.deepEqual(begun(running, ...names), [[0], [0], [10_000], [10_000], [20_000]])
  assert.equal(await waiting(), '0')
  assert.equal(running.most, 2)
})

test('repositories with hanging turns block no other, and log, probe and metric name them', async (t) => {
  const running = new ControllerProcess()
  const hanging = ['a/1', 'a/2', 'a/3']
  for (const name of hanging) running.trouble.set(name, 'hang')
  const all = [...hanging, 'a/well']
  const entries = all.map((name) => running.entry(name))
  running.start(t, entries, undefined, 2)
  await running.clock.pass(200_000)
  assert.deepEqual(begun(running, ...all), [[0], [0], [30_000], [30_000, 90_000, 150_000]])
  assert.deepEqual(
    running
      .events('slow')
      .map(({ repository, step, milliseconds }) => [repository, step, milliseconds]),
    hanging.map((name) => [name, 'reading the repository', 30_000]),
  )
  const longest = /^workqueue_longest_running_processor_seconds\{name="turns"\} (\d+)$/m
  assert.equal(longest.exec(await running.metrics.renderExposition())?.[1], '200')
  const { readiness } = running.monitoring ?? assert.fail('it serves probes')
  const lines = readiness().checks.map(({ text }) => text)
  assert.ok(
    lines.includes('repository a/3: its turn runs for 2m50s: reading the repository'),
    lines.join('\n'),
  )
})

test('a request that arrives while a turn waits is handled in that turn', async (t) => {
  const running = new ControllerProcess()
  running.lasts.set('a/slow', 10_000)
  running.start(t, [running.entry('a/slow'), running.entry('a/other')], undefined, 1)
  await running.clock.pass(5_000)
  running.hooks?.onUpdate(undefined, ['https://a/other'])
  await running.clock.pass(20_000)
  assert.deepEqual(begun(running, 'a/slow', 'a/other'), [[0], [10_000]])
})

test('a repository whose turn waits is not ready, and ends at once when it is removed', async (t) => {
  const running = new ControllerProcess()
  running.trouble.set('a/slow', 'hang')
  const slow = running.entry('a/slow')
  running.start(t, [slow, running.entry('a/gone')], () => [slow], 1)
  const { readiness } = running.monitoring ?? assert.fail('it serves probes')
  await running.clock.pass(2_000)
  assert.deepEqual(
    readiness().checks.map(({ text }) => text),
    ['first turn: not ended yet'],
  )
  await running.clock.pass(4_000)
  assert.equal(running.events('configured').length, 1)
  assert.equal(await running.stop(), 'aborted')
  assert.deepEqual(begun(running, 'a/slow', 'a/gone'), [[0], []])
})
