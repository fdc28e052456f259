import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { programPath } from '../programs/build-programs.ts'
import { type FakeMachine, fakeMachine, writeScript } from '../programs/fake-go.ts'
import { findAppliers } from './appliers.ts'

// The real program runs in test/e2e/appliers.live.test.ts.
let machine: FakeMachine
beforeEach(async () => {
  machine = await fakeMachine()
})
afterEach(() => machine.remove())

test('reports that Go and a build are missing, and what to do', async () => {
  const found = await findAppliers({ environment: machine.environment })
  assert.ok(found.state === 'unavailable')
  assert.match(
    found.why,
    /^cannot run the appliers here: there is no build at .*, and there is no go on the PATH\. Install Go\.$/,
  )
})

test('passes the order to the program and reads its answer', async () => {
  const answer =
    '[{"object":{"apiVersion":"v1","kind":"ConfigMap","namespace":"a","name":"b"},"what":"created"}]'
  const written = join(machine.directory, 'order')
  await cacheBuild(`/bin/cat > ${written}\necho "$1 $2" >> ${written}\necho '${answer}'`)
  const found = await findAppliers({ environment: machine.environment })
  assert.ok(found.state === 'ready')
  const order = { kubeconfig: '/k', namespace: 'a', manifests: 'kind: ConfigMap' }
  const differences = await found.diffWith('flux', order)
  assert.deepEqual(differences, [
    { object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'b' }, what: 'created' },
  ])
  assert.equal(
    await readFile(written, 'utf8'),
    `${JSON.stringify({ name: 'shop', ...order })}diff flux\n`,
  )
})

test('reports the error output of a failing tool', async () => {
  await cacheBuild('echo "a conflict of two" >&2\nexit 1')
  const found = await findAppliers({ environment: machine.environment })
  assert.ok(found.state === 'ready')
  const order = { kubeconfig: '/k', namespace: 'a', manifests: '' }
  await assert.rejects(
    found.applyWith('helm3', order),
    /^Error: helm apply helm3 ended with 1: a conflict of two/,
  )
})

async function cacheBuild(body: string): Promise<void> {
  await writeScript(await programPath('appliers', machine.environment), body)
}
