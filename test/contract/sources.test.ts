import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { DISCOVERIES, SOURCES } from '../../src/sources/registry.ts'

const SRC = new URL('../../src/', import.meta.url)
const NAMES = Object.keys(SOURCES)

test('each source is a value in the folder of its name, with a guide', () => {
  for (const name of NAMES) {
    const files = readdirSync(new URL(`sources/${name}/`, SRC))
    assert.ok(files.includes(`${name}-source.ts`), `src/sources/${name} declares no source`)
    assert.ok(files.includes('README.md'), `src/sources/${name} has no guide`)
  }
})

test("each source that discovers units has a name that is no prefix of another's titles", () => {
  const names = DISCOVERIES.map(({ name }) => name)
  assert.ok(names.length >= 3)
  for (const name of names)
    assert.deepEqual(
      names.filter((other) => `${other} `.startsWith(`${name} `)),
      [name],
    )
})

/** What runs a program, and knows what it prints, asks for its name. */
const RUNNERS = ['adapters/functions/build-content.ts', 'adapters/functions/package-builds.ts']

test('no code outside src/sources checks the source of a unit', () => {
  const asks = new RegExp(`[!=]== '(?:${NAMES.join('|')})'`)
  const found = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => {
    if (
      !file.endsWith('.ts') ||
      file.endsWith('.test.ts') ||
      file.startsWith('sources/') ||
      file.includes('node_modules')
    )
      return false
    const text = readFileSync(new URL(file, SRC), 'utf8')
    return text
      .split('\n')
      .some((line) => asks.test(line) && /\b(?:tool|render|choice)\b/.test(line))
  })
  assert.deepEqual(found.sort(), RUNNERS)
})
