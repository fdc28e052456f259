/**
 * What Backporch makes of each case, beside what Argo CD made of it, for people:
 *
 *   node test/argo/compare.ts GROUP [PART OF A NAME]
 */
import { formatCanonicalJson } from '@backporch/kyaml/json'
import { helmOrThrow } from '../helm/find-helm.ts'
import { CASES, GROUPS } from './cases/all-cases.ts'
import { type BuiltSide, ourBuild, sorted } from './our-build.ts'
import { readRecording } from './recording.ts'

const [group = '', part = ''] = process.argv.slice(2)
const known = GROUPS.find((each) => each === group)
if (known === undefined) throw new Error(`there is no group ${JSON.stringify(group)}`)
const { cases } = readRecording(known)
const programs = known === 'helm' ? ['kubectl', (await helmOrThrow()).helm3] : ['kubectl']
const counts = new Map<string, number>()
for (const [name, each] of Object.entries(CASES[known])) {
  if (!name.includes(part)) continue
  const recorded = cases[name]
  const theirs: BuiltSide =
    recorded?.objects === undefined
      ? { error: recorded?.error ?? 'not recorded' }
      : sorted(recorded.objects)
  const ours = await ourBuild(each, programs)
  const how = compared(ours, theirs)
  counts.set(how, (counts.get(how) ?? 0) + 1)
  if (part === '' && (how === 'equal' || how === 'neither')) continue
  console.log(`--- ${how}: ${name}\n  theirs ${textOf(theirs)}\n  ours   ${textOf(ours)}`)
}
console.log(`${group}: ${JSON.stringify(Object.fromEntries(counts))}`)
// The builds keep nothing open, but a warm process may.
process.exit()

function compared(ours: BuiltSide, theirs: BuiltSide): string {
  if ('error' in ours) return 'error' in theirs ? 'neither' : 'only Argo CD builds'
  if ('error' in theirs) return 'only ours builds'
  return textOf(ours) === textOf(theirs) ? 'equal' : 'different'
}

function textOf(side: BuiltSide): string {
  return 'error' in side
    ? `error: ${side.error}`
    : `\n    ${side.objects.map((object) => formatCanonicalJson(object)).join('\n    ')}`
}
