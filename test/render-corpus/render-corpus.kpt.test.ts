import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { whyNoKpt } from '../kpt/find-kpt.ts'
import { ALL_CASES, functionsOf } from './all-cases.ts'
import { readRecording, recorded } from './recording.ts'
import {
  buildFunctionPrograms,
  type FunctionPrograms,
  type KptRender,
  renderAllWithKpt,
} from './run-kpt-render.ts'

describe('kpt over the corpus', { skip: whyNoKpt() }, () => {
  const recording = readRecording()
  let programs: FunctionPrograms
  let renders: ReadonlyMap<string, KptRender>
  before(async () => {
    programs = await buildFunctionPrograms()
    renders = await renderAllWithKpt(ALL_CASES, programs)
  })
  after(() => programs.remove())

  it('has a program for every function named in a case', () => {
    const named = new Set(ALL_CASES.flatMap(functionsOf))
    assert.deepEqual(
      [...named].filter((name) => !programs.names.includes(name)),
      ['no-such-function'],
    )
  })

  for (const each of ALL_CASES) {
    it(
      each.refused === undefined
        ? `renders ${each.name} as recorded`
        : `refuses ${each.name} and writes nothing`,
      () => {
        const render = renders.get(each.name)
        assert.ok(render !== undefined)
        assert.equal(render.ok, each.refused === undefined, render.text)
        assert.deepEqual(recorded(each, render), recording[each.name])
        if (each.refused === undefined) return
        assert.ok(render.text.includes(each.refused), render.text)
        assert.deepEqual(
          render.files,
          Object.fromEntries(
            Object.entries(each.files).sort(([one], [other]) => (one < other ? -1 : 1)),
          ),
        )
      },
    )
  }
})
