import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setVariable } from '../../../test/fakes/set-variable.ts'
import type { Build } from '../../sources/programs/package-builder.ts'
import { Unanswered } from '../../sources/programs/questions.ts'
import { FUNCTION_LIMITS } from './function-limits.ts'
import { PackageBuilds } from './package-builds.ts'

const signal = new AbortController().signal
const environment = { PATH: process.env['PATH'], SECRET: 'hunter2' }

function commandBuild(
  command: readonly string[],
  files: { readonly [path: string]: string } = {},
): Build {
  const all = Object.entries(files).map(([path, text]) => ({
    path,
    mode: '100644' as const,
    content: new TextEncoder().encode(text),
  }))
  return { tool: 'command', folder: 'apps/web', command, files: all }
}

test('a command runs in its package with only PATH in its environment, and leaves no files behind', async () => {
  const text = 'cat web.yaml; ls -A . ../..; echo "$SECRET"'
  const builds = new PackageBuilds({ allowed: [`sh -c '${text}'`], environment })
  const build = commandBuild(['sh', '-c', text], { 'apps/web/web.yaml': 'kind: Web\n' })
  // Of its own: other tests have builds of theirs in the common one.
  const own = mkdtempSync(join(tmpdir(), 'backporch-test-'))
  const restore = setVariable('TMPDIR', own)
  try {
    assert.deepEqual(await builds.build(build, signal), {
      text: 'kind: Web\n.:\nweb.yaml\n\n../..:\napps\n\n',
    })
    assert.deepEqual(readdirSync(own), [])
  } finally {
    restore()
    rmSync(own, { recursive: true })
  }
})

test('only the exact words that the operator allows are run', async () => {
  const builds = new PackageBuilds({
    allowed: ['cat', 'sh -c true', '/bin/echo a', 'bin/tool'],
    environment,
  })
  const codeOf = async (...command: readonly string[]) => {
    const answer = await builds.build(
      commandBuild(command, { 'apps/web/bin/tool': '#!/bin/sh\n' }),
      signal,
    )
    return 'failure' in answer ? answer.failure.code : answer.text
  }
  assert.equal(await codeOf('/bin/echo', 'a'), 'a\n')
  assert.equal(await codeOf('sh', '-c', 'true'), '')
  for (const command of [
    ['cat', '/etc/passwd'],
    ['sh', '-c', 'env'],
    ['sh'],
    ['echo', 'a'],
    ['/bin/echo'],
    ['bin/tool'],
    ['./bin/tool'],
  ])
    assert.equal(await codeOf(...command), 'BP1208', command.join(' '))
  const kustomize = await builds.build(
    { tool: 'kustomize', folder: '', command: [], files: [] },
    signal,
  )
  assert.ok('failure' in kustomize && kustomize.failure.code === 'BP1208')
  assert.doesNotMatch(
    kustomize.failure.what,
    /policy/,
    'a kustomization in a folder is built without one',
  )
})

test('the flag that a refusal suggests allows exactly that command', async () => {
  const command = ['printf', '%s', 'a "b" \\ c; d']
  const refused = await new PackageBuilds({ allowed: [], environment }).build(
    commandBuild(command),
    signal,
  )
  assert.ok('failure' in refused)
  const text = /--allow-render='(.*)' to a command/.exec(refused.failure.remedy)?.[1] ?? ''
  assert.deepEqual(
    await new PackageBuilds({ allowed: [text], environment }).build(commandBuild(command), signal),
    {
      text: 'a "b" \\ c; d',
    },
  )
})

test('a command with changing output is rejected as nondeterministic', async () => {
  const builds = new PackageBuilds({ allowed: ['date +%N'], environment })
  const answer = await builds.build(commandBuild(['date', '+%N']), signal)
  assert.ok('failure' in answer)
  assert.match(answer.failure.why, /two runs printed different output/)
})

