import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { CONFIG, KPTFILE, TurnWorld } from '../../../test/fakes/turn-world.ts'
import { type DriftReport, driftReportSchema } from '../../record/documents/drift-report.ts'
import { parseDocument } from '../../record/write-document.ts'
import { TurnCache } from './turn-cache.ts'

const NAMES = ['a', 'b', 'c', 'd'] as const

class Scene {
  readonly world: TurnWorld
  readonly forge: MemoryForge
  readonly between = new TurnCache()

  readonly names: readonly string[]

  constructor(names: readonly string[] = NAMES) {
    this.names = names
    const files = names.flatMap((name) => [
      [`apps/${name}/Kptfile`, KPTFILE.replace('web', name)],
      [`apps/${name}/config.yaml`, CONFIG.replace('name: web', `name: ${name}`)],
    ])
    this.world = new TurnWorld('{mode: Propose}', Object.fromEntries(files))
    this.forge = new MemoryForge(this.world.repository)
    this.world.forge = this.forge
  }

  edit(color: string): void {
    for (const name of this.names) this.world.edit(`/ConfigMap/shop/${name}`, 'data.color', color)
  }

  /** A turn in which something else changes after each proposal. @returns packages whose proposals wait */
  async hurried(): Promise<string[]> {
    const { postponed } = await this.world.scan({
      between: this.between,
      meanwhile: { hasChanged: () => true, shouldGiveWay: () => true },
    })
    return postponed.map((unit) =>
      unit.state === 'planned' ? unit.unit.packagePath.replace('apps/', '') : '',
    )
  }

  /** Packages whose open pull request has the colour in its text. */
  shown(color: string): string[] {
    const open = this.forge.proposals.filter(
      ({ state, body }) => state === 'open' && body.includes(color),
    )
    return open.map(({ ref }) => ref.split('/')[4] ?? '').toSorted()
  }

  /** Packages of which the ledger has the colour. */
  recorded(color: string): string[] {
    return this.reports().flatMap(({ spec }) =>
      JSON.stringify(spec.changes).includes(color) ? [spec.unit.package.replace('apps/', '')] : [],
    )
  }

  /** Packages of which the ledger has an open proposal. */
  claimed(): string[] {
    return this.reports().flatMap(({ spec, status }) =>
      status.lifecycle === 'Proposed' ? [spec.unit.package.replace('apps/', '')] : [],
    )
  }

  private reports(): readonly DriftReport[] {
    const { repository } = this.world
    const paths = repository.paths('drift-ledger').filter((path) => path.endsWith('/report.yaml'))
    return paths
      .toSorted()
      .map((path) =>
        parseDocument(repository.text('drift-ledger', path) ?? '', driftReportSchema, path),
      )
  }

  branches(color: string): string[] {
    const { repository } = this.world
    const has = (branch: string): boolean =>
      repository
        .paths(branch)
        .some(
          (path) =>
            path.endsWith('.record') && (repository.text(branch, path) ?? '').includes(color),
        )
    return repository
      .names()
      .filter(has)
      .map((branch) => branch.split('/')[2] ?? '')
      .toSorted()
  }
}

test('with changes waiting, a turn pushes everything and writes one proposal; later turns write the rest once', async () => {
  const scene = new Scene()
  scene.edit('red')
  assert.deepEqual(await scene.hurried(), ['b', 'c', 'd'])
  assert.deepEqual(scene.branches('red'), [...NAMES], 'what is recorded waits for no pull request')
  assert.deepEqual(scene.shown('red'), ['a'])
  for (let turn = 0; turn < 3; turn += 1) await scene.hurried()
  assert.deepEqual(scene.shown('red'), [...NAMES])
  assert.equal(scene.forge.writes.filter((write) => write.startsWith('open ')).length, NAMES.length)
})

test('the open proposal updated longest ago is written first, with current live values', async () => {
  const scene = new Scene()
  scene.edit('red')
  await scene.world.scan({ between: scene.between })
  const colors = ['green', 'black', 'white', 'pink', 'brown', 'grey', 'gold', 'lime']
  const written: string[] = []
  for (const color of colors) {
    scene.edit(color)
    const before = new Map(scene.forge.proposals.map(({ ref, body }) => [ref, body]))
    await scene.hurried()
    for (const { ref, body } of scene.forge.proposals) {
      if (before.get(ref) === body) continue
      written.push(ref.split('/')[4] ?? '')
      assert.ok(body.includes(color), 'an outdated text is not sent')
    }
  }
  assert.deepEqual(written, [...NAMES, ...NAMES])
})

test('a turn that gives way pushes the ledger first, then at most six branches', async () => {
  const scene = new Scene(
    Array.from({ length: 12 }, (_each, index) => `p${String(index).padStart(2, '0')}`),
  )
  scene.edit('red')
  const { pushes } = scene.world.repository
  const postponed = await scene.hurried()
  assert.deepEqual(
    pushes.map(
      (updates) => updates.filter(({ ref }) => ref.startsWith('refs/heads/proposed/')).length,
    ),
    [0, 6, 0],
    'the last one has the numbers of the pull requests',
  )
  assert.deepEqual(scene.recorded('red'), scene.names, 'the ledger has all of them')
  assert.deepEqual(scene.claimed(), scene.branches('red'), 'and names no branch that is not there')
  assert.equal(postponed.length, 11, 'six branches, and five more pull requests')
  for (let turn = 0; turn < 11; turn += 1) await scene.hurried()
  assert.deepEqual(scene.shown('red'), scene.names)
  assert.deepEqual(scene.claimed(), scene.names)
  assert.equal(scene.forge.writes.filter((write) => write.startsWith('open ')).length, 12)
})

test('on a forge that limits pushes, one push moves all branches, and pull requests still give way', async () => {
  const scene = new Scene(
    Array.from({ length: 12 }, (_each, index) => `p${String(index).padStart(2, '0')}`),
  )
  const { repository } = scene.world
  repository.limitsPushes = true
  scene.edit('red')
  assert.equal((await scene.hurried()).length, 11)
  assert.deepEqual(
    repository.pushes.map((updates) => updates.length),
    [13, 1],
  )
  assert.deepEqual(scene.branches('red'), scene.names)
})

test('a one-shot command pushes the ledger, then every branch, in its turn', async () => {
  const scene = new Scene(
    Array.from({ length: 12 }, (_each, index) => `p${String(index).padStart(2, '0')}`),
  )
  scene.edit('red')
  const { postponed } = await scene.world.scan()
  assert.deepEqual(postponed, [])
  const [first, second] = scene.world.repository.pushes
  assert.deepEqual(
    first?.map(({ ref }) => ref),
    ['refs/heads/drift-ledger'],
  )
  assert.equal(second?.length, 13)
  assert.deepEqual(scene.shown('red'), scene.names)
})

test('after a process that ended early, the next one opens each missing proposal once', async () => {
  const scene = new Scene()
  scene.edit('red')
  await scene.hurried()
  await scene.world.scan()
  assert.deepEqual(scene.shown('red'), [...NAMES])
  assert.equal(scene.forge.writes.filter((write) => write.startsWith('open ')).length, NAMES.length)
  const sent = scene.forge.writes.length
  await scene.world.scan()
  assert.equal(scene.forge.writes.length, sent)
})
