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

const RUNS_OF_EACH = 12
const [name = '', ...programs] = process.argv.slice(2)
if (!FUNCTION_NAMES.includes(name)) throw new Error(`there are no configs of ${JSON.stringify(name)}`)
const inputs = digestOfInputs(name)
const recorded = readRecording(name)
const releases = new Map(recorded?.inputs === inputs ? Object.entries(recorded.releases) : [])
for (const each of programs) {
  const [, release = '', program = ''] = /^(v\d+\.\d+\.\d+)=(.+)$/.exec(each) ?? []
  if (program === '') throw new Error(`${JSON.stringify(each)} is no RELEASE=PROGRAM`)
  const library = programLibrary(program)
  releases.set(
    release,
    inputsOf(name).map(({ files }) => {
      // Some originals go through a map of Go, whose order is another one each time.
      const digests = new Set(Array.from({ length: RUNS_OF_EACH }, () => digestOfOutcome(outcomeOf(files, library))))
      const [only = VARIES, second] = digests
      return second === undefined ? only : VARIES
    }),
  )
}
writeRecording(name, { inputs, releases: Object.fromEntries([...releases].sort(([one], [other]) => (one < other ? -1 : 1))) })
