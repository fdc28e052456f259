import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { formatFieldPath } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { type Prediction, readResource } from '@backporch/kyaml/resource'
import { appliedBy, editedBy, TEST_SCHEMA, withMetadata } from '../../../test/fakes/live-object.ts'
import { detectDrift, needsPrediction } from '../detect/detect-drift.ts'

const FLUX = { manager: 'kustomize-controller', operation: 'Apply', subresource: '' } as const
const REFUSED: Prediction = {
  state: 'refused',
  failure: new Failure({
    code: 'BP3011',
    what: 'cannot patch',
    why: 'duplicate port name',
    remedy: 'correct it',
  }),
}
const MARK = 'kustomize.toolkit.fluxcd.io/name'

const GIT: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web', namespace: 'shop' },
  data: { a: '1' },
}

/** As the syncer applies it: with labels that are in no manifest. */
function applied(labels: JsonObject): JsonObject {
  return appliedBy(FLUX.manager, withMetadata(GIT, { labels }))
}

function observed(live: JsonObject, git = GIT) {
  const read = readResource(git)
  assert.ok('id' in read)
  const desired = { ...read, location: { path: 'a.yaml', document: 0, item: undefined, line: 1 } }
  return {
    desired,
    live: { state: 'present', object: live, metadataOnly: false } as const,
    schema: TEST_SCHEMA,
  }
}

test('marks of the syncer on an object do not invalidate the proof or require a dry run', () => {
  assert.equal(
    needsPrediction(
      observed(applied({ [MARK]: 'web', 'kustomize.toolkit.fluxcd.io/namespace': 'apps' })),
      FLUX,
    ),
    false,
  )
})

test('another undeclared label of the syncer requires a dry run', () => {
  assert.equal(needsPrediction(observed(applied({ [MARK]: 'web', team: 'shop' })), FLUX), true)
})

test('a label shared by many tools is a mark only with a value that such a tool sets', () => {
  const helm = { ...FLUX, manager: 'helm' }
  const managed = (by: string): JsonObject =>
    appliedBy('helm', withMetadata(GIT, { labels: { 'app.kubernetes.io/managed-by': by } }))
  assert.equal(needsPrediction(observed(managed('Helm')), helm), false)
  assert.equal(needsPrediction(observed(managed('somebody')), helm), true)
})

test('a mark that git declares is an ordinary field', () => {
  const git = withMetadata(GIT, { labels: { [MARK]: 'other' } })
  assert.equal(needsPrediction(observed(applied({ [MARK]: 'web' }), git), FLUX), true)
})

test('reports a mark that a person changed, since the syncer no longer owns it', () => {
  const live = editedBy(
    'kubectl-label',
    applied({ [MARK]: 'web' }),
    `metadata.labels["${MARK}"]`,
    'elsewhere',
  )
  const { items } = detectDrift({ ...observed(live), prediction: undefined }, FLUX)
  assert.deepEqual(
    items.map(({ change, path, actor }) => [change, formatFieldPath(path), actor.manager]),
    [['added', `metadata.labels["${MARK}"]`, 'kubectl-label']],
  )
})

test('a mark under the manager of another tool is drift from a manual apply', () => {
  const ci = { ...FLUX, manager: 'ci' }
  const live = appliedBy('ci', withMetadata(GIT, { labels: { [MARK]: 'web' } }))
  assert.equal(needsPrediction(observed(live), ci), true)
  const prediction = { state: 'predicted', object: appliedBy('ci', GIT) } as const
  const { items } = detectDrift({ ...observed(live), prediction }, ci)
  assert.deepEqual(
    items.map(({ change, path }) => [change, formatFieldPath(path)]),
    [['added', `metadata.labels["${MARK}"]`]],
  )
})

test('marks of kubectl go with the next apply of Flux, except under ssa: Merge; those of others stay', () => {
  const noteOf = (live: JsonObject, prediction?: Prediction): string | undefined =>
    detectDrift({ ...observed(live), prediction }, FLUX).items.find(
      ({ path }) => formatFieldPath(path) === 'data.b',
    )?.notes[0]
  const added = (manager: string, object = applied({ [MARK]: 'web' })): JsonObject =>
    editedBy(manager, object, 'data.b', '2')
  assert.equal(
    noteOf(added('kubectl-patch')),
    'the next apply removes it: kustomize-controller takes over what kubectl-patch wrote',
  )
  assert.match(
    noteOf(added('kubectl-patch'), REFUSED) ?? '',
    /^no apply removes it/,
    'an apply that the server refuses removes nothing',
  )
  assert.match(noteOf(added('k9s')) ?? '', /^no apply removes it/)
  assert.match(
    noteOf(added('kubectl-patch', applied({}))) ?? '',
    /^no apply removes it/,
    'no Kustomization applies it',
  )
  const marked = withMetadata(applied({ [MARK]: 'web' }), {
    annotations: { 'kustomize.toolkit.fluxcd.io/ssa': 'Merge' },
  })
  assert.match(noteOf(added('kubectl-patch', marked)) ?? '', /^no apply removes it/)
})
