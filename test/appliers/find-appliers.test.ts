import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { appliersBuild, findAppliers } from './appliers.ts'

// No real build here: it takes minutes. That several builders make one build, and that a killed one leaves nothing behind, is tested
// with the control plane, which is built by the same code. The real program runs in test/e2e/appliers.live.test.ts.
const silent = (): void => {}
let directory: string
let module: string
let environment: Record<string, string>

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'backporch-find-'))
  module = join(directory, 'module')
  await mkdir(module)
  await writeFile(join(module, 'go.mod'), 'module example.invalid/x\n')
  environment = { XDG_CACHE_HOME: join(directory, 'cache'), PATH: join(directory, 'bin') }
})
afterEach(() => rm(directory, { recursive: true }))

test('without Go and a build it says so and what to do', async () => {
  const found = await findAppliers({ environment, module, report: silent })
  assert.ok(found.state === 'unavailable')
  assert.match(found.why, /^cannot run the appliers here: there is no build at .*, and there is no go on the PATH\. Install Go\.$/)
})

test('a build that fails is told with what the compiler said', async () => {
  await writeScript(join(directory, 'bin', 'go'), 'echo no such module >&2\nexit 1\n')
  const found = await findAppliers({ environment, module, report: silent })
  assert.ok(found.state === 'unavailable')
  assert.match(found.why, /no such module/)
})

test('a cached build is used without Go: it gets the order, and its answer is read', async () => {
  const { binary } = await appliersBuild(module, environment)
  const answer = '[{"object":{"apiVersion":"v1","kind":"ConfigMap","namespace":"a","name":"b"},"what":"created"}]'
  await writeScript(binary, `/bin/cat > ${directory}/order\necho "$1 $2" >> ${directory}/order\necho '${answer}'\n`)
  const found = await findAppliers({ environment, module })
  assert.ok(found.state === 'ready')
  assert.equal(found.source, 'cached build')
  const order = { kubeconfig: '/k', namespace: 'a', manifests: 'kind: ConfigMap' }
  const differences = await found.diffWith('flux', order)
  assert.deepEqual(differences, [{ object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'b' }, what: 'created' }])
  assert.equal(await readFile(join(directory, 'order'), 'utf8'), `${JSON.stringify({ name: 'shop', ...order })}diff flux\n`)
})

test('what a tool says when it fails is the error', async () => {
  const { binary } = await appliersBuild(module, environment)
  await writeScript(binary, 'echo "a conflict of two" >&2\nexit 1\n')
  const found = await findAppliers({ environment, module })
  assert.ok(found.state === 'ready')
  const order = { kubeconfig: '/k', namespace: 'a', manifests: '' }
  await assert.rejects(found.applyWith('helm3', order), /^Error: helm apply helm3 ended with 1: a conflict of two/)
})

async function writeScript(path: string, body: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\n${body}`)
  await chmod(path, 0o755)
}
