import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { formatNoteSentence } from '@backporch/kyaml/note'
import { setVariable } from '../../../test/fakes/set-variable.ts'
import { toyPackage } from '../../../test/fakes/toy-functions.ts'
import { standStill } from '../../../test/waiting/stand-still.ts'
import type { TurnRendering } from '../../sources/kpt/render/package-renderer.ts'
import { FUNCTION_LIMITS } from './function-limits.ts'
import { runModule } from './run-module.ts'
import type { ProgramEnd } from './run-program.ts'
import { WorkerRenderer } from './worker-renderer.ts'

const MEBIBYTE = 1024 * 1024
const never = new AbortController().signal
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toy-modules-')))
after(() => rmSync(folder, { recursive: true, force: true }))

const LIMITS = {
  ...FUNCTION_LIMITS,
  milliseconds: 20_000,
  memory: 48 * MEBIBYTE,
  output: 2 * MEBIBYTE,
}
const READ =
  "import { text } from 'node:stream/consumers'\nconst given = await text(process.stdin)\n"
const COPY = `${READ}process.stdout.write(given.replace('color: blue', 'color: red'))\n`

function write(name: string, body: string): string {
  const path = join(folder, name)
  writeFileSync(path, body)
  return path
}

function run(name: string, body: string, limits = LIMITS, signal = never): Promise<ProgramEnd> {
  return runModule(write(name, body), 'given', limits, signal)
}

async function render(exec: string, modules: readonly string[]): Promise<TurnRendering> {
  const renderer = new WorkerRenderer({
    allowed: { exec: [], images: [], modules },
    engine: undefined,
    environment: { GITHUB_TOKEN: 'secret' },
    limits: LIMITS,
    nextSecond: false,
  })
  return renderer.render('apps/web', toyPackage([`exec: ${exec}`]), never)
}

function colors(rendering: TurnRendering): unknown {
  if ('failures' in rendering) return rendering.failures.map(({ code, why }) => `${code} ${why}`)
  return rendering.desired.resources.map(
    ({ object }) => (object['data'] as { color: string }).color,
  )
}

test('a module reads input, prints output and sets an exit code like a program', async () => {
  const body = `${READ}process.stdout.write(given + given)\nconsole.error('log')\nprocess.exitCode = 3\n`
  assert.deepEqual(await run('copy.mjs', body), {
    is: 'ended',
    exitCode: 3,
    stdout: 'givengiven',
    stderr: 'log\n',
  })
})

test('a module in TypeScript runs without a build and without a warning', async () => {
  const body =
    "interface A { readonly a: string }\nconst one: A = { a: 'x' }\nprocess.stdout.write(one.a)\n"
  assert.deepEqual(await run('typed.mts', body), {
    is: 'ended',
    exitCode: 0,
    stdout: 'x',
    stderr: '',
  })
})

test('an exception in a module becomes standard error and exit code 1', async () => {
  const end = await run('throws.mjs', "throw new TypeError('not today')\n")
  assert.deepEqual(end, { is: 'ended', exitCode: 1, stdout: '', stderr: 'TypeError: not today' })
})

test('a module sees no environment, no arguments and no state of an earlier run', async (t) => {
  t.after(setVariable('BACKPORCH_TEST_SECRET', 'secret'))
  const body =
    'globalThis.runs = (globalThis.runs ?? 0) + 1\nprocess.stdout.write(JSON.stringify([process.env.BACKPORCH_TEST_SECRET ?? null, process.argv.slice(2), runs]))\n'
  for (const _ of [1, 2])
    assert.deepEqual(await run('state.mjs', body), {
      is: 'ended',
      exitCode: 0,
      stdout: '[null,[],1]',
      stderr: '',
    })
})

test('stops an endless loop, excessive memory and excessive output', async () => {
  assert.deepEqual(await run('loops.mjs', 'for (;;);\n', { ...LIMITS, milliseconds: 500 }), {
    is: 'broke-limit',
    why: 'it did not end within 500 ms, and was stopped',
  })
  assert.deepEqual(
    await run('eats.mjs', "const all = []\nfor (;;) all.push({ at: 'x' + all.length })\n"),
    {
      is: 'broke-limit',
      why: 'it needs more than 48 MiB of memory',
    },
  )
  assert.deepEqual(
    await run(
      'prints.mjs',
      "for (let at = 0; at < 64; at += 1) process.stdout.write('x'.repeat(65_536))\n",
    ),
    {
      is: 'broke-limit',
      why: 'it printed more than 2 MiB, and was stopped',
    },
  )
})

test('an aborted run rejects with the reason', async () => {
  const abort = new AbortController()
  const ended = run('waits.mjs', 'setInterval(() => undefined, 1000)\n', LIMITS, abort.signal)
  abort.abort(new Error('stop'))
  await assert.rejects(ended, /^Error: stop$/)
})

test('a pipeline runs an allowed module, in each form that its Kptfile may name it', async () => {
  const file = write('paint.mjs', COPY)
  for (const exec of [file, 'paint.mjs', `node ${file}`])
    assert.deepEqual(colors(await render(exec, [file])), ['red'], exec)
  const rendering = await render('node functions/../paint.mjs', [file])
  assert.deepEqual(colors(rendering), [
    'BP1206 exec "node functions/../paint.mjs": it is not on the list of programs that are allowed',
  ])
  const relative = await render('node ./paint.mjs', [file])
  assert.ok('desired' in relative)
  assert.deepEqual(relative.desired.notes.map(formatNoteSentence), [
    `apps/web/Kptfile:7 (mutator 1, paint): the module ${file} replaces the program "./paint.mjs"`,
  ])
})

test('a module that is missing or not allowed is not run', async () => {
  const file = write('evil.mjs', COPY)
  assert.match(String(colors(await render(file, []))), /^BP1206 /)
  assert.match(
    String(colors(await render('gone.mjs', [join(folder, 'gone.mjs')]))),
    /^BP1201 .*gone\.mjs does not exist or cannot be run/,
  )
})

test('a module with changing output is rejected', async () => {
  const file = write('rolls.mjs', COPY.replace("'color: red'", '`color: red${Math.random()}`'))
  assert.match(String(colors(await render(file, [file]))), /^BP1205 /)
})

test('a module that ended while this process was suspended does not time out', async () => {
  const mark = join(folder, 'ended')
  const body = `import { writeFileSync } from 'node:fs'
process.stdout.write('done')
writeFileSync(${JSON.stringify(mark)}, '')
`
  const milliseconds = 2_000
  const ended = run('quick.mjs', body, { ...LIMITS, milliseconds })
  standStill(() => existsSync(mark), milliseconds + 200)
  assert.deepEqual(await ended, { is: 'ended', exitCode: 0, stdout: 'done', stderr: '' })
})
