/** The scoreboard does not fall behind the source: each check is there, each mutant still fits, and the page is of this list. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { mutate, PROMISES } from './promises.ts'

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

test('lists the promises P1 to P30 in order, each with a mutant or an open point', () => {
  assert.deepEqual(
    PROMISES.map(({ id }) => id),
    Array.from({ length: 30 }, (_, index) => `P${index + 1}`),
  )
  for (const { id, mutants, open } of PROMISES)
    assert.ok(mutants.length > 0 || open !== undefined, `${id} is unproven and does not say why`)
})

for (const { id, checks, mutants } of PROMISES) {
  test(`${id}: its checks exist, and its mutants fit the source`, () => {
    for (const path of checks) assert.ok(existsSync(at(path)), path)
    for (const mutant of mutants) {
      const source = readFileSync(at(mutant.file), 'utf8')
      assert.notEqual(mutate(source, mutant), source)
    }
  })
}

test('docs/reliability.md matches this list, and no mutant survived', () => {
  const page = readFileSync(at('docs/reliability.md'), 'utf8')
  for (const { id, promise, mutants } of PROMISES) {
    assert.ok(page.includes(`| ${id} | ${promise} |`), id)
    for (const { breaks } of mutants)
      assert.ok(page.includes(`${breaks}: detected by`), `${id}: ${breaks}`)
  }
  assert.doesNotMatch(page, /\*\*survived\*\*/)
})
