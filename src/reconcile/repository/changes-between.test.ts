import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import {
  gitTestEnvironment,
  makeTestRepository,
  openTestRepository,
} from '../../../test/contract/git-remotes.ts'
import { computePushedContent } from '../../record/pushed-branch.ts'
import { listChangesBetween } from './changes-between.ts'

const signal = new AbortController().signal
/** Commits of another repository: their objects are not here. */
const [ELSEWHERE, LATER] = ['1'.repeat(40), '2'.repeat(40)]

test('a submodule is a change with foreign content, and never a deletion', async (t) => {
  const created = await makeTestRepository('local bare')
  t.after(created.close)
  const repository = openTestRepository(created, { baseBranch: 'main' })
  const blob = hash('kept\n')
  function hash(text: string): string {
    return git(['hash-object', '-w', '--stdin'], text)
  }
  function git(args: readonly string[], input: string): string {
    return execFileSync('git', [...args], {
      cwd: created.gitFolder,
      env: gitTestEnvironment(created.root),
      input,
      encoding: 'utf8',
    }).trim()
  }
  function commit(branch: string, ...entries: readonly string[]): ObjectId {
    const tree = git(['mktree', '--missing'], `${entries.join('\n')}\n`)
    const id = git(['commit-tree', tree, '-m', branch], '')
    created.git('update-ref', `refs/heads/${branch}`, id)
    return parseObjectId(id)
  }
  const file = (name: string): string => `100644 blob ${blob}\t${name}`
  const link = (name: string, to: string): string => `160000 commit ${to}\t${name}`
  const base = commit('base', file('a'), file('b'))
  const deleted = commit('deleted', file('a'))
  const added = commit('added', file('a'), file('b'), link('vendor', ELSEWHERE))
  const moved = commit('moved', file('a'), file('b'), link('vendor', LATER))
  const inPlace = commit('in-place', file('a'), link('b', ELSEWHERE))
  await repository.listRefs(signal)
  const reported = async (
    from: ObjectId,
    to: ObjectId,
  ): Promise<readonly (readonly [string, string | null])[]> =>
    (await listChangesBetween(repository, from, to, signal)).map(({ path, content }) => [
      path,
      content === null ? null : new TextDecoder().decode(content),
    ])
  assert.deepEqual(await reported(base, added), [['vendor', `Subproject commit ${ELSEWHERE}\n`]])
  assert.deepEqual(await reported(added, moved), [['vendor', `Subproject commit ${LATER}\n`]])
  assert.deepEqual(await reported(added, base), [['vendor', null]])
  assert.deepEqual(await reported(base, inPlace), [['b', `Subproject commit ${ELSEWHERE}\n`]])
  const content = async (to: ObjectId): Promise<string> =>
    computePushedContent(await listChangesBetween(repository, base, to, signal)).content
  assert.notEqual(await content(inPlace), await content(deleted))
})
