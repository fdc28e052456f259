/**
 * What a built-in function makes of each input, beside what a program makes of it, for people:
 *
 *   node test/originals/compare.ts set-namespace v0.4.1 PROGRAM [NUMBER]
 */
import { chooseRelease } from '@backporch/kpt/runtime'
import { BUILT_IN } from '../../functions/built-in-functions.ts'
import { inputsOf } from './original-inputs.ts'
import { builtInLibrary, type Outcome, outcomeOf, programLibrary } from './outcome.ts'

const [name = '', release = '', program = '', number] = process.argv.slice(2)
const builtIn = BUILT_IN.get(name)
const chosen =
  builtIn === undefined ? { why: `no function ${name}` } : chooseRelease(builtIn, release, false)
if ('why' in chosen) throw new Error(chosen.why)
const counts = {
  equal: 0,
  'both refuse': 0,
  'only the original refuses': 0,
  'only ours refuses': 0,
  different: 0,
}
for (const input of inputsOf(name)) {
  if (number !== undefined && input.number !== Number(number)) continue
  const ours = outcomeOf(input.files, builtInLibrary(chosen.run))
  const original = outcomeOf(input.files, programLibrary(program))
  const how = compared(ours, original)
  counts[how] += 1
  if (how === 'equal' || (how === 'both refuse' && number === undefined)) continue
  console.log(`--- ${name} ${release} input ${input.number}: ${how}`)
  for (const [who, outcome] of Object.entries({ ours, original }))
    if ('refused' in outcome) console.log(`${who}: ${outcome.refused}`)
  if (number !== undefined)
    for (const [path, text] of Object.entries(input.files)) console.log(`== ${path}\n${text}`)
  if ('files' in ours && 'files' in original)
    for (const path of new Set([...Object.keys(ours.files), ...Object.keys(original.files)]))
      if (ours.files[path] !== original.files[path])
        console.log(
          `== ${path}\n${differentLines(original.files[path] ?? '', ours.files[path] ?? '')}`,
        )
}
console.log(`${name} ${release}: ${JSON.stringify(counts)}`)

function compared(ours: Outcome, original: Outcome): keyof typeof counts {
  if ('refused' in ours) return 'refused' in original ? 'both refuse' : 'only ours refuses'
  if ('refused' in original) return 'only the original refuses'
  return JSON.stringify(ours.files) === JSON.stringify(original.files) ? 'equal' : 'different'
}

/** Lines of the one that the other has not at that place, with `-` for the first and `+` for the second. */
function differentLines(original: string, ours: string): string {
  const [one, other] = [original.split('\n'), ours.split('\n')]
  let start = 0
  while (start < Math.min(one.length, other.length) && one[start] === other[start]) start += 1
  let end = 0
  while (
    end < Math.min(one.length, other.length) - start &&
    one.at(-1 - end) === other.at(-1 - end)
  )
    end += 1
  return [
    ...one.slice(Math.max(0, start - 3), start).map((line) => `  ${line}`),
    ...one.slice(start, one.length - end).map((line) => `- ${line}`),
    ...other.slice(start, other.length - end).map((line) => `+ ${line}`),
  ].join('\n')
}
