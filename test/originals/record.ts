/**
 * Records what originals make of the inputs of a function, a digest for each (`recorded/<function>.json`):
 *
 *   node test/originals/record.ts set-namespace v0.4.1=PROGRAM v0.4.6=PROGRAM
 *
 * Recordings of other releases stay, where they were made of the same inputs.
 */
import { FUNCTION_NAMES, inputsOf } from './original-inputs.ts'
import { digestOfOutcome, outcomeOf, programLibrary } from './outcome.ts'
import { digestOfInputs, readRecording, VARIES, writeRecording } from './recording.ts'

/**
 * Some originals go through a map of Go, whose order is another one each time. Of two entries, the rarer order comes once in eight runs: 100 runs
 * miss it once in half a million inputs.
 */
const RUNS_OF_EACH = 100
const [name = '', ...programs] = process.argv.slice(2)
if (!FUNCTION_NAMES.includes(name))
  throw new Error(`there are no configs of ${JSON.stringify(name)}`)
const inputs = inputsOf(name)
const digest = digestOfInputs(inputs)
const recorded = readRecording(name)
const releases = new Map(recorded?.inputs === digest ? Object.entries(recorded.releases) : [])
for (const each of programs) {
  const [, release = '', program = ''] = /^(v\d+\.\d+\.\d+)=(.+)$/.exec(each) ?? []
  if (program === '') throw new Error(`${JSON.stringify(each)} is no RELEASE=PROGRAM`)
  const library = programLibrary(program)
  releases.set(
    release,
    inputs.map(({ files }) => {
      const first = digestOfOutcome(outcomeOf(files, library))
      for (let run = 1; run < RUNS_OF_EACH; run += 1)
        if (digestOfOutcome(outcomeOf(files, library)) !== first) return VARIES
      return first
    }),
  )
}
writeRecording(name, {
  inputs: digest,
  releases: Object.fromEntries([...releases].sort(([one], [other]) => (one < other ? -1 : 1))),
})
