import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { giteaBuild } from './build-gitea.ts'
import { findGitea } from './find-gitea.ts'

// No real build here: it takes minutes. `go` is a script that writes what `-o` names. That several builders make one build and
// that a killed one leaves nothing behind is tested with the control plane, which is built by the same code.
const GO_MOD = 'module example.invalid/x\n\nrequire (\n\tcode.gitea.io/gitea v1.26.0\n)\n'
const silent = () => {}
let directory: string
let module: string
let environment: Record<string, string>

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'backporch-find-'))
  module = join(directory, 'module')
  await mkdir(module)
  await writeFile(join(module, 'go.mod'), GO_MOD)
  environment = { XDG_CACHE_HOME: join(directory, 'cache'), PATH: join(directory, 'bin') }
  await writeScript(join(directory, 'bin', 'git'), '')
})
afterEach(() => rm(directory, { recursive: true }))

test('without git, Go or a C compiler it says which, and what to do', async () => {
  const why = async (): Promise<string> => {
    const found = await findGitea({ environment, module, report: silent })
    return found.state === 'unavailable' ? found.why : assert.fail('found')
  }
  assert.match(await why(), /^cannot run Gitea here: there is no build at .*, and there is no go on the PATH\. Install Go\.$/)
  await writeGo('exit 1')
  assert.match(await why(), /there is no gcc on the PATH, .* Install gcc and/)
  await rm(join(directory, 'bin', 'git'))
  assert.match(await why(), /^cannot run Gitea here: there is no git on the PATH/)
})

test('a cached build is used without Go', async () => {
  const { binary } = await giteaBuild(module, environment)
  await writeScript(binary, '')
  const found = await findGitea({ environment, module })
  assert.ok(found.state === 'ready')
  assert.equal(found.source, 'cached build')
  assert.equal(found.binary, binary)
})

test('a new build has the static files beside it, and they can be removed although the module cache is write-protected', async () => {
  const source = join(directory, 'source')
  for (const folder of ['templates/repo', 'options', 'public']) await mkdir(join(source, folder), { recursive: true })
  await writeFile(join(source, 'templates', 'repo', 'home.tmpl'), 'a page', { mode: 0o444 })
  await chmod(join(source, 'templates', 'repo'), 0o555)
  await writeScript(join(directory, 'bin', 'gcc'), '')
  await writeGo(`if [ "$1" = mod ]; then echo '{"Dir":"${source}"}'; else write_output; fi`)
  const found = await findGitea({ environment, module, report: silent })
  await chmod(join(source, 'templates', 'repo'), 0o755)
  assert.ok(found.state === 'ready')
  assert.equal(found.source, 'new build')
  assert.equal(await readFile(join(found.staticRoot, 'templates', 'repo', 'home.tmpl'), 'utf8'), 'a page')
  assert.equal((await stat(join(found.staticRoot, 'templates', 'repo'))).mode & 0o200, 0o200)
})

test('a failing build gives the compiler words as reason', async () => {
  await writeScript(join(directory, 'bin', 'gcc'), '')
  await writeGo('echo "go.mod requires go >= 1.26.2" >&2; exit 1')
  const found = await findGitea({ environment, module, report: silent })
  assert.ok(found.state === 'unavailable')
  assert.match(found.why, /go build ended with code 1: go\.mod requires go >= 1\.26\.2/)
})

test('the version in go.mod is linked in', async () => {
  const { goArguments } = await giteaBuild(module, environment)
  assert.match(goArguments[goArguments.indexOf('-ldflags') + 1] ?? '', /-X main\.version=1\.26\.0$/)
})

/** `body` may call `write_output`. */
async function writeGo(body: string): Promise<void> {
  const writeOutput = 'write_output() { while [ "$1" != -o ]; do shift; done; echo binary > "$2"; /bin/chmod +x "$2"; }'
  await writeScript(join(directory, 'bin', 'go'), `${writeOutput}\n${body.replace('write_output', 'write_output "$@"')}`)
}

async function writeScript(path: string, body: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\n${body}\n`)
  await chmod(path, 0o755)
}
