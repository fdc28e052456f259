import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { Failure } from '../failure.ts'
import { parseFieldPath } from '../krm/field-path.ts'
import { parseGoYaml } from '../krm/go-yaml.ts'
import { type Json, type JsonObject, parseJson } from '../krm/json.ts'
import { editYaml, type YamlEdit } from './edit-yaml.ts'

const GOLDEN = new URL('../../test/golden/edit-yaml/', import.meta.url)

interface GoldenCase {
  readonly why: string
  readonly edits: readonly {
    readonly kind: YamlEdit['kind']
    readonly document: number
    readonly item?: number
    readonly path?: string
    readonly value?: Json
    readonly object?: JsonObject
  }[]
  /** Part of the reason, where the edit is refused. */
  readonly refused?: string
}

function editsOf(golden: GoldenCase): readonly YamlEdit[] {
  return golden.edits.map(({ path, ...edit }) => {
    const parsed = path === undefined ? { path: [] } : parseFieldPath(path)
    if ('problem' in parsed) throw new Error(parsed.problem)
    return { ...edit, path: parsed.path } as unknown as YamlEdit
  })
}

describe('golden cases', () => {
  for (const name of readdirSync(GOLDEN).sort()) {
    const folder = new URL(`${name}/`, GOLDEN)
    const read = (file: string): string => readFileSync(new URL(file, folder), 'utf8')
    const golden = parseJson(read('edit.json')) as unknown as GoldenCase
    test(`${name}: ${golden.why}`, () => {
      const edit = (): string => editYaml(read('before.yaml'), editsOf(golden), 'a.yaml')
      if (golden.refused !== undefined) {
        assert.throws(edit, (thrown) => {
          assert.ok(thrown instanceof Failure)
          assert.equal(thrown.code, 'BP2007')
          assert.ok(thrown.why.includes(golden.refused ?? ''), thrown.why)
          assert.match(thrown.where ?? '', /^a\.yaml:\d+:\d+$/)
          return true
        })
        assert.ok(!existsSync(new URL('after.yaml', folder)))
        return
      }
      const after = edit()
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(new URL('after.yaml', folder), after)
      assert.equal(after, read('after.yaml'))
      parseGoYaml(after, 'a.yaml')
    })
  }
})
