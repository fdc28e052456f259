import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SCHEMAS, schemaText } from '../../docs/schema/write.ts'

for (const name of Object.keys(SCHEMAS) as (keyof typeof SCHEMAS)[]) {
  test(`docs/schema/${name}.json matches the code (npm run schema writes it)`, () => {
    const text = readFileSync(new URL(`../../docs/schema/${name}.json`, import.meta.url), 'utf8')
    assert.equal(text, schemaText(name))
  })
}
