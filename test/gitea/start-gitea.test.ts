import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { freePort } from '../controlplane/free-port.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import type { Gitea } from './gitea.ts'
import { giteaStartSuite } from './gitea-suite.ts'
import { type StartOptions, startGitea } from './start-gitea.ts'

const starter = `import { startGitea } from ${JSON.stringify(new URL('start-gitea.ts', import.meta.url).href)}
  const gitea = await startGitea()
  if (gitea.state === 'unavailable') throw new Error(gitea.why)
  console.log('ready ' + gitea.server.pid)
`

await giteaStartSuite('startGitea', () => {
  test('starts a server that listens on 127.0.0.1 only, and stop leaves no process and no file', async () => {
    const gitea = await start({})
    assert.match(gitea.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    const { status, body } = await gitea.request<{ version: string }>(undefined, 'GET', '/version')
    assert.deepEqual([status, body.version], [200, '1.26.0'])
    assert.equal(
      (await gitea.request<{ is_admin: boolean }>(gitea.admin.token, 'GET', '/user')).body.is_admin,
      true,
    )
    // A server that listens on every address of the machine also answers here.
    assert.deepEqual(
      [await accepts('127.0.0.1', gitea.url), await accepts('127.0.0.2', gitea.url)],
      [true, false],
    )

    await gitea.stop()
    assert.equal(isRunning(gitea.server.pid), false)
    await assert.rejects(access(dirname(gitea.stateFile)), { code: 'ENOENT' })
    await gitea.stop()
  })

  test('two servers started at once are separate', async () => {
    const [one, other] = await Promise.all([start({}), start({})])
    try {
      assert.notEqual(one.url, other.url)
      await one.createUser('ann')
      assert.equal((await other.request(other.admin.token, 'GET', '/users/ann')).status, 404)
      assert.equal((await other.request(one.admin.token, 'GET', '/user')).status, 401)
    } finally {
      await Promise.all([one.stop(), other.stop()])
    }
  })

  test('a Gitea that is not ready in time is an error with its log', async () => {
    await assert.rejects(
      start({ readyWithinMs: 1 }),
      /Gitea did not start: this never came: Gitea answers[\s\S]*--- gitea/,
    )
  })

  test('tries another port when its port is taken', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const address = taken.address()
    assert.ok(typeof address === 'object' && address !== null)
    const ports = [address.port, await freePort()]
    const choosePort = async () => ports.shift() ?? assert.fail('more than two attempts')
    try {
      const gitea = await start({ choosePort })
      assert.equal((await gitea.request(undefined, 'GET', '/version')).status, 200)
      await gitea.stop()
      assert.deepEqual(ports, [])
    } finally {
      taken.close()
    }
  })

  test('leaves nothing behind when the starter of a ready server is killed with SIGKILL', async () => {
    await inFolder(async (folder) => {
      const child = startIn(folder, `${starter}; setInterval(() => {}, 1_000)`)
      const pid = await untilReady(child)
      assert.equal(isRunning(pid), true)
      child.kill('SIGKILL')
      await untilNothingIsLeft(folder)
      assert.equal(isRunning(pid), false)
    })
  })

  test('leaves nothing behind when a starter is killed with SIGKILL during the start', async () => {
    await inFolder(async (folder) => {
      const child = startIn(folder, starter)
      await waitUntil('the server is starting', () => processesOf(folder).length >= 2)
      child.kill('SIGKILL')
      await untilNothingIsLeft(folder)
    })
  })

  test('leaves nothing behind when a starter exits without stopping it', async () => {
    await inFolder(async (folder) => {
      const child = startIn(folder, starter)
      await untilReady(child)
      assert.equal(child.exitCode ?? (await new Promise((resolve) => child.on('exit', resolve))), 0)
      await untilNothingIsLeft(folder)
    })
  })

  test('ends the server with the guard process, since nothing could clean up later', async () => {
    await inFolder(async (folder) => {
      const child = startIn(folder, `${starter}; setInterval(() => {}, 1_000)`)
      const pid = await untilReady(child)
      try {
        const guard = processesOf(folder).find((line) => line.includes('guard-process.ts'))
        process.kill(Number.parseInt(guard ?? '', 10), 'SIGKILL')
        await waitUntil('the server is gone', () => !isRunning(pid))
      } finally {
        child.kill('SIGKILL')
      }
    })
  })

  test("ignores a developer's proxy and git settings", async () => {
    await inFolder(async (folder) => {
      // Every commit that is made with this configuration would fail: there is no such program to sign with.
      await writeFile(
        join(folder, '.gitconfig'),
        '[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = /nowhere/gpg\n',
      )
      const code = `${starter}
        const ann = await gitea.createUser('ann')
        const { head } = await gitea.createRepository(ann, 'shop', { files: { a: 'b' } })
        console.log('made ' + head)
        await gitea.stop()`
      const output = execFileSync(
        process.execPath,
        ['--input-type=module', '--no-warnings', '--eval', code],
        {
          env: {
            ...process.env,
            HOME: folder,
            XDG_CACHE_HOME: cacheHome(),
            https_proxy: 'http://127.0.0.1:9',
            http_proxy: 'http://127.0.0.1:9',
          },
          encoding: 'utf8',
        },
      )
      assert.match(output, /made [0-9a-f]{40}/)
    })
  })
})

async function start(options: StartOptions): Promise<Gitea> {
  const gitea = await startGitea(options)
  assert.ok(gitea.state === 'ready')
  return gitea
}

/** Whether the port of `url` accepts connections to `host`. */
function accepts(host: string, url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(new URL(url).port) })
    const end = (answer: boolean) => () => {
      socket.destroy()
      resolve(answer)
    }
    socket.on('connect', end(true)).on('error', end(false))
  })
}

/** A temporary folder that is the starter's whole TMPDIR, so that its processes and files can be told from all others. */
async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gitea-'))
  try {
    await body(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function cacheHome(): string {
  return process.env['XDG_CACHE_HOME'] ?? join(process.env['HOME'] ?? '', '.cache')
}

function startIn(folder: string, code: string): ChildProcess {
  return spawn(process.execPath, ['--input-type=module', '--no-warnings', '--eval', code], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** The server's process id. */
function untilReady(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      const [, pid] = /ready (\d+)/.exec(String(chunk)) ?? []
      if (pid !== undefined) resolve(Number(pid))
    })
    child.on('exit', () => reject(new Error('the starter ended without being ready')))
  })
}

/** Lines of process id and command. */
function processesOf(folder: string): string[] {
  const lines = execFileSync('ps', ['-A', '-w', '-w', '-o', 'pid=,args='], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  })
  return lines.split('\n').filter((line) => line.includes(`${folder}/`))
}

async function untilNothingIsLeft(folder: string): Promise<void> {
  const left = async (): Promise<readonly string[]> => [
    ...processesOf(folder),
    ...(await readdir(folder)),
  ]
  await waitUntil('nothing is left', async () => (await left()).length === 0, {
    describe: async () => (await left()).join('\n'),
  })
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
