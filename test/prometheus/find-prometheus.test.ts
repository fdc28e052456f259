import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { type FakeMachine, fakeMachine } from '../programs/fake-go.ts'
import { findPrometheus } from './find-prometheus.ts'

let machine: FakeMachine
beforeEach(async () => {
  machine = await fakeMachine()
})
afterEach(() => machine.remove())

test('reports which program is missing, and what to install', async () => {
  await machine.install('prometheus')
  const found = await findPrometheus(machine.environment)
  assert.ok(found.state === 'unavailable')
  assert.match(
    found.why,
    /^cannot run prometheus here: there is no promtool on the PATH\. Install it: apt-get install .* prometheus$/,
  )
})

test('uses both programs from the PATH', async () => {
  await machine.install('prometheus')
  await machine.install('promtool')
  const [prometheus, promtool] = ['prometheus', 'promtool'].map((name) =>
    join(machine.directory, 'bin', name),
  )
  assert.deepEqual(await findPrometheus(machine.environment), {
    state: 'ready',
    prometheus,
    promtool,
  })
})
