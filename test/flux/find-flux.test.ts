import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { programPath } from '../programs/build-programs.ts'
import { type FakeMachine, fakeMachine } from '../programs/fake-go.ts'
import { type FluxController, findFlux } from './find-flux.ts'

const CONTROLLERS: readonly FluxController[] = ['source-controller', 'kustomize-controller']
const report = (): void => {}
let machine: FakeMachine
beforeEach(async () => {
  machine = await fakeMachine()
})
afterEach(() => machine.remove())

test('reports that Go is missing, and what to do', async () => {
  const found = await findFlux(CONTROLLERS, { environment: machine.environment, report })
  assert.ok(found.state === 'unavailable')
  assert.match(
    found.why,
    /^cannot run Flux's source-controller here: there is no build at .*, and there is no go on the PATH\. Install Go\.$/,
  )
})

test('builds each controller once, with the definitions of its own module', async () => {
  for (const name of CONTROLLERS) {
    const folder = join(
      machine.directory,
      'modules',
      'github.com',
      'fluxcd',
      name,
      'config',
      'crd',
      'bases',
    )
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'a.yaml'), `kind: ${name}\n`)
  }
  await machine.installGo()
  const found = await findFlux(CONTROLLERS, { environment: machine.environment, report })
  assert.ok(found.state === 'ready')
  const paths = await Promise.all(CONTROLLERS.map((name) => programPath(name, machine.environment)))
  assert.deepEqual(
    [...found.programs],
    CONTROLLERS.map((name, index) => [name, paths[index]]),
  )
  assert.equal(found.definitions, '---\nkind: source-controller\n---\nkind: kustomize-controller\n')
})
