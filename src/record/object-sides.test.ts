import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import { removedFrom } from '../../test/fakes/live-object.ts'
import { TurnWorld, WEB, WEB_CONFIG } from '../../test/fakes/turn-world.ts'
import type { Drift } from '../drift/compare/drift.ts'
import { buildObjectSides, type ObjectSides } from './object-sides.ts'

async function sidesOf(
  world: TurnWorld,
  shows: (drift: Drift) => boolean = () => true,
): Promise<ObjectSides[]> {
  const { units } = await world.scan({ dryRun: true })
  return units.flatMap((unit) => {
    if (unit.state === 'failed') throw unit.failures[0]
    const { verdicts, key } = unit.observation
    return verdicts.flatMap((verdict) => buildObjectSides(verdict, shows, key) ?? [])
  })
}

/** The lines that only one of the texts has, as a diff marks them. */
function between({ git = '', live = '' }: ObjectSides): string[] {
  const [left, right] = [git.split('\n'), live.split('\n')]
  return [
    ...left.filter((line) => !right.includes(line)).map((line) => `-${line}`),
    ...right.filter((line) => !left.includes(line)).map((line) => `+${line}`),
  ]
}

const APP = 'spec.template.spec.containers[name=app]'

test('the two texts differ exactly in the drift, and neither has server-set fields', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  world.edit(WEB, `${APP}.image`, 'nginx:1.28')
  const [sides, ...others] = await sidesOf(world)
  assert.ok(sides !== undefined && others.length === 0)
  assert.deepEqual(between(sides), [
    '-  replicas: 3',
    '-        image: nginx:1.27',
    '+  replicas: 5',
    '+        image: nginx:1.28',
  ])
  assert.doesNotMatch(
    `${sides.git}${sides.live}`,
    /managedFields|resourceVersion|uid|generation|creationTimestamp|^status/m,
  )
})

test('added fields leave no empty map on the git side, and an existing map stays', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'metadata.annotations["x/debug"]', 'on')
  world.edit(WEB, 'metadata.labels.team', 'shop')
  const [sides] = await sidesOf(world)
  assert.deepEqual(sides === undefined ? [] : between(sides), [
    '+  annotations:',
    '+    x/debug: "on"',
    '+    team: shop',
  ])
})

test('a removed list item keeps its position in git', async () => {
  const env = '- {name: A, value: a}\n        - {name: B, value: b}\n        - {name: C, value: c}'
  const world = new TurnWorld('{mode: Propose}', {
    'apps/web/job.yaml': `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: job, namespace: shop}\nspec:\n  template:\n    spec:\n      containers:\n      - name: app\n        env:\n        ${env}\n`,
  })
  world.cluster.change('apps/Deployment/shop/job', (live) =>
    removedFrom(live, `${APP}.env[name=B]`),
  )
  const [sides] = await sidesOf(world)
  assert.deepEqual(
    [...(sides?.git ?? '').matchAll(/name: ([ABC])/g)].map(([, name]) => name),
    ['A', 'B', 'C'],
  )
  assert.deepEqual(
    [...(sides?.live ?? '').matchAll(/name: ([ABC])/g)].map(([, name]) => name),
    ['A', 'C'],
  )
})

test('a missing object has only a git side, and an object in sync has neither', async () => {
  const world = new TurnWorld()
  world.cluster.objects.delete(WEB_CONFIG)
  const sides = await sidesOf(world)
  assert.deepEqual(
    sides.map(({ id, live }) => [id.kind, live]),
    [['ConfigMap', undefined]],
  )
  assert.match(sides[0]?.git ?? '', /^apiVersion: v1\ndata:\n {2}color: blue\n/)
})

test('an unselected change has its live value on both sides', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  world.edit(WEB, `${APP}.image`, 'nginx:1.28')
  const [sides] = await sidesOf(world, ({ reason }) => reason === 'APP-IMAGE')
  assert.ok(sides !== undefined)
  assert.deepEqual(
    between(sides).filter((line) => line.includes('replicas')),
    [],
  )
  assert.match(sides.git ?? '', /replicas: 5/)
})

test('a value hidden on one side is hidden on both, and so are nearby credentials', async () => {
  const world = new TurnWorld('{mode: Propose}', {
    'apps/web/config.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\ndata:\n  color: blue\n  password: c4n4ry-0\n  dsn: "mysql://a:c4n4ry-1@db"\n',
  })
  world.edit(WEB_CONFIG, 'data.color', 'postgres://app:c4n4ry-2@db/app')
  const [sides] = await sidesOf(world)
  const text = `${sides?.git}${sides?.live}`
  assert.doesNotMatch(text, /c4n4ry|blue/)
  assert.match(sides?.live ?? '', /color: hmac-sha256:[0-9a-f]{16} \(30 bytes\)/)
  assert.deepEqual(sides === undefined ? [] : between(sides).map((line) => line.slice(0, 9)), [
    '-  color:',
    '+  color:',
  ])
})

test('the content of a Secret is never shown, yet the texts differ where it drifted', async () => {
  const secret =
    'apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\ndata: {user: YzRuNHJ5, same: YzRuNHJ6}\n'
  const world = new TurnWorld('{mode: Propose}', { 'apps/web/secret.yaml': secret })
  world.edit('/Secret/shop/db', 'data.user', 'YzRuNHJ7' satisfies Json)
  const [sides] = await sidesOf(world)
  assert.doesNotMatch(`${sides?.git}${sides?.live}`, /YzRuNHJ/)
  assert.equal(sides === undefined ? 0 : between(sides).length, 2)
})
