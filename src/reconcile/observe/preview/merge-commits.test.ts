import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import { MemoryRepository } from '../../../../test/fakes/memory-repository.ts'
import { mergeCommits } from './merge-commits.ts'

const { signal } = new AbortController()
const LINES = Array.from({ length: 9 }, (_, at) => `line ${at}\n`).join('')

interface Histories {
  readonly repository: MemoryRepository
  readonly base: ObjectId
  readonly head: ObjectId
}

/** Two branches that began at one commit. */
function histories(
  main: Files,
  change: Files,
  first: Files = { a: 'a\n', b: LINES, c: 'c\n' },
): Histories {
  const repository = new MemoryRepository()
  repository.commitByHand('main', first)
  repository.branches.set('refs/heads/change', repository.head('main'))
  if (Object.keys(main).length > 0) repository.commitByHand('main', main)
  repository.commitByHand('change', change)
  return { repository, base: repository.head('main'), head: repository.head('change') }
}

type Files = { readonly [path: string]: string | null }

async function merged({ repository, base, head }: Histories) {
  const { tree, conflicts, from, why } = await mergeCommits(repository, base, head, signal)
  const blobs = await repository.read(tree.map(({ id }) => id))
  const files = Object.fromEntries(
    tree.map(({ path, id }) => [path, new TextDecoder().decode(blobs.get(id))]),
  )
  return { files, conflicts, from, why }
}

test('takes changes and deletions of one side', async () => {
  const { files, conflicts } = await merged(
    histories({ a: 'A\n', d: 'd\n' }, { b: `${LINES}more\n`, c: null }),
  )
  assert.deepEqual([files, conflicts], [{ a: 'A\n', b: `${LINES}more\n`, d: 'd\n' }, []])
})

test('merges the lines of a file that both sides changed', async () => {
  const { files, conflicts } = await merged(
    histories({ b: LINES.replace('line 1', 'ONE') }, { b: LINES.replace('line 7', 'SEVEN') }),
  )
  assert.deepEqual(
    [files['b'], conflicts],
    [LINES.replace('line 1', 'ONE').replace('line 7', 'SEVEN'), []],
  )
})

test('a line changed twice or an edited deleted file is a conflict resolved to the head', async () => {
  const line = await merged(
    histories({ b: LINES.replace('line 1', 'ours') }, { b: LINES.replace('line 1', 'theirs') }),
  )
  assert.deepEqual([line.files['b'], line.conflicts], [LINES.replace('line 1', 'theirs'), ['b']])
  const kept = await merged(histories({ b: null }, { b: `${LINES}more\n` }))
  assert.deepEqual([kept.files['b'], kept.conflicts], [`${LINES}more\n`, ['b']])
  const gone = await merged(histories({ b: `${LINES}more\n` }, { b: null }))
  assert.deepEqual([gone.files['b'], gone.conflicts], [undefined, ['b']])
})

test('the same change on both sides is no conflict', async () => {
  const { files, conflicts } = await merged(histories({ a: 'A\n' }, { a: 'A\n', c: 'C\n' }))
  assert.deepEqual([files['a'], files['c'], conflicts], ['A\n', 'C\n', []])
})

test('an already merged head changes nothing, and an unmoved base gives the head', async () => {
  const ahead = histories({}, { a: 'A\n' })
  assert.equal((await merged(ahead)).files['a'], 'A\n')
  const { repository, base, head } = ahead
  assert.equal((await merged({ repository, base: head, head: base })).files['a'], 'A\n')
})

test('a head that merged the base branch has the merged commit as its merge base', async () => {
  const first = histories({ a: 'A\n' }, { c: 'C\n' })
  const { repository, base, head } = first
  repository.commitByHand('change', { a: 'A\n' }, { parents: [head, base] })
  repository.commitByHand('main', { d: 'd\n' })
  const again = { repository, base: repository.head('main'), head: repository.head('change') }
  const { files, from, conflicts } = await merged(again)
  assert.deepEqual(
    [files['a'], files['c'], files['d'], from, conflicts],
    ['A\n', 'C\n', 'd\n', base, []],
  )
})

test('without a common ancestor the head itself is used, with the reason', async () => {
  const strangers = histories({}, { a: 'A\n' })
  strangers.repository.branches.delete('refs/heads/other')
  strangers.repository.commitByHand('other', { z: 'z\n' })
  const none = await merged({ ...strangers, head: strangers.repository.head('other') })
  assert.deepEqual(
    [none.files, none.why],
    [{ z: 'z\n' }, 'the head and the base branch have no commit in common'],
  )
  const shallow = histories({ a: 'A\n' }, { c: 'C\n' })
  const { commit } = shallow.repository
  shallow.repository.commit = async (id) => {
    if (id === shallow.base || id === shallow.head) return commit.call(shallow.repository, id)
    throw new Failure({
      code: 'BP4011',
      what: 'cannot read it',
      why: 'the clone is shallow',
      remedy: 'fetch more',
    })
  }
  const some = await merged(shallow)
  assert.deepEqual(
    [some.files['a'], some.why],
    ['a\n', 'the merge base cannot be read: the clone is shallow'],
  )
})
