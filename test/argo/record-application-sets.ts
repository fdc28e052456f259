/**
 * Records what Argo CD's own generators make of the ApplicationSets (`recorded/application-sets.json`):
 *
 *   node test/argo/record-application-sets.ts
 *
 * Needs Go for the first run, which builds them.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { formatCanonicalJson, type Json, parseJson } from '@backporch/kyaml/json'
import { programOrThrow } from '../programs/build-programs.ts'
import { SET_FILES, SETS } from './cases/application-sets.ts'
import { VERSIONS } from './programs.ts'
import { APPLICATION_SETS, digestOfSets, madeOf } from './recorded-sets.ts'

const { path } = await programOrThrow('argo-application-sets')
const files = SET_FILES
const questions = Object.values(SETS).map((applicationSet) =>
  JSON.stringify({ files, applicationSet }),
)
const answers = execFileSync(path, {
  input: questions.join('\n'),
  encoding: 'utf8',
  maxBuffer: 1e8,
})
  .trim()
  .split('\n')
  .map(parseJson)
const cases = Object.keys(SETS).map(
  (name, index) =>
    `    ${JSON.stringify(name)}: ${formatCanonicalJson(madeOf(answers[index] as Json) as Json)}`,
)
const made = {
  'argo-cd': VERSIONS['argo-cd'],
  command: 'node test/argo/record-application-sets.ts',
}
const text = `{\n  "made": ${JSON.stringify(made)},\n  "inputs": ${JSON.stringify(digestOfSets())},\n  "cases": {\n${cases.join(',\n')}\n  }\n}\n`
writeFileSync(APPLICATION_SETS, text)
