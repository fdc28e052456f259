import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editYaml, removeValueAt, writeValueAt, type YamlEdit } from '@backporch/kyaml/edit-yaml'
import type { FieldPath } from '@backporch/kyaml/field'
import {
  formatJson,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { parseDocument } from 'yaml'
import { manifests, styles, texts, values } from '../../../test/property/random-manifests.ts'
import {
  type PlainPath,
  type Printed,
  type PrintStyle,
  pathKey,
  printYaml,
} from '../../../test/property/random-yaml.ts'
import * as fc from '../../../test/seeds/fast-check.ts'

/** Every place of a value, as plain steps. */
function locationsOf(value: Json, path: PlainPath = []): readonly PlainPath[] {
  const below = isJsonArray(value)
    ? value.flatMap((item, index) => locationsOf(item, [...path, index]))
    : isJsonObject(value)
      ? Object.entries(value).flatMap(([key, each]) => locationsOf(each, [...path, key]))
      : []
  return path.length === 0 ? below : [path, ...below]
}

function steps(path: PlainPath): FieldPath {
  return path.map((step) =>
    typeof step === 'number' ? { kind: 'index', index: step } : { kind: 'field', name: step },
  )
}

function at(value: Json, path: PlainPath): Json | undefined {
  return path.reduce<Json | undefined>(
    (current, step) => (current as { readonly [key: string]: Json } | undefined)?.[step],
    value,
  )
}

interface Case {
  readonly manifest: JsonObject
  readonly printed: Printed
  readonly before: readonly Json[]
}

function prepare(manifest: JsonObject, style: PrintStyle): Case {
  const printed = printYaml(manifest, style)
  const before = parseGoYaml(printed.text, 'a.yaml').documents.map(({ value }) => value)
  assert.ok(
    isJsonEqual(before[printed.document], manifest),
    `the printer is wrong:\n${printed.text}\n${formatJson(before[printed.document] ?? null)}`,
  )
  return { manifest, printed, before }
}

function edited({ printed, before }: Case, edit: YamlEdit, wanted: Json): string {
  const after = editYaml(printed.text, [edit], 'a.yaml')
  const documents = parseGoYaml(after, 'a.yaml').documents.map(({ value }) => value)
  assert.ok(
    isJsonEqual(documents, before.with(printed.document, wanted)),
    `wrong value:\n${printed.text}\n=>\n${after}`,
  )
  return after
}

/** Lines of the old text that are gone or changed, as the smallest range: `to` is below `from` where none is. */
function changedLines(
  before: string,
  after: string,
): { readonly from: number; readonly to: number; readonly added: number } {
  const [old, now] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head += 1
  let tail = 0
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail))
    tail += 1
  return { from: head, to: old.length - tail - 1, added: now.length - tail - head }
}

/** The lines of the nearest place that has lines of its own: entries inside brackets on one line have not. */
function rangeOf(
  printed: Printed,
  path: PlainPath,
): { readonly from: number; readonly to: number; readonly isFlow: boolean } {
  for (let length = path.length; length > 0; length -= 1) {
    const range = printed.ranges.get(pathKey(path.slice(0, length)))
    if (range !== undefined) return { ...range, isFlow: range.isFlow || length < path.length }
  }
  return { from: 0, to: printed.text.split('\n').length, isFlow: false }
}

/** Every line before and behind the range is there, byte for byte and in order. */
function assertInside(
  printed: Printed,
  after: string,
  range: { readonly from: number; readonly to: number },
): void {
  const [old, now] = [linesOf(printed.text), linesOf(after)]
  // A file without a final line break changes its last line when a line is added behind it or it is removed.
  const before = old.slice(0, Math.max(0, range.from - (printed.text.endsWith('\n') ? 0 : 1)))
  const behind = old.slice(range.to + 1)
  const inside =
    now.length >= before.length + behind.length &&
    isJsonEqual(now.slice(0, before.length), before) &&
    isJsonEqual(now.slice(now.length - behind.length), behind)
  assert.ok(
    inside,
    `wanted changes in lines ${range.from}-${range.to} only:\n${printed.text}\n=>\n${after}`,
  )
}

function linesOf(text: string): readonly string[] {
  return text.replace(/^\uFEFF/, '').split('\n')
}

/** The first key of an item hands its place behind the dash to the next one, whose line changes so. */
function withNextLine(
  printed: Printed,
  path: PlainPath,
  parent: Json | undefined,
): { readonly from: number; readonly to: number; readonly isFlow: boolean } {
  const own = rangeOf(printed, path)
  const entries = isJsonArray(parent) ? [...parent.keys()] : Object.keys(parent ?? {})
  const next = entries[1]
  if (
    next === undefined ||
    entries[0] !== path.at(-1) ||
    !(printed.text.split('\n')[own.from] ?? '').trimStart().startsWith('-')
  )
    return own
  return { ...own, to: rangeOf(printed, [...path.slice(0, -1), next]).from + 1 }
}

const RUNS = { numRuns: 300 }

test('setting any location to any value gives exactly that value, and changes only its lines', () => {
  fc.assert(
    fc.property(manifests, styles, fc.nat(), values, (manifest, style, pick, value) => {
      const given = prepare(manifest, style)
      const locations = locationsOf(manifest)
      const path = locations[pick % locations.length] ?? []
      const document = given.printed.document
      const after = edited(
        given,
        { kind: 'set', document, path: steps(path), value },
        writeValueAt(manifest, steps(path), value),
      )
      assertInside(given.printed, after, rangeOf(given.printed, path))
      if (isJsonEqual(at(manifest, path), value)) assert.equal(after, given.printed.text)
    }),
    RUNS,
  )
})

