/** The completion scripts in their shells: bash always, zsh and fish where they are installed. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { PROGRAM } from '../../../test/program.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'backporch-completion-')))
after(() => rmSync(folder, { recursive: true }))

const bin = join(folder, 'bin')
const repository = join(folder, 'a folder', 'repository')
const env = {
  PATH: `${bin}:${process.env['PATH']}`,
  HOME: folder,
  NODE_COMPILE_CACHE: join(tmpdir(), 'backporch-test-compile-cache'),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
}

mkdirSync(bin)
writeFileSync(join(bin, 'backporch'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`, {
  mode: 0o755,
})
for (const name of ['apps/web', 'apps/db', '$(touch pwned)']) {
  mkdirSync(join(repository, name), { recursive: true })
  writeFileSync(
    join(repository, name, 'Kptfile'),
    'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: web}\n',
  )
}
const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: repository, env, encoding: 'utf8' })
git('init', '-q', '-b', 'main')
git('add', '.')
git('commit', '-qm', 'packages')
git('checkout', '-q', '--orphan', 'drift-ledger')
git('rm', '-qrf', '.')
for (const name of ['prod-eu-1', 'edge-07']) {
  mkdirSync(join(repository, 'clusters', name), { recursive: true })
  writeFileSync(
    join(repository, 'clusters', name, 'observation.yaml'),
    `apiVersion: backporch.dev/v1alpha1\nkind: ClusterObservation\nmetadata:\n  name: ${name}\nstatus: {}\n`,
  )
}
git('add', '.')
git('commit', '-qm', 'ledger')
git('checkout', '-q', 'main')

const DRIVER = `
source <(backporch completion bash) || exit 1
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_backporch backporch "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
for each in "\${COMPREPLY[@]}"; do printf '%s\\n' "$each"; done
`

/** COMPREPLY for a line whose last word is being written. */
function bash(...words: string[]): string[] {
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['--norc', '-c', DRIVER, 'bash', 'backporch', ...words],
    {
      cwd: repository,
      env,
      encoding: 'utf8',
    },
  )
  assert.equal(status, 0, stderr)
  assert.equal(stderr, '')
  return stdout.split('\n').filter((line) => line !== '')
}

test('bash: completes commands, flags after an argument, and values', () => {
  assert.deepEqual(bash('sc'), ['scan'])
  assert.deepEqual(bash('diff', 'apps/web', '--ver'), ['--verbose'])
  assert.deepEqual(bash('status', '--color', 'a'), ['auto', 'always'])
  assert.deepEqual(bash('status', '--risk', '=', 'critical,l'), ['critical,low'])
})

test('bash: completes packages of the clone and clusters of its ledger', () => {
  assert.deepEqual(bash('diff', 'apps/'), ['apps/db', 'apps/web'])
  assert.deepEqual(bash('diff', 'apps/db', ''), ['apps/web'])
  assert.deepEqual(bash('status', '--cluster', ''), ['edge-07', 'prod-eu-1'])
})

test('bash: a name from the repository is never run or offered if it is unsafe', () => {
  assert.deepEqual(bash('diff', ''), ['apps/db', 'apps/web'])
  assert.deepEqual(bash('diff', '$(touch pwned)'), [])
  assert.equal(git('status', '--porcelain'), '')
})

test('bash: completes paths for path flags, even with a space', () => {
  assert.deepEqual(bash('diff', '--repo', 'ap'), ['apps'])
  assert.deepEqual(bash('diff', '--repo', '../../a'), ['../../a folder'])
})

test('bash: outside a repository there are no names and no error', () => {
  assert.deepEqual(bash('diff', '--repo', '..', ''), [])
  assert.deepEqual(bash('diff', '--repo', './nowhere', ''), [])
})

test('bash: completion works when the program is called by its path', () => {
  const words = [join(bin, 'backporch'), 'ver']
  const driver = DRIVER.replace('COMP_WORDS=("$@")', 'COMP_WORDS=("$@"); PATH=/usr/bin:/bin')
  const { stdout } = spawnSync('bash', ['--norc', '-c', driver, 'bash', ...words], {
    cwd: repository,
    env,
    encoding: 'utf8',
  })
  assert.equal(stdout, 'version\n')
})

const installed = (['zsh', 'fish'] as const).filter(
  (shell) => spawnSync(shell, ['--version']).error === undefined,
)

for (const shell of installed) {
  test(`${shell}: the script passes the shell's syntax check`, () => {
    const script = execFileSync('backporch', ['completion', shell], { env, encoding: 'utf8' })
    writeFileSync(join(folder, shell), script)
    const { status, stderr } = spawnSync(shell, ['-n', join(folder, shell)], {
      env,
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
  })
}

if (installed.includes('fish')) {
  test('fish: completes packages of the clone', () => {
    const line = "backporch completion fish | source; complete -C 'backporch diff apps/'"
    const { stdout } = spawnSync('fish', ['-c', line], { cwd: repository, env, encoding: 'utf8' })
    assert.deepEqual(stdout.trim().split('\n'), ['apps/db', 'apps/web'])
  })
}
