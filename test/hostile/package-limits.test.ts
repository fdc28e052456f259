/** A package as a whole: many files, each within the limits of one file. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DesiredSetBuilder } from '@backporch/kpt/desired-set'
import { answerCalls } from '@backporch/kpt/function'
import { builtInFunctions } from '../../functions/built-in-functions.ts'
import { renderPackage } from '../../src/sources/kpt/render/render-package.ts'

const KPTFILE = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n'

function render(files: {
  readonly [path: string]: string
}): ReturnType<typeof renderPackage> extends Generator<unknown, infer R> ? R : never {
  const given = Object.entries({ Kptfile: KPTFILE, ...files }).map(([path, text]) => ({
    path,
    mode: '100644' as const,
    content: new TextEncoder().encode(text),
  }))
  return answerCalls(renderPackage('', given), builtInFunctions)
}

function object(name: string, items: number): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\nlist: [${'1,'.repeat(items)}1]\n`
}

test('refuses a package of a million values in eight files once, and names the object that exceeds the limit', () => {
  const files = Object.fromEntries(
    Array.from({ length: 8 }, (_, at) => [`${at}.yaml`, object(`o${at}`, 140_000)]),
  )
  const rendering = render(files)
  assert.ok('failures' in rendering)
  assert.deepEqual(
    rendering.failures.map(({ code, where, why }) => [code, where, why]),
    [
      [
        'BP1111',
        '7.yaml:1 (document 1)',
        'the objects of the package have more than 1,000,000 keys and values',
      ],
    ],
  )
})

test("limits a package with a pipeline to one file's size, because functions get it as one text", () => {
  const pipeline = `${KPTFILE}pipeline:\n  mutators:\n    - exec: set-labels\n      configMap: {team: store}\n`
  const files = Object.fromEntries(
    Array.from({ length: 4 }, (_, at) => [`${at}.yaml`, object(`o${at}`, 140_000)]),
  )
  const rendering = render({ Kptfile: pipeline, ...files })
  assert.ok('failures' in rendering)
  assert.deepEqual(
    rendering.failures.map(({ code, where, why }) => [code, where?.slice(0, 9), why]),
    [
      [
        'BP1111',
        '3.yaml:4:',
        'the package, which has a pipeline, has more than 500,000 keys, values and comments up to here',
      ],
    ],
  )
})

test('counts aliases each time they occur', () => {
  const rows = Array.from(
    { length: 30 },
    (_, at) =>
      `---\n${object(`o${at}`, 10)}a: &a [${'1,'.repeat(999)}1]\nb: [${'*a,'.repeat(90)}*a]\n`,
  )
  const rendering = render({ 'a.yaml': rows.join('') })
  assert.ok('failures' in rendering)
  assert.match(rendering.failures[0].why, /more than 1,000,000 keys and values/)
})

test('accepts a package with 50,000 objects and refuses one more', () => {
  const builder = new DesiredSetBuilder()
  const add = (at: number): unknown =>
    builder.add(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `o${at}` } },
      { path: 'a.yaml', document: at, item: undefined, line: 1 },
      'a.yaml',
    )
  for (let at = 0; at < 50_000; at += 1) add(at)
  assert.deepEqual(
    [builder.failures, builder.build(undefined, [], 'none').resources.length],
    [[], 50_000],
  )
  add(50_000)
  add(50_001)
  assert.deepEqual(
    builder.failures.map(({ code, why }) => [code, why]),
    [['BP1111', 'the package has more than 50,000 objects']],
  )
})

test('refuses a Kptfile with 100,000 fields, and reports the first hundred of a thousand wrong ones', () => {
  const fields = (count: number): string =>
    Array.from({ length: count }, (_, at) => `f${at}: v\n`).join('')
  const failuresOf = (count: number): readonly string[] => {
    const rendering = render({ Kptfile: KPTFILE + fields(count) })
    assert.ok('failures' in rendering)
    return rendering.failures.map(({ code }) => code)
  }
  assert.deepEqual(failuresOf(100_000), ['BP1111'])
  assert.deepEqual(
    failuresOf(1_000),
    Array.from({ length: 100 }, () => 'BP1103'),
  )
})
