import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Job, Pool } from './pool.ts'

const FILES = {
  'passes.test.mjs': `
    import { describe, it, test } from 'node:test'
    process.env.LEFT = 'by passes'
    test('one', (t) => t.diagnostic('seed ' + SEED))
    const SEED = 7
    describe('a suite', () => { it('two', () => {}); it('three', { skip: 'no reason' }, () => {}) })`,
  'fails.test.mjs': `
    import assert from 'node:assert/strict'
    import { test } from 'node:test'
    test('sees nothing of another file', () => assert.equal(process.env.LEFT, undefined))
    test('outer', async (t) => { await t.test('inner', () => { console.log('printed'); throw new Error('broken') }) })`,
  'not-loaded.test.mjs': `throw new Error('does not load')`,
  'hook.test.mjs': `
    import { after, test } from 'node:test'
    after(() => { throw new Error('the hook fails') })
    test('before the hook', () => {})`,
  'suite-hook.test.mjs': `
    import { before, describe, it } from 'node:test'
    describe('suite', () => { before(() => { throw new Error('the hook fails') }); it('below', () => {}) })`,
  'exits.test.mjs': `
    import { test } from 'node:test'
    test('exits', () => process.exit(3))`,
  'late.test.mjs': `
    import { test } from 'node:test'
    test('late', () => void setTimeout(() => { throw new Error('too late') }, 10))
    test('waits', () => new Promise((resolve) => setTimeout(resolve, 100)))`,
  'environment.test.mjs': `
    import assert from 'node:assert/strict'
    import { test } from 'node:test'
    test('has what the run adds', () => assert.equal(process.env.ADDED, 'yes'))`,
} as const

interface Ran {
  /** `file: outcome name`, in the order of the names. */
  readonly results: readonly string[]
  readonly texts: ReadonlyMap<string, string>
  readonly outputs: ReadonlyMap<string, string>
  readonly late: readonly string[]
}

async function runFiles(
  names: readonly string[],
  isReady: (job: Job) => 'now' | 'later' | 'never' = () => 'now',
  ended: (file: string) => void = () => undefined,
): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-pool-'))
  const results: string[] = []
  const texts = new Map<string, string>()
  const outputs = new Map<string, string>()
  const late: string[] = []
  try {
    for (const name of names) writeFileSync(join(folder, name), FILES[name as keyof typeof FILES])
    const pool: Pool<Job> = new Pool(
      names.map((file): Job => ({ file, isWaiting: false, isAlone: false })),
      {
        root: folder,
        places: { computing: 1, waiting: 1 },
        isReady,
        environment: () => ({ ADDED: 'yes' }),
        signal: new AbortController().signal,
        events: {
          began: () => undefined,
          tested: ({ file }, { outcome, name, text }) => {
            results.push(`${file}: ${outcome} ${name}`)
            texts.set(`${file}: ${name}`, text)
          },
          ended: ({ file }, { output }) => {
            outputs.set(file, output)
            ended(file)
            pool.lookAgain()
          },
          failedLate: (text) => late.push(text),
        },
      },
    )
    await pool.run()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { results: results.sort(), texts, outputs, late }
}

test('one process tests files in turn, and each starts with the same environment', async () => {
  const { results, texts, outputs, late } = await runFiles([
    'passes.test.mjs',
    'fails.test.mjs',
    'environment.test.mjs',
  ])
  assert.deepEqual(results, [
    'environment.test.mjs: passed has what the run adds',
    'fails.test.mjs: failed outer',
    'fails.test.mjs: failed outer > inner',
    'fails.test.mjs: passed sees nothing of another file',
    'passes.test.mjs: passed a suite > two',
    'passes.test.mjs: passed one',
    'passes.test.mjs: skipped a suite > three',
  ])
  assert.match(texts.get('fails.test.mjs: outer > inner') ?? '', /^Error: broken\n/)
  assert.equal(texts.get('passes.test.mjs: a suite > three'), 'no reason')
  assert.equal(outputs.get('passes.test.mjs'), 'seed 7')
  assert.equal(outputs.get('fails.test.mjs'), 'printed')
  assert.deepEqual(late, [])
})

test('a file that does not load, a failing hook and a process that ends are failures', async () => {
  const { results, texts } = await runFiles([
    'not-loaded.test.mjs',
    'hook.test.mjs',
    'suite-hook.test.mjs',
    'exits.test.mjs',
    'passes.test.mjs',
  ])
  assert.deepEqual(
    results.filter((line) => line.includes('failed')),
    [
      'exits.test.mjs: failed the file as a whole',
      'hook.test.mjs: failed the file as a whole',
      'not-loaded.test.mjs: failed the file as a whole',
      'suite-hook.test.mjs: failed suite',
      'suite-hook.test.mjs: failed suite > below',
    ],
  )
  assert.match(texts.get('not-loaded.test.mjs: the file as a whole') ?? '', /does not load/)
  assert.equal(texts.get('exits.test.mjs: the file as a whole'), 'its process ended with code 3')
  assert.ok(results.includes('passes.test.mjs: passed one'), 'a new process tests what is left')
})

test('an error after the end of its test is a failure', async () => {
  const { late } = await runFiles(['late.test.mjs'])
  assert.equal(late.length, 1)
  assert.match(late[0] ?? '', /too late/)
})

test('a file waits for what it needs, and is skipped if that is unavailable', async () => {
  const ended: string[] = []
  const { results } = await runFiles(
    ['hook.test.mjs', 'environment.test.mjs', 'passes.test.mjs'],
    ({ file }) => {
      if (file === 'hook.test.mjs') return 'never'
      return file === 'passes.test.mjs' || ended.includes('passes.test.mjs') ? 'now' : 'later'
    },
    (file) => ended.push(file),
  )
  assert.deepEqual(ended, ['passes.test.mjs', 'environment.test.mjs'])
  assert.ok(results.includes('environment.test.mjs: passed has what the run adds'))
})
