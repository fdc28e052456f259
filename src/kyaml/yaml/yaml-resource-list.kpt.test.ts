import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { formatFunctionInput, readFunctionInput } from '@backporch/kpt/function'
import { runKpt, whyNoKpt, withFolder } from '../../../test/kpt/find-kpt.ts'
import { randomCommentedObject } from '../../../test/property/random-commented-yaml.ts'
import { numbersOf } from '../../../test/seeds/seeds.ts'
import { readYamlNodes } from './read/read-yaml-node.ts'
import { writeYamlNode } from './write/write-yaml-node.ts'
import {
  createYamlPlain,
  createYamlText,
  mapAt,
  mapCreatedAt,
  removeEntry,
  type YamlMap,
} from './yaml-node.ts'
import { copyLostComments, removeDocumentComments, syncKeyOrder } from './yaml-resource-list.ts'
import { detectSequenceIndent } from './yaml-sequence-indent.ts'

/** The objects as a program reads them, whom kpt gives them as text. */
function throughResourceList(items: readonly YamlMap[]): readonly YamlMap[] {
  return readFunctionInput(formatFunctionInput({ items, config: undefined }), 'ResourceList').items
}

const RANDOM_FILES = 60
const TRIPS = 2

const KPTFILE = `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: made-up
pipeline:
  mutators:
${'  - exec: cat\n'.repeat(TRIPS)}`

/** The annotations that kpt puts on every object on its way; what they say does not matter for where comments go. */
const ON_READ = [
  'config.kubernetes.io/index',
  'config.kubernetes.io/path',
  'internal.config.kubernetes.io/index',
  'internal.config.kubernetes.io/package-path',
  'internal.config.kubernetes.io/path',
  'internal.config.kubernetes.io/seqindent',
]
const ON_CALL = [
  'internal.config.kubernetes.io/annotations-migration-resource-id',
  'internal.config.kubernetes.io/id',
  'config.k8s.io/id',
]

function annotate(object: YamlMap, names: readonly string[]): void {
  const annotations = mapCreatedAt(object, 'metadata', 'annotations')
  for (const name of names)
    annotations.entries.push({
      key: createYamlPlain(name),
      value: { ...createYamlText('x'), style: 'single' },
    })
}

function removeAnnotations(object: YamlMap, names: readonly string[]): void {
  const metadata = mapAt(object, 'metadata')
  const annotations = mapAt(metadata, 'annotations')
  assert.ok(metadata !== undefined && annotations !== undefined)
  for (const name of names) removeEntry(annotations, name)
  if (annotations.entries.length === 0) removeEntry(metadata, 'annotations')
}

function readMaps(text: string, path: string): YamlMap[] {
  return readYamlNodes(text, path).flatMap((node) => (node.kind === 'map' ? [node] : []))
}

it('two functions without edits change comments in kpt as here', { skip: whyNoKpt() }, () => {
  const files: { [path: string]: string } = { Kptfile: KPTFILE }
  for (const seed of numbersOf(import.meta.filename, RANDOM_FILES)) {
    const text = randomCommentedObject(seed, `object-${seed}`)
    // Of some of these kpt makes a ResourceList that it cannot read itself.
    if (survives(text)) files[`f${seed}.yaml`] = text
  }
  const objects = Object.entries(files)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([path, text]) =>
      readMaps(text, path).map((object) => ({
        path,
        object,
        sequenceIndent: detectSequenceIndent(text),
      })),
    )
  for (const { object } of objects) annotate(object, ON_READ)
  for (let trip = 0; trip < TRIPS; trip += 1) {
    for (const { object } of objects) annotate(object, ON_CALL)
    const back = throughResourceList(
      objects.map(({ object }) => (trip === 0 ? removeDocumentComments(object) : object)),
    )
    for (const [number, each] of objects.entries()) {
      const after = back[number]
      assert.ok(after !== undefined)
      copyLostComments(each.object, after)
      syncKeyOrder(each.object, after)
      removeAnnotations(after, ON_CALL)
      each.object = after
    }
  }
  withFolder(files, (folder) => {
    const { ok, stderr } = runKpt(folder, 'fn', 'render', '.', '--allow-exec')
    assert.ok(ok, stderr)
    for (const { path, object, sequenceIndent } of objects) {
      removeAnnotations(object, ON_READ)
      assert.equal(
        writeYamlNode(object, { sequenceIndent }),
        readFileSync(join(folder, path), 'utf8'),
        path,
      )
    }
  })
})

function survives(text: string): boolean {
  try {
    throughResourceList(throughResourceList(readMaps(text, 'a.yaml')))
    return true
  } catch {
    return false
  }
}
