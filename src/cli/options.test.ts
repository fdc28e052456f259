import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import { Failure } from '../failure.ts'
import { type CommonOptions, clusterTarget, durationSeconds, Progress } from './options.ts'
import type { World } from './world.ts'

const DURATIONS: readonly (readonly [text: string, seconds: number | undefined])[] = [
  ['30s', 30],
  ['5m', 300],
  ['2h', 7200],
  ['30d', 2_592_000],
  ['0s', undefined],
  ['5', undefined],
  ['-5m', undefined],
  ['1.5h', undefined],
  ['5 m', undefined],
  ['', undefined],
]

for (const [text, seconds] of DURATIONS) {
  test(`the duration ${JSON.stringify(text)} is ${seconds === undefined ? 'refused' : `${seconds} s`}`, () => {
    if (seconds === undefined) assert.throws(() => durationSeconds(text), /30s, 5m or 2h/)
    else assert.equal(durationSeconds(text), seconds)
  })
}

test('objects come from a recording or from an API server', () => {
  const options = { live: 'objects.yaml', context: 'prod' } as unknown as CommonOptions
  assert.throws(
    () => clusterTarget(options),
    (thrown) => thrown instanceof Failure && thrown.code === 'BP1001',
  )
  assert.equal(clusterTarget({ live: 'objects.yaml' } as unknown as CommonOptions).live, 'objects.yaml')
})

const USAGE: readonly (readonly [argv: readonly string[], why: RegExp])[] = [
  [['dif'], /unknown command.*\n(.*\n)*.*diff/],
  [['diff', '--nope'], /unknown option '--nope'/],
  [['diff', '-o', 'xml'], /-o, --output/],
  [['diff', '--partial', 'maybe'], /"ok"/],
  [['diff', '--timeout', '5'], /30s, 5m or 2h/],
  [['status', '--columns', 'nmae'], /no column nmae/],
  [['approve', 'a', 'b'], /too many arguments/],
]

for (const [argv, why] of USAGE) {
  test(`a command line that is not one ends with 2 and says why: ${argv.join(' ')}`, async () => {
    const { code, stdout, stderr } = await runInWorld(new TurnWorld(), argv)
    assert.equal(code, 2)
    assert.equal(stdout, '')
    assert.match(stderr, /^error BP1001: /)
    assert.match(stderr, why)
    assert.match(stderr, /\n {2}fix: /)
    assert.doesNotMatch(stderr, /\n {4}at /)
  })
}

test('the exit code can be told not to count drift, in both spellings', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  for (const argv of [['diff'], ['diff', '--exit-code=true']]) assert.equal((await runInWorld(world, argv)).code, 1)
  for (const argv of [
    ['diff', '--no-exit-code'],
    ['diff', '--exit-code=false'],
  ])
    assert.equal((await runInWorld(world, argv)).code, 0)
})

function progressOn(
  isTTY: boolean,
  quiet: boolean,
): { readonly lines: string[]; readonly progress: Progress; pass(milliseconds: number): void } {
  const lines: string[] = []
  let now = 0
  const world = { clock: { now: () => new Date(now) }, stderr: { isTTY, write: (text: string) => lines.push(text) } } as unknown as World
  const progress = new Progress(world, { quiet, output: 'table' })
  return { lines, progress, pass: (milliseconds) => (now += milliseconds) }
}

test('a quick run shows no progress, a long one a line that is rewritten and taken away', () => {
  const { lines, progress, pass } = progressOn(true, false)
  progress.step('reading')
  assert.deepEqual(lines, [])
  pass(400)
  progress.step('observing')
  progress.end()
  assert.deepEqual(lines, ['\r\u001b[Kobserving…', '\r\u001b[K'])
})

test('a log gets a line per ten seconds and no control characters; a quiet run gets nothing', () => {
  const { lines, progress, pass } = progressOn(false, false)
  for (let second = 0; second < 25; second += 1) {
    progress.step(`step ${second}`)
    pass(1000)
  }
  progress.end()
  assert.deepEqual(lines, ['step 10…\n', 'step 20…\n'])
  const quiet = progressOn(true, true)
  quiet.pass(60_000)
  quiet.progress.step('x')
  quiet.progress.end()
  assert.deepEqual(quiet.lines, [])
})
