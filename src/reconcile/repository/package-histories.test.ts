import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TreeFile } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import { InProcessRenderer } from '../../../test/fakes/in-process-renderer.ts'
import { MemoryRepository } from '../../../test/fakes/memory-repository.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import { loadPackage } from '../observe/load-package.ts'
import { type RepositoryView, readRepository } from './repository-view.ts'
import { PackageHistories } from './sources/package-history.ts'

const { signal } = new AbortController()
const KPTFILE = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: web}\n'
const CONFIG = 'apps/web/config.yaml'

function config(color: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {color: ${color}}\n`
}

class CountingRepository extends MemoryRepository {
  reads = 0

  override commit(id: ObjectId): ReturnType<MemoryRepository['commit']> {
    this.reads += 1
    return super.commit(id)
  }

  override list(...args: Parameters<MemoryRepository['list']>): Promise<TreeFile[]> {
    this.reads += 1
    return super.list(...args) as Promise<TreeFile[]>
  }

  override read(
    ...args: Parameters<MemoryRepository['read']>
  ): ReturnType<MemoryRepository['read']> {
    this.reads += 1
    return super.read(...args)
  }
}

/** What a turn asks for, and how many reads that took. */
async function turn(
  repository: CountingRepository,
  histories: PackageHistories,
  renderer = new InProcessRenderer(),
  namespace = 'shop',
) {
  const view: RepositoryView = await readRepository(repository, 'main', signal)
  const [found] = view.packages
  assert.ok(found !== undefined)
  const { desired } = await loadPackage(
    view,
    found,
    { cluster: 'test', renderer: new InProcessRenderer() },
    signal,
  )
  const before = repository.reads
  const history = await histories.read(
    { view, renderer, namespace },
    { packagePath: found.path, outside: [], desired },
    signal,
  )
  return { history, reads: repository.reads - before }
}

function changed(times: number): CountingRepository {
  const repository = new CountingRepository()
  repository.commitByHand('main', { 'apps/web/Kptfile': KPTFILE })
  for (let index = 0; index < times; index += 1)
    repository.commitByHand('main', { [CONFIG]: config(`c${index}`) })
  return repository
}

test('the history of a package is read once over all turns, and then only new commits', async () => {
  const repository = changed(10)
  const histories = new PackageHistories()
  const first = await turn(repository, histories)
  assert.ok(first.reads > 20, String(first.reads))
  for (let turns = 0; turns < 5; turns += 1)
    assert.deepEqual(await turn(repository, histories), { history: first.history, reads: 0 })
  repository.commitByHand('main', { 'README.md': 'another file' })
  const moved = await turn(repository, histories)
  assert.deepEqual(
    [moved.reads <= 3, moved.history.versions.length],
    [true, first.history.versions.length],
  )
  repository.commitByHand('main', { [CONFIG]: config('new') })
  const changedOnce = await turn(repository, histories)
  assert.deepEqual(
    [changedOnce.reads <= 3, changedOnce.history.versions.length],
    [true, first.history.versions.length + 1],
  )
  // Another place of the objects is another history.
  assert.ok((await turn(repository, histories, undefined, 'elsewhere')).reads > 20)
})

test('clusters that ask at the same time share one read', async () => {
  const repository = changed(10)
  const alone = await turn(repository, new PackageHistories())
  const histories = new PackageHistories()
  const view = await readRepository(repository, 'main', signal)
  const [found] = view.packages
  assert.ok(found !== undefined)
  const renderer = new InProcessRenderer()
  const { desired } = await loadPackage(view, found, { cluster: 'test', renderer }, signal)
  const before = repository.reads
  const ask = () =>
    histories.read(
      { view, renderer, namespace: 'shop' },
      { packagePath: found.path, outside: [], desired },
      signal,
    )
  await Promise.all([ask(), ask(), ask(), ask()])
  assert.equal(repository.reads - before, alone.reads)
})

test('a version with a transient render failure is retried; a permanent failure is not', async () => {
  for (const [retry, again] of [
    ['backoff', true],
    ['on-change', false],
  ] as const) {
    const repository = changed(3)
    const histories = new PackageHistories()
    const renderer = new InProcessRenderer()
    const render = renderer.render.bind(renderer)
    const failure = new Failure({
      code: 'BP1203',
      what: 'cannot render',
      why: 'the program took too long',
      remedy: 'wait',
      retry,
    })
    let failing = true
    renderer.render = async (...args) => (failing ? { failures: [failure] } : render(...args))
    const short = await turn(repository, histories, renderer)
    failing = false
    const later = await turn(repository, histories, renderer)
    assert.equal(later.reads > 0, again)
    assert.equal(later.history.versions.length > short.history.versions.length, again)
  }
})

test('a continued history equals a history read from scratch, whatever was committed', async () => {
  const step: fc.Arbitrary<Readonly<Record<string, string | null>>> = fc.oneof(
    fc.constantFrom('red', 'blue', 'green').map((color) => ({ [CONFIG]: config(color) })),
    fc.constant({ [CONFIG]: 'a: [' }),
    fc.integer({ max: 9 }).map((number) => ({ 'README.md': String(number) })),
    fc.constant({ [CONFIG]: null }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ files: step, observe: fc.boolean() }), { maxLength: 30 }),
      async (steps) => {
        const repository = changed(1)
        const histories = new PackageHistories()
        let files: Readonly<Record<string, string | null>> = {}
        for (const one of steps) {
          // What is not there cannot be removed.
          if (one.files[CONFIG] === null && files[CONFIG] === null) continue
          files = { ...files, ...one.files }
          repository.commitByHand('main', one.files)
          if (!one.observe || files[CONFIG] === 'a: [') continue
          const { history } = await turn(repository, histories)
          const { history: fresh } = await turn(repository, new PackageHistories())
          // What is older than a content that was left out for room is not compared.
          if (fresh.complete && history.complete) assert.deepEqual(history, fresh)
        }
      },
    ),
    { numRuns: 60 },
  )
})
