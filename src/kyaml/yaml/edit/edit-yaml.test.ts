import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { Failure } from '../../failure.ts'
import { createFieldStep, parseFieldPath } from '../../krm/field-path.ts'
import { type Json, type JsonObject, parseJson } from '../../text/json.ts'
import { parseGoYaml } from '../read/go-yaml.ts'
import { editYaml, type YamlEdit } from './edit-yaml.ts'

const GOLDEN = new URL('../../../../test/golden/edit-yaml/', import.meta.url)

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

describe('addresses', () => {
  const refusal = (text: string, edit: YamlEdit): Failure => {
    try {
      editYaml(text, [edit], 'a.yaml')
    } catch (thrown) {
      if (thrown instanceof Failure) return thrown
      throw thrown
    }
    throw new assert.AssertionError({ message: 'nothing was refused' })
  }
  const path = [createFieldStep('a'), createFieldStep('b')]

  test('rejects a missing document or item', () => {
    assert.match(
      refusal('a: 1\n', { kind: 'remove', document: 1, path }).why,
      /no document number 1/,
    )
    assert.match(
      refusal('kind: List\nitems: [{}]\n', { kind: 'remove-object', document: 0, item: 1 }).why,
      /no item number 1/,
    )
    assert.match(
      refusal('kind: A\n', { kind: 'set', document: 0, item: 0, path, value: 1 }).why,
      /no item number 0/,
    )
  })

  test('a rejection gives the line in the file, also in a later document', () => {
    const text = 'kind: A\n---\n# c\na: &x\n  b: 1\nc: *x\n'
    const failure = refusal(text, { kind: 'set', document: 1, path, value: 2 })
    assert.deepEqual([failure.code, failure.where], ['BP2007', 'a.yaml:6:4'])
  })

  test('rejects an unreadable file as such, without any edit', () => {
    assert.equal(refusal('a: [\n', { kind: 'set', document: 0, path, value: 2 }).code, 'BP1110')
  })

  test('can remove all documents, and keeps only text outside of documents', () => {
    const gone = (text: string, count: number): string =>
      editYaml(
        text,
        Array.from({ length: count }, (_, document) => ({ kind: 'remove-object', document })),
        'a.yaml',
      )
    assert.equal(gone('kind: A\n', 1), '')
    assert.equal(gone('kind: A\n---\nkind: B\n', 2), '')
    assert.equal(gone('# Licence\n\nkind: A\n---\nkind: B\n', 2), '# Licence\n\n')
  })

  test('document numbers refer to the original file, regardless of earlier removals', () => {
    const text = 'kind: A\n---\nkind: B\n---\nkind: C\n'
    const edits: YamlEdit[] = [
      { kind: 'remove-object', document: 0 },
      { kind: 'set', document: 2, path: [createFieldStep('v')], value: 1 },
      { kind: 'remove-object', document: 1 },
    ]
    assert.equal(editYaml(text, edits, 'a.yaml'), '---\nkind: C\nv: 1\n')
  })
})
