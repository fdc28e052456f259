import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InProcessRenderer } from '../../../test/fakes/in-process-renderer.ts'
import { MemoryRepository } from '../../../test/fakes/memory-repository.ts'
import { judgePackages, readPackages } from './check-packages.ts'

const signal = new AbortController().signal
const GOOD = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: apps/web}\n'
const NO_NAME = GOOD.replace('apps/web', '""')

async function check(kptfiles: { readonly [path: string]: string }, synced = 0) {
  const repository = new MemoryRepository()
  repository.commitByHand('main', { 'README.md': 'x', ...kptfiles })
  return judgePackages(
    await readPackages(repository, { branch: 'main', renderer: new InProcessRenderer() }, signal),
    synced,
  )
}

test('names every unusable package with its code, grouped by cause', async () => {
  const found = await check({
    'a/Kptfile': NO_NAME,
    'b/Kptfile': GOOD,
    'c/sub/Kptfile': NO_NAME,
    'd/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: d}\nfoo: 1\n',
  })
  assert.deepEqual(
    found.map(({ state, code, message }) => [
      state,
      code,
      message.replace(/: (the|metadata).*$/, ''),
    ]),
    [
      ['passed', undefined, 'packages: 1 of 4 can be read and rendered'],
      ['warning', 'BP1102', 'packages: cannot be used: a/Kptfile:3:12, c/sub/Kptfile:3:12'],
      ['warning', 'BP1103', 'packages: cannot be used: d/Kptfile:4:1'],
    ],
  )
  assert.match(found[1]?.message ?? '', /metadata\.name is missing/)
  assert.ok(found.slice(1).every(({ fix = '' }) => fix !== ''))
})

test('fails if no package is usable, and warns if there is none', async () => {
  assert.deepEqual(
    (await check({ 'a/Kptfile': NO_NAME })).map(({ state, code }) => [state, code]),
    [['failed', 'BP1102']],
  )
  assert.deepEqual(
    (await check({})).map(({ state, code }) => [state, code]),
    [['warning', 'BP1004']],
  )
})

test('gives no warning when syncers name units', async () => {
  assert.deepEqual(
    (await check({}, 2)).map(({ state, message }) => `${state} ${message}`),
    ['passed packages: no folder has a Kptfile, and syncers of the cluster name 2 units'],
  )
  assert.equal((await check({ 'a/Kptfile': NO_NAME }, 2))[0]?.code, 'BP1102')
})

test('a line names twenty packages and counts the others', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 23 }, (_, at) => [`p${at}/Kptfile`, NO_NAME]),
  )
  const [only, ...others] = await check({ ...many, 'z/Kptfile': GOOD }).then((found) =>
    found.slice(1),
  )
  assert.equal(others.length, 0)
  assert.match(only?.message ?? '', / and 3 more: /)
})

test('returns the namespaces of the objects, and whether one uses the default namespace', async () => {
  const repository = new MemoryRepository()
  const config = (name: string, namespace: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}${namespace}}\n`
  const of = async (...manifests: readonly string[]): Promise<readonly string[]> => {
    repository.commitByHand('main', {
      'apps/web/Kptfile': GOOD,
      'apps/web/a.yaml': manifests.join('---\n'),
    })
    return [
      ...(
        await readPackages(
          repository,
          { branch: 'main', renderer: new InProcessRenderer() },
          signal,
        )
      ).namespaces,
    ]
  }
  const scoped =
    'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\n'
  assert.deepEqual(
    await of(config('a', ', namespace: shop'), config('b', ', namespace: db'), scoped),
    ['shop', 'db'],
  )
  assert.deepEqual(await of(config('a', ', namespace: shop'), config('b', '')), ['shop', ''])
})