test('a command over its time limit is killed, and may be retried', async () => {
  const limits = { ...FUNCTION_LIMITS, milliseconds: 100 }
  const builds = new PackageBuilds({ allowed: ['sleep 30'], environment, limits })
  const answer = await builds.build(commandBuild(['sleep', '30']), signal)
  assert.ok('failure' in answer)
  assert.deepEqual([answer.failure.code, answer.failure.retry], ['BP1209', 'backoff'])
  assert.throws(() => builds.library.built(commandBuild(['sleep', '30'])), Unanswered)
})

test('a failure quotes the program output without the temporary folder', async () => {
  const text = 'pwd 1>&2; exit 3'
  const builds = new PackageBuilds({ allowed: [`sh -c '${text}'`], environment })
  const answer = await builds.build(commandBuild(['sh', '-c', text]), signal)
  assert.ok('failure' in answer)
  assert.equal(answer.failure.why, 'exit code 3: apps/web')
})

test('a failure quotes the error itself, without earlier warnings and log formatting', async () => {
  const said = `# Warning: 'commonLabels' is deprecated.
W1130 09:00:00.000000 1 helpers.go:1] "old"
E1130 09:36:04.665853   22632 run.go:72] "command failed" err="no resource named \\"web\\""
`
  const command = ['sh', '-c', 'cat said.txt >&2; exit 1']
  const builds = new PackageBuilds({ allowed: ["sh -c 'cat said.txt >&2; exit 1'"], environment })
  const answer = await builds.build(commandBuild(command, { 'apps/web/said.txt': said }), signal)
  assert.ok('failure' in answer)
  assert.equal(answer.failure.why, 'exit code 1: no resource named "web"')
})

test('the failure omits program output when the files contain Secrets', async () => {
  const builds = new PackageBuilds({ allowed: ["sh -c 'cat web.yaml >&2; exit 1'"], environment })
  const secret = 'apiVersion: v1\nkind: Secret\nstringData: {password: hunter2}\n'
  const answer = await builds.build(
    commandBuild(['sh', '-c', 'cat web.yaml >&2; exit 1'], { 'apps/web/web.yaml': secret }),
    signal,
  )
  assert.ok('failure' in answer)
  assert.doesNotMatch(JSON.stringify(answer), /hunter2/)
})

test('the failure omits program output when the caller marks values as secret', async () => {
  const builds = new PackageBuilds({
    allowed: ["sh -c 'cat values.yaml >&2; exit 1'"],
    environment,
  })
  const build = commandBuild(['sh', '-c', 'cat values.yaml >&2; exit 1'], {
    'apps/web/values.yaml': 'password: hunter2\n',
  })
  const [told, kept] = [
    await builds.build(build, signal),
    await builds.build({ ...build, folder: 'apps/web', hasSecrets: true }, signal),
  ]
  assert.match(JSON.stringify(told), /hunter2/)
  assert.ok('failure' in kept)
  assert.doesNotMatch(JSON.stringify(kept), /hunter2/)
})

test('a file with the name of a folder fails only this build', async () => {
  const builds = new PackageBuilds({ allowed: ['cat web.yaml'], environment })
  const answer = await builds.build(
    commandBuild(['cat', 'web.yaml'], { 'apps/web': 'a file', 'apps/web/web.yaml': 'a\n' }),
    signal,
  )
  assert.ok('failure' in answer)
  assert.match(
    `${answer.failure.code} ${answer.failure.why}`,
    /^BP1209 its files cannot be written into one folder \(E/,
  )
})

test('a finished build is answered from memory, for equal files only', async () => {
  const builds = new PackageBuilds({ allowed: ['cat web.yaml'], environment })
  const [one, other] = ['a\n', 'b\n'].map((content) =>
    commandBuild(['cat', 'web.yaml'], { 'apps/web/web.yaml': content }),
  )
  assert.ok(one !== undefined && other !== undefined)
  assert.throws(() => builds.library.built(one), Unanswered)
  await builds.build(one, signal)
  assert.deepEqual(builds.library.built({ ...one, files: [...one.files] }), { text: 'a\n' })
  assert.throws(() => builds.library.built(other), Unanswered)
})
