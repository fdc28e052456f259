import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { GUIDES, guideText } from '../../docs/guides/write-tables.ts'

for (const name of Object.keys(GUIDES) as (keyof typeof GUIDES)[]) {
  test(`${name} matches the tables of the code (node docs/guides/write-tables.ts writes them)`, () => {
    assert.equal(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'), guideText(name))
  })
}
