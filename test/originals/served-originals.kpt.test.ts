/** The recordings against the originals that can be built here, and our walk against kpt with these originals. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { whyNoKpt } from '../kpt/find-kpt.ts'
import { runKptRender } from '../render-corpus/run-kpt-render.ts'
import { inputsOf } from './original-inputs.ts'
import { digestOfOutcome, outcomeOf, programLibrary } from './outcome.ts'
import { readRecording, VARIES } from './recording.ts'
import { buildOriginal, SERVED_ORIGINALS } from './served-originals.ts'

/** One input in so many also goes through kpt, which takes ten times as long. */
const THROUGH_KPT = 40

describe('originals of the module proxy', { skip: whyNoKpt() }, () => {
  for (const original of SERVED_ORIGINALS) {
    const { name, release } = original
    const recorded = readRecording(name)?.releases[release]
    if (recorded === undefined) continue
    it(`${name} ${release} makes of the inputs what is recorded, and kpt with it what we write`, async () => {
      const program = await buildOriginal(original)
      const library = programLibrary(program)
      const outcomes = inputsOf(name).map(({ files }) => outcomeOf(files, library))
      const different = outcomes.flatMap((outcome, number) =>
        [digestOfOutcome(outcome), VARIES].includes(recorded[number] ?? '') ? [] : [number],
      )
      assert.deepEqual(different, [])
      const folder = mkdtempSync(join(tmpdir(), 'backporch-originals-'))
      symlinkSync(program, join(folder, name))
      try {
        for (const { number, files } of inputsOf(name)) {
          const outcome = outcomes[number]
          if (number % THROUGH_KPT !== 0 || recorded[number] === VARIES || outcome === undefined) continue
          const kpt = await runKptRender(files, { folder, names: [name], remove: () => undefined })
          if ('refused' in outcome) assert.equal(kpt.ok, false, `input ${number}: kpt renders it`)
          else assert.deepEqual(kpt.files, outcome.files, `input ${number}`)
        }
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
  }
})
