import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { findAffected, listChangedFiles } from './changed-files.ts'
import { type ImportGraph, readImportGraph } from './import-graph.ts'

const FILES = {
  'src/a.ts': `export const a = 1`,
  'src/b.ts': `import { a } from './a.ts'\nexport * from './a.ts'`,
  'src/b.test.ts': `import './b.ts'`,
  'src/c.test.ts': `const { a } = await import('./a.ts')`,
  'src/d.test.ts': `import { d } from './d.ts'`,
  'src/letters/e.ts': `export { e } from './e/e.ts'`,
  'src/letters/e/e.ts': `export const e = 1`,
  'test/door.test.ts': `import { e } from '@backporch/letters/e'`,
  'src/d.ts': `/** See docs/guides/d.md. */\nexport const d = new URL('./data.json', import.meta.url)`,
  'test/child.test.ts': `spawn(fileURLToPath(new URL('../src/a.ts', import.meta.url)))`,
  'test/guides.test.ts': `readFileSync(join(root, 'docs/guides', name))`,
  'test/corpus/corpus.test.ts': 'const cases = readdirSync(new URL(`cases/`, import.meta.url))',
}

describe('the tests affected by a change', () => {
  let root = ''
  let graph: ImportGraph
  const affected = (...changed: readonly string[]): readonly string[] =>
    findAffected(
      graph.files.filter((file) => file.endsWith('.test.ts')),
      changed,
      graph,
    )

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'backporch-changed-'))
    for (const [file, text] of Object.entries(FILES)) write(file, text)
    graph = readImportGraph(root, ['src', 'test'])
  })
  after(() => rmSync(root, { recursive: true, force: true }))

  function write(file: string, text: string): void {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }

  test('import the changed module, directly or not, or start it', () =>
    assert.deepEqual(affected('src/a.ts'), [
      'src/b.test.ts',
      'src/c.test.ts',
      'test/child.test.ts',
    ]))
  test('include the changed tests themselves', () =>
    assert.deepEqual(affected('src/d.test.ts'), ['src/d.test.ts']))
  test('import a library by its export', () =>
    assert.deepEqual(affected('src/letters/e/e.ts'), ['test/door.test.ts']))
  test('import a module that names the changed file', () =>
    assert.deepEqual(affected('src/data.json'), ['src/d.test.ts']))
  test('name the folder of a document, ignoring comments', () =>
    assert.deepEqual(affected('docs/guides/d.md'), ['test/guides.test.ts']))
  test('read a folder of fixtures', () =>
    assert.deepEqual(affected('test/corpus/cases/deep/a.yaml'), ['test/corpus/corpus.test.ts']))
  test('include all when the libraries change', () =>
    assert.equal(affected('package-lock.json').length, 7))
  test('include none when nothing names the file', () => assert.deepEqual(affected('NOTES.md'), []))

  test('finds files changed in commits since the base branch, in the work tree, and new ones', () => {
    const git = (...args: readonly string[]): void =>
      void execFileSync(
        'git',
        ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args],
        { cwd: root, stdio: 'pipe' },
      )
    git('init', '--quiet', '--initial-branch=main')
    git('add', '--all')
    git('commit', '--quiet', '--message', 'first')
    git('switch', '--quiet', '--create', 'work')
    write('src/a.ts', 'export const a = 2')
    git('commit', '--quiet', '--all', '--message', 'second')
    write('src/d.ts', 'export const d = 2')
    write('src/new.ts', 'export const n = 1')
    assert.deepEqual(listChangedFiles(root), ['src/a.ts', 'src/d.ts', 'src/new.ts'])
  })
})
