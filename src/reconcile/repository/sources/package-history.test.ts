import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findValueAt } from '@backporch/kyaml/field'
import { InProcessRenderer } from '../../../../test/fakes/in-process-renderer.ts'
import { MemoryRepository } from '../../../../test/fakes/memory-repository.ts'
import { loadPackage } from '../../observe/load-package.ts'
import { readRepository } from '../repository-view.ts'
import { PackageHistories } from './package-history.ts'

const { signal } = new AbortController()
const KPTFILE = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: web}\n'

function config(color: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {color: ${color}}\n`
}

async function historyOf(repository: MemoryRepository, histories = new PackageHistories()) {
  const view = await readRepository(repository, 'main', signal)
  const [found] = view.packages
  assert.ok(found !== undefined)
  const { desired } = await loadPackage(
    view,
    found,
    { cluster: 'test', renderer: new InProcessRenderer() },
    signal,
  )
  const context = { view, renderer: new InProcessRenderer(), namespace: 'shop' }
  const { versions, ...rest } = await histories.read(
    context,
    { packagePath: found.path, outside: [], desired },
    signal,
  )
  const color = [
    { kind: 'field', name: 'data' } as const,
    { kind: 'field', name: 'color' } as const,
  ]
  const shown = versions.map(({ commit, objects }) => [
    commit,
    findValueAt(objects.get('/ConfigMap/shop/web') ?? {}, color),
  ])
  return { shown, versions, ...rest }
}

test('each content of a package is named by its first commit, newest first, back to the start', async () => {
  const repository = new MemoryRepository()
  repository.commitByHand('main', { 'README.md': 'before' })
  const blue = repository.commitByHand('main', {
    'apps/web/Kptfile': KPTFILE,
    'apps/web/config.yaml': config('blue'),
  })
  const between = repository.commitByHand('main', { 'README.md': 'between' })
  const red = repository.commitByHand('main', { 'apps/web/config.yaml': config('red') })
  const after = repository.commitByHand('main', { 'README.md': 'after' })
  const { shown, locationOf, complete, versions } = await historyOf(repository)
  assert.deepEqual(shown, [
    [red, 'red'],
    [blue, 'blue'],
    ['', undefined],
  ])
  assert.equal(complete, true)
  assert.deepEqual(
    [after, red, between, blue].map((commit) => locationOf.get(commit)),
    [0, 0, 1, 1],
  )
  const { committer } = await repository.commit(red)
  assert.equal(versions[0]?.at, `${new Date(committer.at * 1000).toISOString().slice(0, 19)}Z`)
})

test('a merge counts from the merge commit on; commits of its branch do not count', async () => {
  const repository = new MemoryRepository()
  const blue = repository.commitByHand('main', {
    'apps/web/Kptfile': KPTFILE,
    'apps/web/config.yaml': config('blue'),
  })
  const branch = repository.commitByHand(
    'topic',
    { 'apps/web/config.yaml': config('green') },
    { parents: [blue] },
  )
  const merge = repository.commitByHand(
    'main',
    { 'apps/web/config.yaml': config('red') },
    { parents: [blue, branch] },
  )
  const { shown } = await historyOf(repository)
  assert.deepEqual(shown.slice(0, 2), [
    [merge, 'red'],
    [blue, 'blue'],
  ])
})

test('an unrenderable version is skipped', async () => {
  const repository = new MemoryRepository()
  const blue = repository.commitByHand('main', {
    'apps/web/Kptfile': KPTFILE,
    'apps/web/config.yaml': config('blue'),
  })
  repository.commitByHand('main', { 'apps/web/config.yaml': 'a: [' })
  const red = repository.commitByHand('main', { 'apps/web/config.yaml': config('red') })
  const { shown } = await historyOf(repository)
  assert.deepEqual(shown.slice(0, 2), [
    [red, 'red'],
    [blue, 'blue'],
  ])
})

test('at most twenty versions are read, and the history says that it is incomplete', async () => {
  const repository = new MemoryRepository()
  repository.commitByHand('main', { 'apps/web/Kptfile': KPTFILE })
  for (let index = 0; index < 30; index += 1)
    repository.commitByHand('main', { 'apps/web/config.yaml': config(`c${index}`) })
  const { versions, complete } = await historyOf(repository)
  assert.deepEqual([versions.length, complete], [20, false])
})
