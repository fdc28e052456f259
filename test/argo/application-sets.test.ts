/** Our Applications of an ApplicationSet against those that Argo CD's own generators made of the same files. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatCanonicalJson, type Json } from '@backporch/kyaml/json'
import { listGeneratedApplications } from '../../src/sources/argo-cd/application-set.ts'
import { REPOSITORY } from './argo-case.ts'
import { SET_FILES, SETS } from './cases/application-sets.ts'
import { digestOfSets, essence, readRecordedSets } from './recorded-sets.ts'

const recording = readRecordedSets()
/** What Argo CD makes, and what is left to it here. */
const LEFT: { readonly [name: string]: string } = {
  'a Go template that calls a function':
    'its template {{ .path.basename | upper }} does more than insert an existing value',
  'a patch of the template': 'it patches its Applications (spec.templatePatch)',
  'a template of the generator': 'its generator git has a template of its own',
  'a selector': 'a generator has a selector',
}
const FOLDERS = [
  ...new Set(
    Object.keys(SET_FILES).flatMap((path) =>
      path
        .split('/')
        .slice(0, -1)
        .map((_, end, parts) => parts.slice(0, end + 1).join('/')),
    ),
  ),
]
  .filter((folder) => !/(^|\/)\./.test(folder))
  .sort((one, other) => (one.replaceAll('/', '\0') < other.replaceAll('/', '\0') ? -1 : 1))
const TEXTS = new Map(Object.entries(SET_FILES).sort(([one], [other]) => (one < other ? -1 : 1)))
const repository = {
  isHere: (address: string) => address === REPOSITORY,
  baseBranch: 'main',
  folders: () => FOLDERS,
  texts: TEXTS,
}

describe('the Applications of an ApplicationSet', () => {
  test('the recording has exactly these sets', () => assert.equal(recording.inputs, digestOfSets()))

  for (const [name, set] of Object.entries(SETS))
    test(name, () => {
      const theirs = recording.cases[name]
      assert(theirs !== undefined)
      const made = listGeneratedApplications(set, repository)
      const left = LEFT[name]
      if (left !== undefined) assert.deepEqual(made, { why: left })
      else if ('error' in theirs) assert.ok('why' in made, theirs.error)
      else {
        assert.ok(!('why' in made), JSON.stringify(made))
        assert.equal(
          formatCanonicalJson(made.map(({ application }) => essence(application)) as Json),
          formatCanonicalJson(theirs.applications as Json),
        )
      }
    })
})
