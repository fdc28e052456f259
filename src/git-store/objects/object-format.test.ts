import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseObjectId } from '@backporch/kyaml/files'
import { gitTestEnvironment } from '../../../test/contract/git-remotes.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import {
  BrokenObject,
  checkPack,
  commitObject,
  createGitObject,
  createTreeObject,
  encodePack,
  parseCommit,
  parseTree,
  type TreeEntry,
} from './object-format.ts'

const SOME = parseObjectId('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391')
const COMMIT = {
  tree: SOME,
  parents: [SOME],
  identity: { name: 'Zoë', email: 'z@example.com' },
  at: 5,
  message: 'Grüße\n\nkpt:{}\n',
}

test('a blob has the same id as in git', () => {
  assert.equal(createGitObject('blob', Buffer.from('')).id, SOME)
  assert.equal(
    createGitObject('blob', Buffer.from('hello\n')).id,
    'ce013625030ba8dba906f756967f9e9ca394464a',
  )
})

test('folders sort as if their names ended with a slash', () => {
  const entry = (mode: string, name: string): TreeEntry => ({ mode, name, id: SOME })
  const tree = createTreeObject([
    entry('100644', 'web.txt'),
    entry('40000', 'web'),
    entry('40000', 'web-2'),
    entry('100644', 'a'),
  ])
  assert.deepEqual(
    parseTree(tree.content).map(({ name }) => name),
    ['a', 'web-2', 'web.txt', 'web'],
  )
})

test('a commit reads back as written', () => {
  const object = commitObject(COMMIT)
  assert.deepEqual(parseCommit(object.id, object.content), {
    id: object.id,
    parents: [SOME],
    tree: SOME,
    message: 'Grüße\n\nkpt:{}\n',
    author: { name: 'Zoë', email: 'z@example.com', at: 5 },
    committer: { name: 'Zoë', email: 'z@example.com', at: 5 },
  })
})

test('reads a commit in another encoding, with a signature and an unusual author', () => {
  const text = `tree ${SOME}\nauthor Zo\xeb <> -5 +0200\ncommitter x <y> 1 +0000\nencoding ISO-8859-1\ngpgsig -----BEGIN\n author fake <f> 9 +0000\n -----END\n\nGr\xfc\xdfe\n`
  const commit = parseCommit(SOME, Buffer.from(text, 'latin1'))
  assert.equal(commit.message, 'Grüße\n')
  assert.deepEqual(commit.author, { name: 'Zoë', email: '', at: -5 })
  assert.deepEqual(commit.committer, { name: 'x', email: 'y', at: 1 })
})

test('rejects bytes that are not a tree, commit or pack', () => {
  for (const bytes of ['100644 a', '100644 a\0short', 'x a\0'.padEnd(24, 'x'), '\0'.repeat(30)]) {
    assert.throws(() => parseTree(Buffer.from(bytes)), BrokenObject)
  }
  assert.throws(() => parseCommit(SOME, Buffer.from('parent x\n\nhello')), BrokenObject)
  const pack = encodePack([createGitObject('blob', Buffer.from('a'))])
  assert.equal(checkPack(pack), 1)
  assert.throws(() => checkPack(pack.subarray(0, -1)), BrokenObject)
  assert.throws(() => checkPack(Buffer.from('<html>')), BrokenObject)
  const flipped = Buffer.from(pack)
  flipped.writeUInt8(flipped.readUInt8(14) ^ 1, 14)
  assert.throws(() => checkPack(flipped), BrokenObject)
})

test('git index-pack --strict accepts the packs, for all sizes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-pack-'))
  const env = gitTestEnvironment(folder)
  try {
    execFileSync('git', ['init', '-q', '--bare', folder], { env })
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 70_000 }), { maxLength: 5 }), (sizes) => {
        const blobs = [0, 15, 16, 2047, 2048, ...sizes].map((size, at) =>
          createGitObject('blob', Buffer.alloc(size, at + 65)),
        )
        const unique = [...new Map(blobs.map((blob) => [blob.id, blob])).values()]
        const tree = createTreeObject(
          unique.map((blob, at) => ({ mode: '100644', name: `f${at}`, id: blob.id })),
        )
        writeFileSync(join(folder, 'x.pack'), encodePack([...unique, tree]))
        execFileSync('git', ['index-pack', '--strict', join(folder, 'x.pack')], {
          cwd: folder,
          env,
          stdio: 'pipe',
        })
      }),
      { numRuns: 8 },
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
