import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wire } from '../../wire.ts'
import { cutToBytes, RunnerCommands } from './runner-commands.ts'

/** What stdout and the file of a variable get. */
function runner(env: Readonly<Record<string, string>> = {}) {
  const [stdout, files]: [string[], string[]] = [[], []]
  const real = wire(process, new AbortController().signal)
  const location = real.at({
    cwd: '/',
    env,
    clock: real.clock,
    stdout: { write: (text: string) => stdout.push(text) },
    stderr: real.stderr,
  })
  const world = { ...location, appendText: (_path: string, text: string) => void files.push(text) }
  return {
    runner: new RunnerCommands(world),
    stdout: () => stdout.join(''),
    file: () => files.join(''),
  }
}

test('human-readable text is enclosed in stop-commands with an unpredictable end token', () => {
  const hostile = '::error::x\n##[command]y\n::stop-commands::z'
  const [one, other] = [runner(), runner()].map((each) => {
    each.runner.log(hostile)
    return each.stdout()
  })
  const [, end = ''] = /^::stop-commands::([0-9a-f-]{36})\n/.exec(one ?? '') ?? []
  assert.equal(one, `::stop-commands::${end}\n${hostile}\n::${end}::\n`)
  assert.ok(!other?.includes(end))
  const quiet = runner()
  quiet.runner.log('')
  assert.equal(quiet.stdout(), '')
})

test('an annotation is one line, and its properties and message are escaped', () => {
  const { runner: commands, stdout } = runner()
  commands.annotate('error', '100%\n::warning::x\r', {
    file: 'a,b:c%.yaml\n',
    title: 'x'.repeat(400),
  })
  assert.equal(
    stdout(),
    `::error file=a%2Cb%3Ac%25.yaml\\u{a},title=${'x'.repeat(299)}…::100%25\\u{a}::warning::x\\u{d}\n`,
  )
})

test('keeps the first ten annotations of each level', () => {
  const { runner: commands, stdout } = runner()
  for (let at = 1; at <= 12; at += 1)
    for (const level of ['warning', 'notice'] as const) commands.annotate(level, `number ${at}`)
  assert.equal(stdout().match(/^::warning /gm)?.length, 10)
  assert.equal(stdout().match(/^::notice /gm)?.length, 10)
  assert.doesNotMatch(stdout(), /number 1[12]/)
})

test('an output ends with a line that its value cannot have', () => {
  const { runner: commands, file } = runner({ GITHUB_OUTPUT: 'file' })
  commands.writeOutputs({ one: 'a\nghadelimiter\nb', two: '' })
  const [, first = '', second = ''] =
    /^one<<(ghadelimiter_\S+)\na\nghadelimiter\nb\n\1\ntwo<<(ghadelimiter_\S+)\n\n\2\n$/.exec(
      file(),
    ) ?? []
  assert.ok(first !== '' && first !== second, file())
  const byHand = runner()
  byHand.runner.writeOutputs({ one: 'a' })
  byHand.runner.writeSummary('b')
  assert.equal(byHand.file(), '', 'nobody runs this as a step')
})

test("a summary over the runner's limit is truncated after a whole line, and says so", () => {
  assert.equal(cutToBytes('é\né', 5), 'é\né')
  assert.match(cutToBytes('é\né\né', 7), /^é\né\n\n\*\*This summary is cut/)
  const { runner: commands, file } = runner({ GITHUB_STEP_SUMMARY: 'file' })
  commands.writeSummary(`${'x'.repeat(99)}\n`.repeat(12_000))
  assert.ok(Buffer.byteLength(file()) <= 1024 * 1024)
  assert.match(file(), /report-json/)
})
