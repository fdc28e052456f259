/** Functions that change trees in place and functions that read and print text give every object of the corpus the same value. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerCalls, type FunctionLibrary } from '@backporch/kpt/function'
import { passThroughText } from '@backporch/kpt/render'
import { formatCanonicalJson } from '@backporch/kyaml/json'
import { renderPackage } from '../../src/sources/kpt/render/render-package.ts'
import { ALL_CASES } from './all-cases.ts'
import { LIBRARY } from './our-render.ts'

function objects(
  files: { readonly [path: string]: string },
  library: FunctionLibrary,
): readonly string[] {
  const given = Object.entries(files)
    .map(([path, text]) => ({
      path,
      mode: '100644' as const,
      content: new TextEncoder().encode(text),
    }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
  const rendering = answerCalls(renderPackage('', given), library)
  if ('failures' in rendering) return rendering.failures.map(({ code }) => code)
  return rendering.desired.resources.map(({ object }) => formatCanonicalJson(object))
}

/** Folded text with further indented lines gains an empty line each time that go-yaml writes it: a defect that in process is not repeated. */
const GROWS = new Set(['scalars-blocks-through-a-function'])

for (const { name, files } of ALL_CASES.filter((each) => !GROWS.has(each.name)))
  test(`${name} gives the same objects as values and as text`, () =>
    assert.deepEqual(objects(files, LIBRARY), objects(files, passThroughText(LIBRARY))))
