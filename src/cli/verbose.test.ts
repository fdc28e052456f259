import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import type { CliContext } from './context/cli-context.ts'
import type { TerminalOptions } from './flags/options.ts'
import { Printer } from './print/printer.ts'

function tracing(options: Partial<TerminalOptions>): {
  readonly lines: string[]
  readonly trace: Printer['trace']
} {
  const lines: string[] = []
  const world = {
    stdout: {},
    env: {},
    stderr: { write: (text: string) => lines.push(text) },
  } as unknown as CliContext
  return { lines, trace: new Printer(world, options as TerminalOptions).trace }
}

test('each request is one line on stderr, whatever its path contains', () => {
  const { lines, trace } = tracing({ verbose: true })
  trace?.({
    to: { system: 'cluster', name: 'prod' },
    what: 'GET /api/v1/\u001b[2Jpods\n',
    outcome: '200 (17 characters)',
    milliseconds: 12.6,
  })
  assert.deepEqual(lines, ['    13 ms  GET /api/v1/\\u{1b}[2Jpods\\u{a}  200 (17 characters)\n'])
})

test('without --verbose nothing is traced', () => assert.equal(tracing({}).trace, undefined))

test('--verbose prints the steps of a turn on stderr, even with a document on stdout', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  const verbose = await runInWorld(world, ['diff', '-v', '-o', 'json'])
  assert.match(verbose.stderr, /^ +0 ms {2}since the start: reading the repository$/m)
  assert.match(verbose.stderr, /observing prod: 1\/1 packages/)
  assert.equal((JSON.parse(verbose.stdout) as { kind: string }).kind, 'DriftReportList')
  assert.doesNotMatch((await runInWorld(world, ['diff', '-o', 'json'])).stderr, /since the start/)
})
