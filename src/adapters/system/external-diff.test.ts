import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runExternalDiff } from './external-diff.ts'

const files = [{ name: 'a.yaml', git: 'x: 1\n', live: 'x: 2\n' }]

function run(script: string, environment: { readonly [name: string]: string } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-test-'))
  try {
    const program = join(folder, 'program')
    writeFileSync(program, `#!/bin/sh\n${script}\n`)
    chmodSync(program, 0o755)
    return runExternalDiff({
      program: [program, '-U1'],
      files,
      workingDirectory: folder,
      environment: { PATH: process.env['PATH'] ?? '', ...environment },
      inherit: false,
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('the program gets its arguments and then the folders git and live', () => {
  assert.match(
    run('echo "$1"; cd "$2/.." && diff -u git/a.yaml live/a.yaml'),
    /^-U1\n--- git\/a\.yaml.*\n\+\+\+ live\/a\.yaml.*\n@@ -1 \+1 @@\n-x: 1\n\+x: 2\n$/,
  )
})

test('the files are private to the user and are removed even when the program fails or is killed', () => {
  for (const end of ['exit 0', 'exit 7', 'kill -9 $$']) {
    const [modes = '', path = ''] = run(
      `stat -c '%a' "$2" "$2/a.yaml" "$2/.." | tr '\\n' ' '; echo; echo "$2"; ${end}`,
    ).split('\n')
    assert.equal(modes, '700 600 700 ')
    assert.match(path, /git$/)
    assert.ok(!existsSync(path) && !existsSync(join(path, '..')), end)
  }
})

test('the exit code of the program is ignored', () =>
  assert.equal(run('echo seen; exit 3'), 'seen\n'))

test('the program does not get the credentials of backporch', () => {
  assert.equal(
    run('env | grep -c SEKRIT || true', {
      BACKPORCH_KEY: 'SEKRIT',
      BACKPORCH_TOKEN: 'SEKRIT',
      GITHUB_TOKEN: 'SEKRIT',
      GITEA_TOKEN: 'SEKRIT',
    }),
    '0\n',
  )
})

test('reports a missing program and leaves no files', () => {
  assert.throws(
    () =>
      runExternalDiff({
        program: ['backporch-no-such-program'],
        files,
        workingDirectory: tmpdir(),
        environment: process.env,
        inherit: false,
      }),
    { code: 'BP1001', why: 'it is not on the PATH' },
  )
})
