import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatFailure } from '@backporch/kyaml/failure'
import { ALL_CASES } from './all-cases.ts'
import { renderOurs } from './our-render.ts'
import { filesAfter, readRecording, resultsIn } from './recording.ts'
import { REFUSAL_CODES } from './refusal-codes.ts'

const recording = readRecording()

describe('our render of the corpus', () => {
  it('is recorded from kpt for every case, once', () => {
    assert.deepEqual(
      ALL_CASES.map(({ name }) => name),
      [...new Set(ALL_CASES.map(({ name }) => name))],
    )
    assert.deepEqual(
      Object.keys(recording),
      ALL_CASES.map(({ name }) => name),
      'record.ts has to run again',
    )
  })

  for (const each of ALL_CASES) {
    const kpt = recording[each.name]
    if (kpt === undefined) continue
    it(`${each.name}: ${each.about}`, () => {
      const ours = renderOurs(each.files, each.unattributed)
      const why = ours.failures.map(formatFailure).join('\n')
      if (each.refused !== undefined || each.weRefuse !== undefined) {
        assert.deepEqual(
          [...new Set(ours.failures.map(({ code }) => code))],
          [REFUSAL_CODES.get(each.name)],
          why,
        )
        return
      }
      assert.equal(why, '')
      assert.deepEqual(ours.files, filesAfter(each, kpt))
      assert.deepEqual(ours.results, resultsIn(kpt.results))
    })
  }
})
