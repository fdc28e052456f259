import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { controlPlaneBuild } from './build-control-plane.ts'
import { findControlPlane } from './find-control-plane.ts'

// No real build here: it takes minutes. `go` is a script that writes what `-o` names and counts how often it ran.
const GO_MOD = 'module example.invalid/x\n\nrequire (\n\tk8s.io/kubernetes v1.34.3\n)\n'
const silent = () => {}
let directory: string
let module: string
let environment: Record<string, string>

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'backporch-find-'))
  module = join(directory, 'module')
  await mkdir(module)
  await writeFile(join(module, 'go.mod'), GO_MOD)
  // /bin and /usr/bin for the scripts' own commands would bring a real go with them on some machines.
  environment = { XDG_CACHE_HOME: join(directory, 'cache'), PATH: join(directory, 'bin') }
})
afterEach(() => rm(directory, { recursive: true }))

test('without Go, a build or KUBEBUILDER_ASSETS it says so and what to do', async () => {
  const found = await findControlPlane({ environment, module })
  assert.ok(found.state === 'unavailable')
  assert.match(found.why, /^cannot run a control plane here: KUBEBUILDER_ASSETS is not set, .* no go on the PATH\. Install Go/)
})

test('KUBEBUILDER_ASSETS wins, also without kube-controller-manager', async () => {
  const assets = join(directory, 'assets')
  await writeScript(join(assets, 'etcd'), '')
  await writeScript(join(assets, 'kube-apiserver'), '')
  await cacheBuild()
  const found = await findControlPlane({ environment: { ...environment, KUBEBUILDER_ASSETS: assets }, module })
  assert.ok(found.state === 'ready')
  assert.equal(found.source, 'KUBEBUILDER_ASSETS')
  assert.deepEqual([...found.commands.keys()], ['etcd', 'kube-apiserver'])
  assert.deepEqual(found.commands.get('etcd'), [join(assets, 'etcd')])
})

test('KUBEBUILDER_ASSETS without a needed server is reported, not passed over', async () => {
  const assets = join(directory, 'assets')
  await writeScript(join(assets, 'etcd'), '')
  await cacheBuild()
  const found = await findControlPlane({ environment: { ...environment, KUBEBUILDER_ASSETS: assets }, module })
  assert.ok(found.state === 'unavailable')
  assert.match(found.why, /no executable kube-apiserver/)
})

test('a cached build is used without Go', async () => {
  const binary = await cacheBuild()
  const found = await findControlPlane({ environment, module })
  assert.ok(found.state === 'ready')
  assert.equal(found.source, 'cached build')
  assert.deepEqual(found.commands.get('kube-apiserver'), [binary, 'kube-apiserver'])
})

test('a build of other sources is not used', async () => {
  await cacheBuild()
  await writeFile(join(module, 'main.go'), 'package main')
  assert.equal((await findControlPlane({ environment, module })).state, 'unavailable')
})

test('the version in go.mod is linked in', async () => {
  const { goArguments } = await controlPlaneBuild(module, environment)
  const ldflags = goArguments[goArguments.indexOf('-ldflags') + 1]
  assert.match(ldflags ?? '', /-X k8s\.io\/component-base\/version\.gitVersion=v1\.34\.3 /)
  assert.match(ldflags ?? '', /\.gitMajor=1 .*\.gitMinor=34 /)
})

test('a failing build gives the compiler words as reason', async () => {
  await writeGo('echo "main.go:1: no such thing" >&2; exit 1')
  const found = await findControlPlane({ environment, module, report: silent })
  assert.ok(found.state === 'unavailable')
  assert.match(found.why, /go build ended with code 1: main\.go:1: no such thing/)
})

test('several processes that need a build at once make one', async () => {
  await writeGo('/bin/sleep 1; write_output')
  const ends = await Promise.all([startFinding(), startFinding(), startFinding()].map((child) => once(child, 'exit')))
  assert.deepEqual(
    ends.map(([code]) => code),
    [0, 0, 0],
  )
  assert.equal(await runsOfGo(), 1)
})

test('a killed build leaves neither a process nor a lock behind', async () => {
  await writeGo(`echo $$ > ${join(directory, 'go-pid')}; /bin/sleep 60`)
  const child = startFinding()
  const pid = Number(await untilWritten(join(directory, 'go-pid')))
  child.kill('SIGKILL')
  await untilGone(pid)

  await writeGo('write_output')
  const found = await findControlPlane({ environment, module, report: silent })
  assert.ok(found.state === 'ready')
  assert.equal(found.source, 'new build')
})

async function cacheBuild(): Promise<string> {
  const { binary } = await controlPlaneBuild(module, environment)
  await writeScript(binary, '')
  return binary
}

/** `body` may call `write_output`. */
async function writeGo(body: string): Promise<void> {
  const count = `echo run >> ${join(directory, 'runs')}`
  const writeOutput = 'write_output() { while [ "$1" != -o ]; do shift; done; echo binary > "$2"; /bin/chmod +x "$2"; }'
  await writeScript(join(directory, 'bin', 'go'), `${count}\n${writeOutput}\n${body.replace('write_output', 'write_output "$@"')}`)
}

async function writeScript(path: string, body: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\n${body}\n`)
  await chmod(path, 0o755)
}

async function runsOfGo(): Promise<number> {
  return (await readFile(join(directory, 'runs'), 'utf8')).trim().split('\n').length
}

function startFinding() {
  const code = `import { findControlPlane } from ${JSON.stringify(new URL('find-control-plane.ts', import.meta.url).href)}
    const found = await findControlPlane({ module: ${JSON.stringify(module)}, report: () => {} })
    process.exit(found.state === 'ready' ? 0 : 1)`
  return spawn(process.execPath, ['--input-type=module', '--no-warnings', '--eval', code], { env: environment, stdio: 'inherit' })
}

async function untilWritten(path: string): Promise<string> {
  for (let i = 0; i < 200; i += 1) {
    const text = await readFile(path, 'utf8').catch(() => '')
    if (text.endsWith('\n')) return text
    await sleep(50)
  }
  return assert.fail(`${path} was not written`)
}

async function untilGone(pid: number): Promise<void> {
  for (let i = 0; i < 200; i += 1) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await sleep(50)
  }
  assert.fail(`process ${pid} still runs`)
}
