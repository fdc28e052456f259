import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { checkNewFolder, writeNewFolder } from './new-folder.ts'

let location: string
beforeEach(() => {
  location = mkdtempSync(join(tmpdir(), 'backporch-folder-'))
})
afterEach(() => rmSync(location, { recursive: true, force: true }))

test('writes the files with their parent folders, and nothing else', () => {
  writeNewFolder(
    join(location, 'a', 'out'),
    new Map([
      ['x.yaml', 'one'],
      ['below/y.yaml', 'two'],
    ]),
  )
  assert.deepEqual(readdirSync(join(location, 'a')), ['out'])
  assert.equal(readFileSync(join(location, 'a', 'out', 'below', 'y.yaml'), 'utf8'), 'two')
})

test('rejects an existing folder or file and leaves it unchanged', () => {
  mkdirSync(join(location, 'out'))
  writeFileSync(join(location, 'file'), 'mine')
  for (const name of ['out', 'file']) {
    assert.throws(() => checkNewFolder(join(location, name)), { code: 'BP1001' })
    assert.throws(() => writeNewFolder(join(location, name), new Map([['x', 'y']])), {
      code: 'BP1001',
    })
  }
  assert.deepEqual(readdirSync(join(location, 'out')), [])
})

test('a file that cannot be written leaves no folder behind', () => {
  // A file where a folder has to be.
  const files = new Map([
    ['a', 'file'],
    ['a/b', 'below it'],
  ])
  assert.throws(() => writeNewFolder(join(location, 'out'), files), { code: 'BP4008' })
  assert.deepEqual(readdirSync(location), [])
})
