/** Kustomizations that list the files of a folder whose files are applied one by one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FileChange } from '@backporch/git-store/package-repository'
import { answerCalls } from '@backporch/kpt/function'
import type { PackageFiles } from '@backporch/kyaml/files'
import { isJsonObject } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { readResource } from '@backporch/kyaml/resource'
import { builtInFunctions } from '../../../functions/built-in-functions.ts'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import { renderPackage } from '../kpt/render/render-package.ts'
import { createFilesEditor } from './files-editor.ts'
import type { WholeChange } from './place-objects.ts'

const config = (name: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: shop\n`

const KPTFILE = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n'

function newObject(name: string): WholeChange {
  const object = parseGoYaml(config(name), 'live').documents[0]?.value
  assert.ok(isJsonObject(object))
  const read = readResource(object)
  assert.ok(!('problem' in read))
  const drift = { ...driftOf('', { change: 'unexpected', live: object }), id: read.id }
  return { drift, desired: undefined, resolution: 'Adopt', whole: { manifest: object } }
}

/** Changed files by path; null for one that is gone. */
function placed(
  texts: Readonly<Record<string, string>>,
  {
    gone = [],
    added = [],
  }: { readonly gone?: readonly string[]; readonly added?: readonly string[] },
  packagePath = 'manifests',
): Readonly<Record<string, string | null>> {
  const files: PackageFiles = Object.entries(texts)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([path, text]) => ({ path, mode: '100644', content: new TextEncoder().encode(text) }))
  const editor = createFilesEditor((_input, own) => {
    const rendering = answerCalls(
      renderPackage(packagePath, own, { attributed: false }),
      builtInFunctions,
    )
    if ('failures' in rendering) throw rendering.failures[0]
    return rendering
  })
  const edited: FileChange[] = gone.map((path) => ({ path, content: null }))
  const changes = editor.place(
    {
      packagePath,
      files,
      pipeline: false,
      functions: builtInFunctions,
      changes: added.map(newObject),
    },
    edited,
  )
  return Object.fromEntries(
    changes.map(({ path, content }) => [
      path,
      content === null ? null : new TextDecoder().decode(content),
    ]),
  )
}

const LIST = `# by hand
resources:
- a.yaml # the first
- ./b.yaml
- sub/c.yaml
- https://example.com/d.yaml
`

test('removes a deleted file from every list, and keeps the other lines', () => {
  const files = {
    'kustomization.yaml': LIST,
    'a.yaml': config('a'),
    'b.yaml': config('b'),
    'sub/c.yaml': config('c'),
    'sub/kustomization.yml': 'resources: [c.yaml]\n',
  }
  assert.deepEqual(placed(files, { gone: ['manifests/b.yaml'] }), {
    'manifests/b.yaml': null,
    'manifests/kustomization.yaml': LIST.replace('- ./b.yaml\n', ''),
  })
  assert.deepEqual(placed(files, { gone: ['manifests/sub/c.yaml'] }), {
    'manifests/sub/c.yaml': null,
    'manifests/kustomization.yaml': LIST.replace('- sub/c.yaml\n', ''),
    'manifests/sub/kustomization.yml': 'resources: []\n',
  })
  assert.deepEqual(placed(files, { gone: ['a.yaml'] }, ''), {
    'a.yaml': null,
    'kustomization.yaml': LIST.replace('- a.yaml # the first\n', ''),
  })
})

test('lists a new file where its siblings are listed, and nowhere else', () => {
  const siblings = { Kptfile: KPTFILE, 'a.yaml': config('a'), 'c.yaml': config('c') }
  const listed = { ...siblings, 'kustomization.yaml': 'resources:\n- a.yaml\n- c.yaml\n' }
  assert.deepEqual(placed(listed, { added: ['b'] }), {
    'manifests/b.yaml': config('b'),
    'manifests/kustomization.yaml': 'resources:\n- a.yaml\n- b.yaml\n- c.yaml\n',
  })
  assert.deepEqual(placed(listed, { added: ['b'], gone: ['manifests/c.yaml'] }), {
    'manifests/b.yaml': config('b'),
    'manifests/c.yaml': null,
    'manifests/kustomization.yaml': 'resources:\n- a.yaml\n- b.yaml\n',
  })
  for (const text of ['resources:\n- ../base\n', 'namePrefix: x-\n', 'resources: {a: b}\n'])
    assert.deepEqual(placed({ ...siblings, 'kustomization.yaml': text }, { added: ['b'] }), {
      'manifests/b.yaml': config('b'),
    })
})
