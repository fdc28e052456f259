import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wire } from '../../wire.ts'
import type { RunCommand } from '../context/cli-context.ts'
import { runAction } from './run-action.ts'

/** The step with a command line that does what it is told. */
async function step(run: RunCommand, abort = new AbortController()) {
  const stdout: string[] = []
  const real = wire(process, abort.signal)
  const env = { BACKPORCH_KEY: 'k'.repeat(32), INPUT_REPO: '.' }
  const world = real.at({
    cwd: '/',
    env,
    clock: real.clock,
    stdout: { write: (text: string) => stdout.push(text) },
    stderr: real.stderr,
  })
  return { code: await runAction(world, run), stdout: stdout.join('') }
}

test('a cancelled workflow ends with 130 and prints nothing', async () => {
  const abort = new AbortController()
  const cancelled: RunCommand = async () => {
    abort.abort(new Error('interrupted'))
    return 130
  }
  assert.deepEqual(await step(cancelled, abort), { code: 130, stdout: '' })
})

test('a command without a valid report fails the step', async () => {
  const silent = await step(async () => 0)
  assert.equal(silent.code, 2)
  assert.match(
    silent.stdout,
    /^::error title=backporch::backporch scan printed no report and ended with exit code 0$/m,
  )
  const odd = await step(async (_argv, { stdout }) => {
    stdout.write('{"kind":"DriftReportList"}')
    return 0
  })
  assert.equal(odd.code, 2)
  assert.match(odd.stdout, /^::error title=backporch::BP9001: /m)
})
