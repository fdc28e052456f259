import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectId } from '@backporch/kyaml/files'
import { NewObjects } from './new-objects.ts'
import { commitObject, createGitObject, createTreeObject, type GitObject } from './object-format.ts'

const identity = { name: 'Ada', email: 'ada@example.com' }

/** A commit of one folder with one file, and what it consists of. */
function commitOf(
  text: string,
  parents: readonly ObjectId[],
): { readonly id: ObjectId; readonly objects: readonly GitObject[] } {
  const shared = createGitObject('blob', Buffer.from('the same in all'))
  const own = createGitObject('blob', Buffer.from(text))
  const folder = createTreeObject([{ mode: '100644', name: 'own', id: own.id }])
  const root = createTreeObject([
    { mode: '40000', name: 'folder', id: folder.id },
    { mode: '100644', name: 'shared', id: shared.id },
  ])
  const commit = commitObject({ tree: root.id, parents, identity, at: 1, message: `${text}\n` })
  return { id: commit.id, objects: [shared, own, folder, root, commit] }
}

const ids = (objects: readonly GitObject[]) => objects.map((object) => object.id).sort()

test('sends only objects that the remote lacks', () => {
  const store = new NewObjects()
  const first = commitOf('1', ['f'.repeat(40) as ObjectId])
  const second = commitOf('2', [first.id])
  const stray = commitOf('stray', [])
  for (const object of [...first.objects, ...second.objects, ...stray.objects]) store.add(object)
  const all = new Map([...first.objects, ...second.objects].map((object) => [object.id, object]))
  assert.deepEqual(ids(store.listMissingFrom([second.id], new Set())), ids([...all.values()]))
  assert.deepEqual(
    ids(store.listMissingFrom([second.id], new Set([first.id]))),
    ids(second.objects.slice(1)),
  )
  assert.deepEqual(store.listMissingFrom([second.id], new Set([second.id])), [])
})

test('neither keeps nor counts a forgotten commit', () => {
  const store = new NewObjects()
  const { id, objects } = commitOf('1', [])
  for (const object of [...objects, ...objects]) store.add(object)
  assert.equal(
    store.bytes,
    objects.reduce((sum, object) => sum + object.content.length, 0),
  )
  store.forget([id])
  assert.equal(store.bytes, 0)
  assert.equal(store.get(id), undefined)
})
