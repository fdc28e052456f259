/** Ctrl-C and SIGTERM while a command reads git, renders or writes: it is told as interrupted, and not as a failure of what it was at. */
import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { findProgram } from '@backporch/system/find-program'
import { git, makePackages, writeRecording } from '../action/stage.ts'
import { gitTestEnvironment } from '../contract/git-remotes.ts'
import { assertInterrupted, type EndedCommand, startCommand } from './start-command.ts'

const folder = mkdtempSync(join(tmpdir(), 'backporch-interrupted-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const environment = {
  ...gitTestEnvironment(folder),
  XDG_CACHE_HOME: join(folder, 'cache'),
  BACKPORCH_KEY: 'k'.repeat(32),
}
const GIT = findProgram('git', process.env['PATH'] ?? '') ?? 'git'
let created = 0

/** Of a shell, about the program that started it. */
const INTERRUPTS = { SIGTERM: 'kill -s TERM "$PPID"', SIGINT: 'kill -s INT -- "-$PPID"' } as const

type Signal = keyof typeof INTERRUPTS

interface Programs {
  /** A folder for the PATH. */
  readonly path: string
  /** How often git was started. */
  readonly calls: () => number
  readonly isSent: () => boolean
}

/** A `git` that sends the signal when it is started for the nth time. */
function interruptingGit(nth: number, signal: Signal): Programs {
  created += 1
  const path = join(folder, `programs-${created}`)
  const [calls, sent] = [join(path, 'calls'), join(path, 'sent')]
  mkdirSync(path)
  writeFileSync(calls, '')
  const send = `[ "$(wc -l < ${calls})" -lt ${nth} ] || { mkdir ${sent} 2> /dev/null && ${INTERRUPTS[signal]}; }`
  // The fifth field is the process group: the leader of this one is the program, which Ctrl-C reaches.
  const apart =
    '[ "$(cut -d " " -f 5 "/proc/$$/stat")" != "$PPID" ] || { echo "git is in the process group of the terminal" >&2; exit 1; }'
  writeFileSync(
    join(path, 'git'),
    `#!/bin/sh\n${apart}\necho >> ${calls}\n${send}\nexec ${GIT} "$@"\n`,
    { mode: 0o755 },
  )
  return { path, calls: () => readFileSync(calls, 'utf8').length, isSent: () => existsSync(sent) }
}

function run(argv: readonly string[], path = ''): Promise<EndedCommand> {
  return startCommand(argv, {
    cwd: folder,
    env: { ...environment, PATH: `${path}:${process.env['PATH']}` },
  }).ended
}

suite('a command that is interrupted', () => {
  const unscanned = join(folder, 'packages.git')
  const scanned = join(folder, 'scanned.git')
  const branchesOf = (repo: string): string[] =>
    git(repo, environment, 'for-each-ref', '--format=%(refname)').split('\n')
  const copy = (from: string, to: string): void => {
    rmSync(to, { recursive: true, force: true })
    cpSync(from, to, { recursive: true })
  }
  before(async () => {
    makePackages(unscanned, environment)
    writeRecording(join(folder, 'live'))
    copy(unscanned, scanned)
    assert.equal((await run(['scan', '--live', 'live', '--repo', scanned])).code, 1)
  })

  for (const { command, args, from, every } of [
    { command: 'diff', args: ['--live', 'live'], from: unscanned, every: 3 },
    { command: 'scan', args: ['--live', 'live'], from: unscanned, every: 3 },
    { command: 'render', args: [], from: unscanned, every: 6 },
    { command: 'status', args: [], from: scanned, every: 5 },
    { command: 'approve', args: ['apps/web', '--yes', '--live', 'live'], from: scanned, every: 5 },
  ]) {
    test(`${command}: interrupted at a start of git, which survives Ctrl-C`, async () => {
      const repo = join(folder, 'used.git')
      const argv = [command, ...args, '--repo', repo]
      copy(from, repo)
      const whole = interruptingGit(Number.MAX_SAFE_INTEGER, 'SIGTERM')
      await run(argv, whole.path)
      assert.ok(whole.calls() >= every, `git was started ${whole.calls()} times`)
      const [before, after] = [branchesOf(from), branchesOf(repo)]
      for (let nth = 2; nth <= whole.calls(); nth += every) {
        copy(from, repo)
        const signal = nth % 2 === 0 ? 'SIGINT' : 'SIGTERM'
        const programs = interruptingGit(nth, signal)
        assertInterrupted(await run(argv, programs.path), signal, `${command}, start ${nth} of git`)
        assert.ok(programs.isSent())
        git(repo, environment, 'fsck', '--strict')
        const left = branchesOf(repo)
        assert.ok(
          [before, after].some((each) => isDeepStrictEqual(left, each)),
          `all or nothing is written: ${left.join(' ')}`,
        )
      }
    })
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`${signal} while a function runs in a render worker`, async () => {
      const [repo, program] = [
        join(folder, `function-${signal}.git`),
        join(folder, `interrupt-${signal}`),
      ]
      writeFileSync(program, `#!/bin/sh\n${INTERRUPTS[signal]}\nexec sleep 60\n`, { mode: 0o755 })
      const Kptfile = `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: x}\npipeline: {mutators: [{exec: ${program}}]}\n`
      makePackages(repo, environment, { 'apps/x/Kptfile': Kptfile })
      for (const argv of [
        ['diff', 'apps/x', '--live', 'live'],
        ['scan', '--live', 'live'],
        ['render'],
      ])
        assertInterrupted(
          await run([...argv, '--repo', repo, '--allow-exec', program]),
          signal,
          argv.join(' '),
        )
      assert.deepEqual(branchesOf(repo), branchesOf(unscanned))
    })
  }
})
