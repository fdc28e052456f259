/** Our objects against those that Config Sync's own `nomos hydrate` made of the same sources. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { removeAnnotations } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import {
  getPartAt,
  getTextAt,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { createConfigSyncBuilder } from '../../src/sources/config-sync/config-sync-folder.ts'
import { ORIGIN } from '../../src/sources/kustomize/files/kustomize-build.ts'
import { CASES, CLUSTER, type ConfigSyncCase } from './cases.ts'
import { digestOfCases, inOrder, readRecording } from './recording.ts'

const recording = readRecording()
const OWN: JsonObject = {
  apiVersion: 'configsync.gke.io/v1beta1',
  kind: 'RootSync',
  metadata: { name: 'root-sync', namespace: 'config-management-system' },
}

function built(
  { format, files }: ConfigSyncCase,
  clusterName = CLUSTER,
): readonly JsonObject[] | string {
  const builder = createConfigSyncBuilder({ format, isKustomized: false, clusterName })
  assert('print' in builder.way)
  const read = new Map(
    Object.entries(files).map(
      ([path, text]) =>
        [path, { path, mode: '100644', content: new TextEncoder().encode(text) }] as const,
    ),
  )
  try {
    const text = builder.way.print(OWN, '', read)
    const build = { title: '', folder: '', object: OWN, variables: new Map(), builder }
    const documents = builder
      .documents(build, OWN, text)
      .flatMap((each) => parseGoYaml(each.text, 'the output').documents.map(({ value }) => value))
    return inOrder(documents.flatMap((value) => (isJsonObject(value) ? [plain(value)] : [])))
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.why
    throw thrown
  }
}

/** Without marks of Config Sync, which `nomos hydrate` does not print. A namespaced object that names none is in the namespace "default". */
function plain(value: JsonObject): JsonObject {
  const object = withoutMarks(value)
  const isBare =
    getTextAt(object, 'kind') === 'ConfigMap' && getTextAt(object, 'metadata', 'namespace') === ''
  return isBare ? { ...object, metadata: { ...metadataOf(object), namespace: 'default' } } : object
}

function withoutMarks(value: JsonObject): JsonObject {
  const marks = new Set(
    Object.keys(
      isJsonObject(getPartAt(value, 'metadata', 'annotations'))
        ? (getPartAt(value, 'metadata', 'annotations') as JsonObject)
        : {},
    ).filter((name) => name === ORIGIN || /^config(sync|management)\.gke\.io\//.test(name)),
  )
  const object = removeAnnotations(value, marks) as JsonObject
  const { labels, ...rest } = metadataOf(object)
  const kept = isJsonObject(labels)
    ? Object.entries(labels).filter(([name]) => !name.endsWith('.tree.hnc.x-k8s.io/depth'))
    : []
  return {
    ...object,
    metadata: { ...rest, ...(kept.length === 0 ? {} : { labels: Object.fromEntries(kept) }) },
  }
}

/** Config Sync keeps an object that it manages no more. */
function isManaged(object: JsonObject): boolean {
  return (
    getPartAt(object, 'metadata', 'annotations', 'configmanagement.gke.io/managed') === undefined
  )
}

function metadataOf(object: JsonObject): { readonly [name: string]: Json } {
  const metadata = getPartAt(object, 'metadata')
  return isJsonObject(metadata) ? metadata : {}
}

describe('matches what Config Sync applies of a source', () => {
  test('the recording has exactly these sources', () =>
    assert.equal(recording.inputs, digestOfCases()))

  for (const [name, each] of Object.entries(CASES))
    test(name, () => {
      const theirs = recording.cases[name]
      assert(theirs !== undefined)
      const ours = built(each)
      if ('objects' in theirs) return assert.deepEqual(ours, theirs.objects.filter(isManaged))
      // `nomos hydrate` also refuses what is wrong for another cluster that the source names.
      const why = typeof ours === 'string' ? ours : built(each, 'b')
      assert.equal(typeof why, 'string', `Config Sync refuses it with ${theirs.errors.join()}`)
      assert.match(String(why), new RegExp(theirs.errors.join('|')))
    })
})
