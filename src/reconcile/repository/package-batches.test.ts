import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FoundPackage } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import { parseObjectId } from '@backporch/kyaml/files'
import type { PackageMarks } from '../../ports/package-marks.ts'
import { splitIntoBatches } from './package-batches.ts'

const PACKAGES = Array.from({ length: 70 }, (_, at) => ({ path: `apps/p${at}` }) as FoundPackage)

function viewOf(content: string): Parameters<typeof splitIntoBatches>[1]['view'] {
  return {
    tree: PACKAGES.map(({ path }) => ({
      path: `${path}/a.yaml`,
      mode: '100644',
      id: parseObjectId((path === 'apps/p3' ? content : '0').padStart(40, '0')),
    })),
  }
}

/** The marks of a process that follows others. @param ended the count of packages, by path */
function marksOf(
  view: ReturnType<typeof viewOf>,
  ended: { readonly [path: string]: number },
): PackageMarks {
  const all: PackageMarks = {
    getEndings: () => ({ count: 0, isRefused: false }),
    begin: async () => undefined,
    end: async () => undefined,
  }
  const { batches } = splitIntoBatches(PACKAGES, { view, cluster: 'prod', marks: all })
  const pathOf = new Map(
    batches.flatMap(({ packages, keys }) =>
      keys.map((key, at) => [key, packages[at]?.path ?? ''] as const),
    ),
  )
  return {
    ...all,
    getEndings: (key) => {
      const count = ended[pathOf.get(key) ?? ''] ?? 0
      return { count, isRefused: count > 1 }
    },
  }
}

const pathsOf = (batches: ReturnType<typeof splitIntoBatches>['batches']): readonly string[][] =>
  batches.map(({ packages }) => packages.map(({ path }) => path))

test('packages are observed in batches of 64; one that killed a process is observed alone and last', () => {
  const view = viewOf('1')
  const { batches, refused } = splitIntoBatches(PACKAGES, {
    view,
    cluster: 'prod',
    marks: marksOf(view, { 'apps/p3': 1, 'apps/p9': 1 }),
  })
  assert.deepEqual(
    pathsOf(batches).map(({ length }) => length),
    [64, 4, 1, 1],
  )
  assert.deepEqual(pathsOf(batches).slice(2), [['apps/p3'], ['apps/p9']])
  assert.equal(refused.size, 0)
})

test('a package that killed two processes is refused with the reason, until its content or cluster changes', () => {
  const view = viewOf('1')
  const marks = marksOf(view, { 'apps/p3': 2 })
  const { batches, refused } = splitIntoBatches(PACKAGES, { view, cluster: 'prod', marks })
  assert.deepEqual(
    [...refused].map(([{ path }, { code, where, why }]) => [path, code, where, why]),
    [
      [
        'apps/p3',
        'BP1111',
        'apps/p3',
        '2 processes in a row ended while they observed this content of it, the last one this package alone',
      ],
    ],
  )
  assert.ok(!pathsOf(batches).flat().includes('apps/p3'))
  assert.ok(
    [...refused.values()].every((failure) => failure instanceof Failure && failure.remedy !== ''),
  )
  assert.equal(
    splitIntoBatches(PACKAGES, { view: viewOf('2'), cluster: 'prod', marks }).refused.size,
    0,
  )
  assert.equal(splitIntoBatches(PACKAGES, { view, cluster: 'test', marks }).refused.size, 0)
})

test('without marks no keys are computed', () => {
  const { batches } = splitIntoBatches(PACKAGES, {
    view: { tree: [] },
    cluster: 'prod',
    marks: undefined,
  })
  assert.deepEqual(
    batches.map(({ packages, keys }) => [packages.length, keys.length]),
    [
      [64, 0],
      [6, 0],
    ],
  )
})

test('the key of a package covers its folder and everything below, and nothing else', () => {
  const packages = ['', 'apps', 'apps/web', 'apps/web-2'].map((path) => ({ path }) as FoundPackage)
  const marks: PackageMarks = {
    getEndings: () => ({ count: 0, isRefused: false }),
    begin: async () => undefined,
    end: async () => undefined,
  }
  const keys = (changed: string): readonly string[] => {
    const tree = [
      'a.yaml',
      'apps/b.yaml',
      'apps/web/deep/c.yaml',
      'apps/web-2/d.yaml',
      '.drift/records/r.yaml',
    ].map((path) => ({
      path,
      mode: '100644' as const,
      id: parseObjectId((path === changed ? '1' : '0').padStart(40, '0')),
    }))
    return splitIntoBatches(packages, { view: { tree }, cluster: 'prod', marks }).batches.flatMap(
      (batch) => batch.keys,
    )
  }
  const before = keys('')
  const changedBy = (file: string): readonly string[] =>
    packages.flatMap(({ path }, at) => (keys(file)[at] === before[at] ? [] : [path]))
  assert.deepEqual(changedBy('apps/web/deep/c.yaml'), ['', 'apps', 'apps/web'])
  assert.deepEqual(changedBy('apps/web-2/d.yaml'), ['', 'apps', 'apps/web-2'])
  assert.deepEqual(changedBy('a.yaml'), [''])
  assert.deepEqual(changedBy('.drift/records/r.yaml'), [])
})
