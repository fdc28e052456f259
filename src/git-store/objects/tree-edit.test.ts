import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import * as fc from '../../../test/seeds/fast-check.ts'
import {
  createTreeObject,
  type GitObject,
  isFolder,
  parseTree,
  type TreeEntry,
} from './object-format.ts'
import { editTree } from './tree-edit.ts'

const SOME = parseObjectId('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391')
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const file = (path: string, text: string | null) => ({
  path,
  content: text === null ? null : Buffer.from(text),
})

/** A store of trees that notes what is read. */
class Store {
  readonly objects = new Map<ObjectId, GitObject>()
  readonly reads: ObjectId[] = []
  add(objects: readonly GitObject[]): void {
    for (const object of objects) this.objects.set(object.id, object)
  }
  readonly read = async (id: ObjectId): Promise<readonly TreeEntry[]> => {
    this.reads.push(id)
    return parseTree(this.objects.get(id)?.content ?? assert.fail('an unknown tree is read'))
  }
  async files(id: ObjectId, prefix = ''): Promise<Record<string, string>> {
    const found: Record<string, string> = {}
    for (const entry of await this.read(id)) {
      const path = prefix + Buffer.from(entry.name, 'latin1').toString()
      if (isFolder(entry)) Object.assign(found, await this.files(entry.id, `${path}/`))
      else
        found[path] = `${entry.mode} ${this.objects.get(entry.id)?.content.toString() ?? entry.id}`
    }
    return found
  }
  async edit(root: ObjectId | undefined, ...changes: ReturnType<typeof file>[]): Promise<ObjectId> {
    const edited = await editTree(this.read, root, changes)
    this.add(edited.objects)
    return edited.tree
  }
}

test('writes, replaces and deletes files by path', async () => {
  const store = new Store()
  const first = await store.edit(
    undefined,
    file('a/b/c.yaml', 'c'),
    file('a/d.yaml', 'd'),
    file('é/x', 'x'),
  )
  const second = await store.edit(
    first,
    file('a/b/c.yaml', 'new'),
    file('a/d.yaml', null),
    file('e', 'e'),
  )
  assert.deepEqual(await store.files(second), {
    'a/b/c.yaml': '100644 new',
    e: '100644 e',
    'é/x': '100644 x',
  })
})

test('reads only the folders on the path to a change', async () => {
  const store = new Store()
  const root = await store.edit(undefined, file('a/b/c', '1'), file('x/y/z', '1'))
  store.reads.length = 0
  await editTree(store.read, root, [file('a/b/c', '2')])
  assert.equal(store.reads.length, 3)
})

test('a change without effect creates no objects', async () => {
  const store = new Store()
  const root = await store.edit(undefined, file('a/b', '1'))
  assert.deepEqual(
    await editTree(store.read, root, [
      file('a/b', '1'),
      file('gone', null),
      file('no/such/file', null),
    ]),
    {
      tree: root,
      objects: [],
    },
  )
})

test('removes an emptied folder, and an emptied repository is the empty tree', async () => {
  const store = new Store()
  const root = await store.edit(undefined, file('a/b/c', '1'), file('d', '1'))
  assert.deepEqual(await store.files(await store.edit(root, file('a/b/c', null))), {
    d: '100644 1',
  })
  const nothing = await editTree(store.read, root, [file('a/b/c', null), file('d', null)])
  assert.equal(nothing.tree, EMPTY_TREE)
  assert.deepEqual(
    nothing.objects.map(({ id }) => id),
    [EMPTY_TREE],
  )
  assert.equal((await editTree(store.read, undefined, [])).tree, EMPTY_TREE)
})

test('an existing file keeps its mode, and an unusual name its bytes', async () => {
  const store = new Store()
  const odd = createTreeObject([
    { mode: '100755', name: 'run.sh', id: SOME },
    { mode: '100664', name: 'old', id: SOME },
    { mode: '100644', name: 'latin\xe9', id: SOME },
  ])
  store.add([odd])
  const edited = await store.edit(odd.id, file('run.sh', '#!'))
  const entries = await store.read(edited)
  assert.deepEqual(
    entries.map(({ mode, name }) => `${mode} ${name}`),
    ['100644 latin\xe9', '100664 old', '100755 run.sh'],
  )
})

test('a file becomes a folder, or a folder a file, only when the old one is deleted in the same change', async () => {
  const store = new Store()
  const root = await store.edit(undefined, file('a', '1'), file('b/c', '1'))
  await refused(store.edit(root, file('a/x', '2')))
  await refused(store.edit(root, file('b', '2')))
  await refused(store.edit(root, file('b', null)))
  assert.equal(await store.edit(root, file('a/x', null)), root)
  const turned = await store.edit(
    root,
    file('a', null),
    file('a/x', '2'),
    file('b/c', null),
    file('b', '2'),
  )
  assert.deepEqual(await store.files(turned), { 'a/x': '100644 2', b: '100644 2' })
})

test('neither writes nor follows a symbolic link or submodule, but may delete it', async () => {
  const store = new Store()
  const odd = createTreeObject([
    { mode: '120000', name: 'link', id: SOME },
    { mode: '160000', name: 'module', id: SOME },
  ])
  store.add([odd])
  for (const path of ['link', 'module', 'link/x', 'module/x'])
    await refused(store.edit(odd.id, file(path, 'x')))
  assert.equal(await store.edit(odd.id, file('link', null), file('module', null)), EMPTY_TREE)
})

test('rejects a path that git or a file system interprets in a special way', async () => {
  const hostile = [
    '',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    '.git',
    '.git/config',
    'a/.GIT/x',
    'git~1',
    'GIT~2/x',
    '.git.',
    '.git ',
    '.git. .',
  ]
  const disguised = [
    '.git::$INDEX_ALLOCATION',
    '.g\u200cit/config',
    '.gi\ufefft',
    'a\\b',
    'a\0b',
    'x\ny',
    '\u007f',
    '\ud800',
  ]
  for (const path of [...hostile, ...disguised])
    await refused(editTree(async () => [], undefined, [file(path, 'x')]))
  for (const path of [
    '.gitignore',
    '.gitmodules',
    'git',
    'a.git',
    'git~x',
    '.github/x',
    'CON',
    '...',
    'a b',
  ]) {
    await editTree(async () => [], undefined, [file(path, 'x')])
  }
})

test('rejects a path that is named twice', async () => {
  await refused(editTree(async () => [], undefined, [file('a', '1'), file('a', '2')]))
})

test('the order of the changes does not matter', async () => {
  const path = fc
    .array(fc.constantFrom('a', 'b', 'a-', 'a.b', 'é'), { minLength: 1, maxLength: 3 })
    .map((segments) => segments.join('/'))
  const changes = fc.uniqueArray(
    fc.record({ path, text: fc.option(fc.string({ maxLength: 3 })) }),
    {
      selector: (each) => each.path,
      maxLength: 8,
    },
  )
  const outcome = async (
    list: readonly { readonly path: string; readonly text: string | null }[],
  ) => {
    try {
      return (
        await editTree(
          async () => [],
          undefined,
          list.map((each) => file(each.path, each.text)),
        )
      ).tree
    } catch (error) {
      return error instanceof Failure ? error.code : assert.fail(String(error))
    }
  }
  await fc.assert(
    fc.asyncProperty(changes, async (list) => {
      assert.equal(await outcome(list), await outcome([...list].reverse()))
    }),
  )
})

async function refused(action: Promise<unknown>): Promise<void> {
  await assert.rejects(
    action,
    (error: unknown) => error instanceof Failure && error.code === 'BP2007',
  )
}
