/** Random packages, random drifts: Adopt proves itself or refuses, and never changes a byte beside the values. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { answerCalls } from '@backporch/kpt/function'
import { renderFiles } from '@backporch/kpt/render'
import { Failure } from '@backporch/kyaml/failure'
import { findValueAt } from '@backporch/kyaml/field'
import type { PackageFiles } from '@backporch/kyaml/files'
import { formatCanonicalJson, isJsonEqual, type Json, type JsonObject } from '@backporch/kyaml/json'
import { builtInFunctions } from '../../functions/built-in-functions.ts'
import type { ResolvedChange } from '../../src/sources/edits/resolution-edits.ts'
import { adoptThroughPipeline } from '../../src/sources/kpt/adopt/adoption.ts'
import { renderPackage } from '../../src/sources/kpt/render/render-package.ts'
import { driftOf } from '../fakes/drift-samples.ts'
import { path } from '../fakes/live-object.ts'
import * as fc from '../seeds/fast-check.ts'
import { type DriftedField, type RandomPackage, randomPackage } from './random-package.ts'

const RUNS = 1_000
/** Of the drifts whose value has one place that feeds nothing else. */
const LEAST_ADOPTED = 0.9

type Texts = { readonly [path: string]: string }

function filesOf(texts: Texts): PackageFiles {
  return Object.entries(texts)
    .map(([name, text]) => ({
      path: name,
      mode: '100644' as const,
      content: new TextEncoder().encode(text),
    }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}

function rendered(texts: Texts): readonly DesiredResource[] {
  const rendering = answerCalls(renderPackage('apps/web', filesOf(texts)), builtInFunctions)
  if ('failures' in rendering) throw rendering.failures[0]
  return rendering.desired.resources
}

function inPlace(texts: Texts): Texts {
  const rendering = answerCalls(renderFiles('apps/web', filesOf(texts)), builtInFunctions)
  if ('failures' in rendering) throw rendering.failures[0]
  return { ...texts, ...Object.fromEntries(rendering.written) }
}

function changeOf(before: readonly DesiredResource[], field: DriftedField): ResolvedChange {
  const desired = before.find(({ id }) => id.kind === field.kind && id.name === field.name)
  assert.ok(desired !== undefined)
  const drift = {
    ...driftOf(field.path),
    id: desired.id,
    git: findValueAt(desired.object, path(field.path)),
    live: field.live,
  }
  return { desired, resolution: 'Adopt', drift }
}

/** The desired set with the one field as it is live: what has to come out, computed without our own search. */
function withLive(before: readonly DesiredResource[], field: DriftedField): readonly string[] {
  return before
    .map(({ id, object }) =>
      id.kind === field.kind && id.name === field.name
        ? put(object, path(field.path), field.live)
        : object,
    )
    .map((object) => formatCanonicalJson(object))
}

function put(object: Json, [step, ...rest]: ReturnType<typeof path>, value: Json): Json {
  if (step === undefined) return value
  if (step.kind === 'field')
    return {
      ...(object as JsonObject),
      [step.name]: put((object as JsonObject)[step.name] ?? null, rest, value),
    }
  const item = findValueAt(object, [step])
  return (object as readonly Json[]).map((each) =>
    isJsonEqual(each, item) ? put(each, rest, value) : each,
  )
}

/** What may change of a line: the value, and not its key, its comment or its indentation. */
function frameOf(line: string): string {
  return line.replace(/^(\s*(?:- )?[\w./-]+: ).*?(\s+#.*)?$/, '$1$2')
}

function assertOnlyValues(before: Texts, edited: ReadonlyMap<string, string>): void {
  for (const [file, text] of edited) {
    const [was, is] = [(before[file.slice('apps/web/'.length)] ?? '').split('\n'), text.split('\n')]
    assert.equal(is.length, was.length, file)
    for (const [index, line] of is.entries())
      assert.equal(frameOf(line), frameOf(was[index] ?? ''), file)
  }
}

test(`${RUNS} random packages and drifts are proven or refused, and 90 percent of those with one place are adopted`, () => {
  const count = { yes: 0, adopted: 0, refused: 0, wrongly: 0 }
  const check = (
    { files, fields }: RandomPackage,
    chosen: number,
    storedRendered: boolean,
  ): void => {
    const texts = storedRendered ? inPlace(files) : files
    const field = fields[chosen % fields.length] as DriftedField
    const before = rendered(texts)
    const change = changeOf(before, field)
    if (isJsonEqual(change.drift.git, field.live)) return
    if (field.invertible === 'yes') count.yes += 1
    let edited: ReadonlyMap<string, string>
    try {
      edited = adoptThroughPipeline({
        packagePath: 'apps/web',
        files: filesOf(texts),
        changes: [change],
        functions: builtInFunctions,
      }).texts
    } catch (thrown) {
      assert.ok(thrown instanceof Failure, String(thrown))
      assert.match(thrown.code, /^BP(2001|2014|1207)$/)
      if (field.invertible === 'yes') count.refused += 1
      return
    }
    const after = {
      ...texts,
      ...Object.fromEntries(
        [...edited].map(([file, text]) => [file.slice('apps/web/'.length), text]),
      ),
    }
    assert.deepEqual(
      rendered(after).map(({ object }) => formatCanonicalJson(object)),
      withLive(before, field),
    )
    assert.notEqual(field.invertible, 'no', 'a place that feeds other fields was edited')
    assertOnlyValues(texts, edited)
    if (field.invertible === 'yes') count.adopted += 1
  }
  fc.assert(
    fc.property(randomPackage, fc.nat(), fc.boolean(), (each, chosen, keptRendered) =>
      check(each, chosen, keptRendered),
    ),
    { numRuns: RUNS },
  )
  assert.ok(count.yes > RUNS / 4, JSON.stringify(count))
  assert.ok(count.adopted >= LEAST_ADOPTED * count.yes, JSON.stringify(count))
  console.log(
    `adopted ${count.adopted} of ${count.yes} drifts with one place, refused ${count.refused}`,
  )
})
