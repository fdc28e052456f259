/** The recording of an original against the original, which is built here, and our walk against kpt with this original. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { whyNoKpt } from '../kpt/find-kpt.ts'
import { runKptRender } from '../render-corpus/run-kpt-render.ts'
import { inputsOf } from './original-inputs.ts'
import { digestOfOutcome, outcomesOf } from './outcome.ts'
import { readRecording, VARIES } from './recording.ts'
import {
  buildOriginal,
  SERVED_ORIGINALS,
  type ServedOriginal,
  testFileOf,
} from './served-originals.ts'

/** One input in so many also goes through kpt, which starts two processes for it. */
const THROUGH_KPT = 40

/** The arguments of `test`, which the file itself calls: the time is then its own. */
type TestArguments = readonly [
  name: string,
  options: { readonly skip: string | false },
  test: () => Promise<void>,
]

/** @param path of the test file, which has the name of the original (`testFileOf`) */
export function servedOriginalTest(path: string): TestArguments {
  const original = SERVED_ORIGINALS.find((each) => testFileOf(each) === basename(path))
  if (original === undefined)
    throw new Error(`no served original has the test file ${basename(path)}`)
  const name = `${original.name} ${original.release} makes of the inputs what is recorded, and kpt with it what we write`
  return [name, { skip: whyNoKpt() }, () => compareServedOriginal(original)]
}

async function compareServedOriginal(original: ServedOriginal): Promise<void> {
  const { name, release } = original
  const recorded = readRecording(name)?.releases[release] ?? []
  const inputs = inputsOf(name)
  assert.equal(inputs.length, recorded.length)
  const program = await buildOriginal(original)
  const outcomes = outcomesOf(
    inputs.map(({ files }) => files),
    program,
  )
  const different = outcomes.flatMap((outcome, number) =>
    [digestOfOutcome(outcome), VARIES].includes(recorded[number] ?? '') ? [] : [number],
  )
  assert.deepEqual(different, [])
  const folder = mkdtempSync(join(tmpdir(), 'backporch-originals-'))
  symlinkSync(program, join(folder, name))
  try {
    for (const { number, files } of inputs) {
      const outcome = outcomes[number]
      if (number % THROUGH_KPT !== 0 || recorded[number] === VARIES || outcome === undefined)
        continue
      const kpt = await runKptRender(files, { folder, names: [name], remove: () => undefined })
      if ('refused' in outcome) assert.equal(kpt.ok, false, `input ${number}: kpt renders it`)
      else assert.deepEqual(kpt.files, outcome.files, `input ${number}`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
