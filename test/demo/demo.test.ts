import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { boundCommand } from '../processes/bound-command.ts'
import { CANARY } from './hand-edits.ts'

const LAUNCHER = fileURLToPath(new URL('../../src/launch.cjs', import.meta.url))
const RECORDINGS = new URL('../../src/cli/demo/recordings.json', import.meta.url)

interface Machine {
  readonly folder: string
  readonly home: string
  readonly env: NodeJS.ProcessEnv
}

interface DemoRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A new machine: an empty home, and on the PATH nothing but node and the named programs. */
function newMachine(t: TestContext, programs: readonly string[]): Machine {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'demo-machine-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [bin, home, temporary] = ['bin', 'home', 'tmp'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [bin, home, temporary]) mkdirSync(path)
  symlinkSync(process.execPath, join(bin, 'node'))
  for (const program of programs) symlinkSync(whereIs(program), join(bin, program))
  return { folder, home, env: { PATH: bin, HOME: home, TMPDIR: temporary } }
}

function whereIs(program: string): string {
  const found = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((path) => {
      try {
        return realpathSync(path) !== ''
      } catch {
        return false
      }
    })
  assert.ok(found !== undefined, `${program} is not on the PATH`)
  return found
}

async function runDemo({ env, folder }: Machine, ...args: readonly string[]): Promise<DemoRun> {
  const child = spawn(...boundCommand(process.execPath, [LAUNCHER, 'demo', ...args]), {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [code, stdout, stderr] = await Promise.all([
    exitOf(child),
    text(child.stdout),
    text(child.stderr),
  ])
  return { code, stdout, stderr }
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? -1))
  })
}

function git(repository: string, ...args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd: repository,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
}

function assertNoCanary(content: string, where: string): void {
  assert.ok(content.length > 0, `${where} is empty`)
  for (const form of [CANARY, Buffer.from(CANARY).toString('base64')])
    assert.ok(!content.includes(form), `the Secret's value is in ${where}`)
}

test('the demo needs only node and git, and creates the same commits each time, with colours and without', async (t) => {
  const machine = newMachine(t, ['git'])
  const folders = ['first', 'second'].map((name) => join(machine.folder, name))
  const runs: DemoRun[] = []
  for (const [index, folder] of folders.entries()) {
    const env = index === 0 ? machine.env : { ...machine.env, CLICOLOR_FORCE: '1' }
    runs.push(await runDemo({ ...machine, env }, '--folder', folder))
  }
  assert.ok(runs[1]?.stdout.includes('\u001b['), 'no colours')
  for (const { code, stdout, stderr } of runs) assert.deepEqual([code, stderr], [0, ''], stdout)
  const reported = runs.map(({ stdout }, index) =>
    stripVTControlCharacters(stdout).replaceAll(folders[index] ?? '', 'FOLDER'),
  )
  assert.equal(reported[0], reported[1])
  assert.match(
    reported[0] ?? '',
    /8 changes in 5 objects[\s\S]*\+ {6}cpu: "200m"[\s\S]*✓ apps\/orders v2 is published[\s\S]*✓ apps\/web v2 is published[\s\S]*InSync[\s\S]*InSync/,
  )

  const refs = folders.map((folder) =>
    git(join(folder, 'fleet'), 'for-each-ref', '--format=%(refname) %(objectname)'),
  )
  assert.equal(refs[0], refs[1])
  assert.deepEqual(
    refs[0]
      ?.trim()
      .split('\n')
      .map((line) => line.replace(/ .*/, '')),
    [
      'refs/heads/drift-ledger',
      'refs/heads/main',
      'refs/tags/apps/orders/v1',
      'refs/tags/apps/orders/v2',
      'refs/tags/apps/web/v1',
      'refs/tags/apps/web/v2',
    ],
  )
  assert.deepEqual(readdirSync(machine.home), [], 'something was written into the home of the user')

  const repository = join(folders[0] ?? '', 'fleet')
  assertNoCanary(reported[0] ?? '', 'the output')
  assertNoCanary(
    git(repository, 'cat-file', '--batch-all-objects', '--batch', '--unordered'),
    'the repository',
  )
  assertNoCanary(readFileSync(RECORDINGS, 'utf8'), 'the recording')
  assert.equal(
    git(repository, 'status', '--porcelain'),
    '',
    'the work tree did not follow the merge',
  )
})

test('the demo reports that git is missing', async (t) => {
  const machine = newMachine(t, [])
  const { code, stderr } = await runDemo(machine)
  assert.equal(code, 2)
  assert.deepEqual(readdirSync(machine.env['TMPDIR'] ?? ''), [], 'half a demo stays behind')
  assert.match(stderr, /^error BP4009: git is not installed\n/)
})

test('the demo overwrites nothing', async (t) => {
  const machine = newMachine(t, ['git'])
  writeFileSync(join(machine.home, 'mine.txt'), 'mine')
  const { code, stdout, stderr } = await runDemo(machine, '--folder', 'home')
  assert.deepEqual([code, stdout, readdirSync(machine.home)], [2, '', ['mine.txt']])
  assert.match(stderr, /^error BP1001: the demo needs an empty folder\n {2}where: /)
})

test('a demo that deviates from its story ends with an error', async (t) => {
  const machine = newMachine(t, ['git'])
  // Something in front of git that answers as git does, but for the list of tags.
  const real = realpathSync(join(machine.env['PATH'] ?? '', 'git'))
  rmSync(join(machine.env['PATH'] ?? '', 'git'))
  writeFileSync(
    join(machine.env['PATH'] ?? '', 'git'),
    `#!${process.execPath}\nconst { spawnSync } = require('node:child_process')\nconst args = process.argv.slice(2)\nif (args[0] !== 'tag' || !args.includes('--list')) process.exitCode = spawnSync('${real}', args, { stdio: 'inherit' }).status\n`,
    { mode: 0o755 },
  )
  const { code, stderr } = await runDemo(machine)
  assert.equal(code, 2)
  assert.match(stderr, /the merge has the tag apps\/orders\/v2, and it is not true/)
})
