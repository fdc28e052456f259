import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import {
  CONFIG,
  KPTFILE,
  refused,
  TurnWorld,
  WEB_CONFIG,
} from '../../../../test/fakes/turn-world.ts'
import { listUnitFailures } from '../../../plan/unit/unit-result.ts'
import { driftReportSchema } from '../../../record/documents/drift-report.ts'
import { parseDocument } from '../../../record/write-document.ts'

const SHOP_CONFIG = '/ConfigMap/shop/shop'

/** Two packages, each with one edit. */
function twoPackages(): TurnWorld {
  const world = new TurnWorld('{mode: Propose}', {
    'apps/shop/Kptfile': KPTFILE.replace('web', 'shop'),
    'apps/shop/config.yaml': CONFIG.replace('name: web', 'name: shop'),
  })
  world.edit(WEB_CONFIG, 'data.color', 'red')
  world.edit(SHOP_CONFIG, 'data.color', 'red')
  return world
}

function refuse(world: TurnWorld, isRefused: (ref: string) => boolean): void {
  world.repository.beforePush = (updates) => {
    const ref = updates.find((update) => isRefused(update.ref))?.ref
    if (ref === undefined) return
    throw new Failure({
      code: 'BP4002',
      what: 'the push was refused',
      where: ref,
      why: 'a rule',
      remedy: 'allow it',
    })
  }
}

/** State, lifecycle, and why it is held back, as the ledger has them. */
function statusOf(world: TurnWorld, slug: string): readonly unknown[] {
  const path =
    world.repository.paths('drift-ledger').find((each) => each.endsWith(`${slug}/report.yaml`)) ??
    ''
  const { status } = parseDocument(
    world.repository.text('drift-ledger', path) ?? '',
    driftReportSchema,
    path,
  )
  return [status.state, status.lifecycle, status.held?.reason]
}

test('all units of a turn are pushed together when no rule rejects them', async () => {
  const world = twoPackages()
  await world.scan()
  assert.equal(world.repository.pushes.length, 1)
  assert.equal(world.repository.names().length, 2)
})

test('a rejected ref affects only its unit, whose observation is recorded without a proposal', async () => {
  const world = twoPackages()
  refuse(world, (ref) => ref.includes('/apps/web/'))
  const { units, updates } = await world.scan()
  assert.deepEqual(
    units.map((unit) => [
      unit.state === 'planned' && unit.unit.packagePath,
      listUnitFailures(unit).map(({ code }) => code),
    ]),
    [
      ['apps/shop', []],
      ['apps/web', ['BP4002']],
    ],
  )
  const [branch = '', ...others] = world.repository.names()
  assert.match(branch, /^proposed\/apps\/shop\/drift-/)
  assert.deepEqual(others, [])
  assert.deepEqual(updates.map(({ ref }) => ref).toSorted(), [
    'refs/heads/drift-ledger',
    `refs/heads/${branch}`,
  ])
  assert.deepEqual(statusOf(world, 'apps--shop'), ['Drifted', 'Proposed', undefined])
  assert.deepEqual(statusOf(world, 'apps--web'), ['Drifted', '', 'refused'])
  assert.ok(
    !world.repository
      .paths('drift-ledger')
      .some((path) => path.startsWith('pushed/') && path.includes('web')),
  )
  world.repository.beforePush = () => undefined
  await world.scan()
  assert.equal(world.repository.names().length, 2)
  assert.deepEqual(statusOf(world, 'apps--web'), ['Drifted', 'Proposed', undefined])
})

test('the commits of a turn are created once, however many pushes it needs', async () => {
  const world = twoPackages()
  refuse(world, (ref) => ref.includes('/apps/web/'))
  const made: string[] = []
  const write = world.repository.write.bind(world.repository)
  world.repository.write = async (draft) => {
    if (draft.ref?.startsWith('refs/heads/proposed/') === true) made.push(draft.ref)
    return write(draft)
  }
  await world.scan()
  assert.equal(made.length, 2)
  assert.equal(new Set(made).size, 2)
})

test('if nothing can be pushed, the turn fails once with the reason', async () => {
  const world = twoPackages()
  refuse(world, () => true)
  await refused(world.scan(), 'BP4002')
  assert.deepEqual(world.repository.names(), [])
})

test('a ref that moves during unit-by-unit pushes makes the turn read again', async () => {
  const world = twoPackages()
  let pushes = 0
  world.repository.beforePush = (updates) => {
    pushes += 1
    if (pushes === 2) world.repository.commitByHand('drift-ledger', { 'clusters/other.yaml': 'x' })
    if (!updates.some(({ ref }) => ref.includes('/apps/web/'))) return
    throw new Failure({
      code: 'BP4002',
      what: 'the push was refused',
      why: 'a rule',
      remedy: 'allow it',
    })
  }
  const { units } = await world.scan()
  assert.deepEqual(
    units.flatMap(listUnitFailures).map(({ code }) => code),
    ['BP4002'],
  )
  assert.ok(world.repository.paths('drift-ledger').includes('clusters/other.yaml'))
  assert.ok(world.repository.paths('drift-ledger').some((path) => path.includes('apps--shop')))
})
