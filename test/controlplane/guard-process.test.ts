import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { waitUntil } from '../waiting/wait-until.ts'
import { controlPlaneStartSuite } from './control-plane-suite.ts'

// Every process of a control plane has its directory on its command line, and that directory is below TMPDIR; so with
// a TMPDIR of its own, `ps` shows exactly the processes that a starter has to answer for.
const starter = `import { startControlPlane } from ${JSON.stringify(new URL('start-control-plane.ts', import.meta.url).href)}
  const plane = await startControlPlane({ controllerManager: true })
  if (plane.state === 'unavailable') throw new Error(plane.why)
  console.log('ready')
`

await controlPlaneStartSuite('the processes and files of a control plane', (found) => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'guard-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  test('disappear when the starter of a ready one is killed with SIGKILL', async () => {
    const child = startIn(directory, `${starter}; setInterval(() => {}, 1_000)`)
    await untilPrinted(child, 'ready')
    assert.equal(
      processesOf(directory).length,
      4,
      'a guard, etcd, kube-apiserver, kube-controller-manager',
    )
    child.kill('SIGKILL')
    await untilNothingIsLeft(directory)
  })

  test('disappear when a starter is killed with SIGKILL during the start', async () => {
    const child = startIn(directory, starter)
    await waitUntil('the servers are starting', () => processesOf(directory).length >= 3)
    child.kill('SIGKILL')
    await untilNothingIsLeft(directory)
  })

  test('disappear when a starter exits without stopping it', async () => {
    const child = startIn(directory, starter)
    await untilPrinted(child, 'ready')
    const code = child.exitCode ?? (await new Promise((resolve) => child.on('exit', resolve)))
    assert.equal(code, 0)
    await untilNothingIsLeft(directory)
  })

  const ownBuild = found.source !== 'KUBEBUILDER_ASSETS' // standard servers do not watch their standard input
  test('end with the guard process, since nothing could clean up later', {
    skip: !ownBuild,
  }, async () => {
    const child = startIn(directory, `${starter}; setInterval(() => {}, 1_000)`)
    await untilPrinted(child, 'ready')
    const guard = processesOf(directory).find((line) => line.includes('guard-process.ts'))
    process.kill(Number.parseInt(guard ?? '', 10), 'SIGKILL')
    await waitUntil('no process is left', () => processesOf(directory).length === 0)
    child.kill('SIGKILL')
  })
})

function startIn(directory: string, code: string): ChildProcess {
  const env = { ...process.env, TMPDIR: directory }
  return spawn(process.execPath, ['--input-type=module', '--no-warnings', '--eval', code], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

function untilPrinted(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk) => String(chunk).includes(word) && resolve())
    child.on('exit', () => reject(new Error(`the starter ended without saying ${word}`)))
  })
}

/** Lines of process id and command. */
function processesOf(directory: string): string[] {
  const lines = execFileSync('ps', ['-A', '-w', '-w', '-o', 'pid=,args='], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  })
  return lines.split('\n').filter((line) => line.includes(`${directory}/`))
}

async function untilNothingIsLeft(directory: string): Promise<void> {
  const left = async (): Promise<readonly string[]> => [
    ...processesOf(directory),
    ...(await readdir(directory)),
  ]
  await waitUntil('nothing is left', async () => (await left()).length === 0, {
    describe: async () => (await left()).join('\n'),
  })
}