test('removing any location gives the value without it, and changes only its lines or those of the emptied parent', () => {
  fc.assert(
    fc.property(manifests, styles, fc.nat(), (manifest, style, pick) => {
      const given = prepare(manifest, style)
      const locations = locationsOf(manifest)
      const path = locations[pick % locations.length] ?? []
      const wanted = removeValueAt(manifest, steps(path))
      const after = edited(
        given,
        { kind: 'remove', document: given.printed.document, path: steps(path) },
        wanted,
      )
      const parent = path.slice(0, -1)
      const siblings = Object.keys(at(manifest, parent) as object).length
      const own = withNextLine(given.printed, path, at(manifest, parent))
      const isWhole = siblings === 1 || own.isFlow || rangeOf(given.printed, parent).isFlow
      assertInside(given.printed, after, isWhole ? rangeOf(given.printed, parent) : own)
    }),
    RUNS,
  )
})

test('adding keys and items anywhere gives the value with them, and changes no line outside of brackets', () => {
  fc.assert(
    fc.property(
      manifests,
      styles,
      fc.nat(),
      values,
      fc.boolean(),
      (manifest, style, pick, value, deep) => {
        const given = prepare(manifest, style)
        const parents = [[], ...locationsOf(manifest)].filter(
          (path) => typeof at(manifest, path) === 'object',
        )
        const parent = parents[pick % parents.length] ?? []
        const holder = at(manifest, parent)
        const last: FieldPath = isJsonArray(holder)
          ? deep
            ? [
                { kind: 'item', keys: { name: 'no such name' } },
                { kind: 'field', name: 'value' },
              ]
            : [{ kind: 'index', index: holder.length }]
          : [
              { kind: 'field', name: 'new key' },
              ...(deep ? [{ kind: 'field', name: 'y' } as const] : []),
            ]
        const path = [...steps(parent), ...last]
        const after = edited(
          given,
          { kind: 'set', document: given.printed.document, path, value },
          writeValueAt(manifest, path, value),
        )
        const range = rangeOf(given.printed, parent)
        assertInside(given.printed, after, range)
        const isEmpty = holder === null || Object.keys(holder as object).length === 0
        const { from, to } = changedLines(given.printed.text, after)
        if (!range.isFlow && !isEmpty && given.printed.text.endsWith('\n'))
          assert.ok(to < from, `a line changed:\n${given.printed.text}\n=>\n${after}`)
      },
    ),
    RUNS,
  )
})

test('changing a scalar and changing it back restores its bytes', () => {
  const plain = fc.constantFrom<Json>('nginx:1.27', 'a b', 'x', 7, true, 1.5)
  fc.assert(
    fc.property(manifests, styles, fc.nat(), plain, (manifest, style, pick, value) => {
      const given = prepare(manifest, style)
      const locations = locationsOf(manifest).filter((path) => {
        const old = at(manifest, path)
        // What is plain, numeric or quoted stays so both ways; a text that changes its kind of scalar need not.
        return (
          typeof old === typeof value &&
          (typeof old !== 'string' || !/[\n\r]|[^\P{Cc}]|[\u2028\uFEFF]/u.test(old))
        )
      })
      const path = locations[pick % Math.max(1, locations.length)]
      if (path === undefined) return
      const document = given.printed.document
      const there = editYaml(
        given.printed.text,
        [{ kind: 'set', document, path: steps(path), value }],
        'a.yaml',
      )
      const back = editYaml(
        there,
        [{ kind: 'set', document, path: steps(path), value: at(manifest, path) ?? null }],
        'a.yaml',
      )
      assert.equal(back, given.printed.text)
    }),
    RUNS,
  )
})

test('every written text reads the same under YAML 1.2 and 1.1', () => {
  fc.assert(
    fc.property(texts, styles, (text, style) => {
      const given = prepare({ data: { key: 'x', flow: ['x'] } }, style)
      const document = given.printed.document
      for (const path of [
        ['data', 'key'],
        ['data', 'flow', 0],
        ['data', 'new'],
        ['data', text],
      ] as const) {
        const after = editYaml(
          given.printed.text,
          [{ kind: 'set', document, path: steps(path), value: text }],
          'a.yaml',
        )
        const { start, end } = parseGoYaml(after, 'a.yaml').documents[document]?.chunk ?? {
          start: 0,
          end: 0,
        }
        for (const version of ['1.1', '1.2'] as const) {
          const value = parseDocument(after.slice(start, end), {
            version,
            mapAsMap: true,
            logLevel: 'silent',
          } as never).toJS({
            mapAsMap: true,
          })
          const got = path.reduce(
            (current, step) => (current instanceof Map ? current.get(step) : current[step]),
            value,
          )
          assert.equal(got, text, `${version}:\n${after}`)
        }
      }
    }),
    RUNS,
  )
})

test('many edits at once give the same result as one after the other', () => {
  fc.assert(
    fc.property(
      manifests,
      styles,
      fc.array(fc.tuple(fc.nat(), values, fc.boolean()), { minLength: 2, maxLength: 5 }),
      (manifest, style, list) => {
        const given = prepare(manifest, style)
        const document = given.printed.document
        let value: Json = manifest
        const edits = list.map(([pick, wanted, removes]): YamlEdit => {
          const locations = locationsOf(value)
          const path = steps(locations[pick % Math.max(1, locations.length)] ?? ['again'])
          value = removes ? removeValueAt(value, path) : writeValueAt(value, path, wanted)
          return removes
            ? { kind: 'remove', document, path }
            : { kind: 'set', document, path, value: wanted }
        })
        const after = editYaml(given.printed.text, edits, 'a.yaml')
        assert.ok(isJsonEqual(parseGoYaml(after, 'a.yaml').documents[document]?.value, value))
      },
    ),
    RUNS,
  )
})
