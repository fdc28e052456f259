import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { type FluxController, findFlux } from './find-flux.ts'

// No real build here: it takes minutes. `go` is a script that writes what `-o` names.
const CONTROLLERS: readonly FluxController[] = ['source-controller', 'kustomize-controller']
const silent = () => {}
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

test('without Go it says so, and what to do', async () => {
  const found = await findFlux(CONTROLLERS, { environment, module, report: silent })
  assert.ok(found.state === 'unavailable')
  assert.match(found.why, /^cannot run Flux here: there is no build at .*, and there is no go on the PATH\. Install Go\.$/)
})

test('who does not want to wait for a build is told how to get one', async () => {
  await writeGo('exit 1')
  const found = await findFlux(CONTROLLERS, { environment, module, report: silent, build: false })
  assert.ok(found.state === 'unavailable')
  assert.match(found.why, /there is no build at .*\. Run `node test\/run\.ts \.flux\.test`, which builds it\.$/)
})

test('each controller is built once, with the definitions of its own module, and is then used without Go and its module cache', async () => {
  for (const name of CONTROLLERS) {
    await mkdir(join(directory, name, 'config', 'crd', 'bases'), { recursive: true })
    await writeFile(join(directory, name, 'config', 'crd', 'bases', 'a.yaml'), `kind: ${name}\n`)
  }
  await writeGo(`if [ "$1" = mod ]; then echo "{\\"Dir\\":\\"${directory}/\${4##*/}\\"}"; exit; fi
echo "$@" >> "$XDG_CACHE_HOME/calls"; while [ "$1" != -o ]; do shift; done; echo binary > "$2"; /bin/chmod +x "$2"`)
  const found = await findFlux(CONTROLLERS, { environment, module, report: silent })
  assert.ok(found.state === 'ready')
  assert.deepEqual([...found.programs.keys()], CONTROLLERS)
  assert.equal(found.definitions, '---\nkind: source-controller\n---\nkind: kustomize-controller\n')
  const calls = (await readFile(join(directory, 'cache', 'calls'), 'utf8')).trim().split('\n')
  assert.deepEqual(
    calls.map((call) => call.split(' ').at(-1)),
    CONTROLLERS.map((name) => `github.com/fluxcd/${name}`),
  )
  for (const gone of ['bin', ...CONTROLLERS]) await rm(join(directory, gone), { recursive: true })
  assert.deepEqual(await findFlux(CONTROLLERS, { environment, module, report: silent }), found)
})

test('a failing build gives the compiler words as reason', async () => {
  await writeGo('echo "no such module" >&2; exit 1')
  const found = await findFlux(CONTROLLERS, { environment, module, report: silent })
  assert.ok(found.state === 'unavailable')
  assert.match(found.why, /go build ended with code 1: no such module/)
})

async function writeGo(body: string): Promise<void> {
  await mkdir(join(directory, 'bin'), { recursive: true })
  await writeFile(join(directory, 'bin', 'go'), `#!/bin/sh\n${body}\n`)
  await chmod(join(directory, 'bin', 'go'), 0o755)
}
