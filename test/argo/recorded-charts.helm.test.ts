/** What Backporch makes of charts of Argo CD Applications, beside what Argo CD made of them (test/argo/recorded/helm.json). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatJson } from '@backporch/kyaml/json'
import { helmOrThrow } from '../helm/find-helm.ts'
import { CASES } from './cases/all-cases.ts'
import { ourBuild, sorted } from './our-build.ts'
import { readRecording } from './recording.ts'

/** Why the two differ, by case. */
const DIFFERENT: ReadonlyMap<string, string> = new Map([
  ['a parameter with the commit', 'the commit in a value is refused: each commit is another value'],
  [
    'no namespace of the destination',
    'where Argo CD sets no namespace, the context of the test does',
  ],
  [
    'a template that sets its namespace, and one that does not',
    'a name that is no text is refused',
  ],
  ['empty documents, comments and a separator with spaces', 'a name that is no text is refused'],
  [
    'a cluster that says no version',
    'Helm is not the one that Argo CD has, and takes another version by default',
  ],
  ['skipTests', 'a unit without an object is refused'],
  ['one object in two templates', 'one object twice is refused (BP1113)'],
  ['an alias twice', 'one object twice is refused (BP1113)'],
  ['two charts with one object', 'each source is a unit; Argo CD applies the last of the two'],
  [
    'an override that makes the folder a directory',
    'what kind of source it is, the Application alone decides',
  ],
  [
    'a file with the name of another Chart.yaml',
    'options that say nothing do not make a folder a chart',
  ],
  ['values of another source', 'files of another repository are refused'],
  ['a file of another source', 'files of another repository are refused'],
  [
    'a missing file of another source that may be missing',
    'files of another repository are refused',
  ],
])

test('renders charts as Argo CD does', async (t) => {
  const { helm3 } = await helmOrThrow()
  const { cases, made } = readRecording('helm')
  const different: string[] = []
  let [equal, refused] = [0, 0]
  for (const [name, each] of Object.entries(CASES.helm)) {
    const { objects } = cases[name] ?? {}
    const ours = await ourBuild(each, ['kubectl', helm3])
    if ('error' in ours && objects === undefined) refused += 1
    // A chart may print the version of Helm.
    else if (
      'objects' in ours &&
      objects !== undefined &&
      formatJson([...ours.objects]).replaceAll('v3.19', made.helm ?? '') ===
        formatJson([...objectsIn(objects)])
    )
      equal += 1
    else different.push(name)
  }
  t.diagnostic(
    `${equal} equal, ${refused} refused by both, ${different.length} different and named`,
  )
  assert.deepEqual(different.sort(), [...DIFFERENT.keys()].sort())
})

function objectsIn(objects: Parameters<typeof sorted>[0]) {
  const all = sorted(objects)
  return 'objects' in all ? all.objects : []
}
