import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import { formatFieldPath } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { marked } from '../../../test/fakes/inventory-world.ts'
import { removedFrom } from '../../../test/fakes/live-object.ts'
import { idOf } from '../../../test/fakes/memory-cluster.ts'
import { CONFIG, TurnWorld, WEB, WEB_CONFIG, yaml } from '../../../test/fakes/turn-world.ts'
import { settleByWriting } from '../../reconcile/turn/settle.ts'
import { listPendingSettles } from './pending-settles.ts'

const SETTLES = '{mode: Propose, settle: backporch}'

/** What the cluster was sent, as lines; nothing is changed in it, so one write is planned again and again. */
async function firstWrites(world: TurnWorld): Promise<string[]> {
  const turn = await world.scan()
  const pending = listPendingSettles(turn)
  for (const { record, commit } of pending) {
    const { writes } = world.cluster
    const stopAfterOne = {
      write: async (change: (typeof writes)[number]) => {
        writes.push(change)
        throw new Failure({ code: 'BP3011', what: 'enough', why: 'one is enough', remedy: '-' })
      },
    }
    await settleByWriting(
      { ...world.ports, writer: stopAfterOne },
      world.request(),
      { record, commit },
      new AbortController().signal,
    ).catch((thrown: unknown) => {
      if (!(thrown instanceof Failure) || thrown.code !== 'BP3011') throw thrown
    })
  }
  return world.cluster.writes.map((write) =>
    write.kind === 'apply'
      ? `apply ${JSON.stringify(write.resource.object['spec'] ?? write.resource.object['data'])}`
      : write.kind === 'remove-field'
        ? `remove ${formatFieldPath(write.path)} while ${JSON.stringify(write.expected)} at ${write.resourceVersion}`
        : write.kind === 'patch-fields'
          ? `patch ${write.fields.map(({ path }) => formatFieldPath(path)).join(', ')} at ${write.resourceVersion}`
          : `delete ${write.target.id.name} ${write.uid} at ${write.resourceVersion}`,
  )
}

const RESTORED: readonly (readonly [
  name: string,
  edit: (world: TurnWorld) => void,
  writes: readonly string[],
])[] = [
  [
    'a value applies only that field',
    (world) => world.edit(WEB, 'spec.replicas', 5),
    ['apply {"replicas":3}'],
  ],
  [
    'an added field removes it while it has the reviewed value',
    (world) => world.edit(WEB_CONFIG, 'data.extra', 'x'),
    ['remove data.extra while "x" at 2'],
  ],
  [
    'a removed field applies that field',
    (world) => world.cluster.change(WEB_CONFIG, (live) => removedFrom(live, 'data.size')),
    ['apply {"size":"5"}'],
  ],
  [
    'a missing object applies the whole object',
    (world) => world.cluster.objects.delete(WEB_CONFIG),
    ['apply {"color":"blue","size":"5"}'],
  ],
  [
    'a list item field applies it with the item key',
    (world) => world.edit(WEB, 'spec.template.spec.containers[name=app].image', 'evil'),
    ['apply {"template":{"spec":{"containers":[{"name":"app","image":"nginx:1.27"}]}}}'],
  ],
]

for (const [name, edit, writes] of RESTORED) {
  test(`a merged restore of ${name}`, async () => {
    const world = new TurnWorld(SETTLES)
    edit(world)
    await world.plan()
    assert.deepEqual(await firstWrites(world), [])
    await world.approve()
    assert.deepEqual(await firstWrites(world), writes)
  })
}

test('a merged restore is still written when other drift is open', async () => {
  const world = await after(SETTLES, (one) => one.approve())
  world.edit(WEB_CONFIG, 'data.color', 'red')
  const { units } = await world.scan()
  assert.deepEqual(
    units.map((unit) => unit.state === 'planned' && unit.plan.report.status.state),
    ['Drifted'],
  )
  assert.deepEqual(await firstWrites(world), ['apply {"replicas":3}'])
})

const SILENT: readonly (readonly [name: string, make: () => Promise<TurnWorld>])[] = [
  ['without a proposal', async () => edited(new TurnWorld(SETTLES))],
  [
    'before the merge',
    async () => {
      const world = edited(new TurnWorld(SETTLES))
      await world.plan()
      return world
    },
  ],
  ['after a rejection', async () => after(SETTLES, (world) => world.reject())],
  ['when the syncer settles', async () => after('{mode: Propose}', (world) => world.approve())],
  [
    'after an Adopt',
    async () =>
      after(SETTLES, async (world) => {
        await world.resolutionRequest('Adopt')
        await world.approve()
      }),
  ],
  [
    'after a Release',
    async () =>
      after(SETTLES, async (world) => {
        await world.resolutionRequest('Release')
        await world.approve()
      }),
  ],
  [
    'after verification, even if the same drift returns',
    async () => {
      const world = await after(SETTLES, (one) => one.approve())
      world.sync()
      await world.plan()
      return edited(world)
    },
  ],
  [
    'when the live value changed since the review',
    async () => {
      const world = await after(SETTLES, (one) => one.approve())
      world.edit(WEB, 'spec.replicas', 9)
      return world
    },
  ],
  [
    'when git changed since the review',
    async () => {
      const world = await after(SETTLES, (one) => one.approve())
      world.repository.commitByHand('main', {
        'apps/web/deployment.yaml': (
          world.repository.text('main', 'apps/web/deployment.yaml') ?? ''
        ).replace('replicas: 3', 'replicas: 4'),
      })
      return world
    },
  ],
  [
    'when the merge was reverted',
    async () => {
      const world = await after(SETTLES, (one) => one.approve())
      const record =
        world.repository.paths('main').find((path) => path.startsWith('.drift/records/')) ?? ''
      world.repository.commitByHand('main', { [record]: null })
      return world
    },
  ],
  [
    'when a draft was merged manually',
    async () => {
      const world = edited(new TurnWorld('{mode: Warn, settle: backporch}'))
      await world.plan()
      const [draft = ''] = world.repository.names()
      const changed = world.repository
        .paths(draft)
        .filter(
          (path) => world.repository.text(draft, path) !== world.repository.text('main', path),
        )
      world.repository.commitByHand(
        'main',
        Object.fromEntries(
          changed.map((path) => [path, world.repository.text(draft, path) ?? null]),
        ),
      )
      await world.plan()
      return world
    },
  ],
  [
    'when the object cannot be read',
    async () => {
      const world = await after(SETTLES, (one) => one.approve())
      world.cluster.unreadable.add(WEB)
      return world
    },
  ],
]

function edited(world: TurnWorld): TurnWorld {
  world.edit(WEB, 'spec.replicas', 5)
  return world
}

async function after(
  policy: string,
  decide: (world: TurnWorld) => Promise<unknown>,
): Promise<TurnWorld> {
  const world = edited(new TurnWorld(policy))
  await world.plan()
  await decide(world)
  return world
}

for (const [name, make] of SILENT) {
  test(`nothing is written to the cluster ${name}`, async () => {
    assert.deepEqual(await firstWrites(await make()), [])
  })
}

async function settleCode(world: TurnWorld): Promise<FailureCode | undefined> {
  try {
    await firstWrites(world)
    return undefined
  } catch (thrown) {
    return thrown instanceof Failure ? thrown.code : undefined
  }
}

test('an object with other drift is not written, since that apply was not reviewed', async () => {
  const world = await after(SETTLES, (one) => one.approve())
  const pending = listPendingSettles(await world.scan())
  world.edit(WEB, 'metadata.labels.team', 'x')
  const [first] = pending
  assert.ok(first !== undefined)
  await assert.rejects(
    settleByWriting(
      { ...world.ports, writer: world.cluster },
      world.request(),
      first,
      new AbortController().signal,
    ),
    (thrown) =>
      thrown instanceof Failure &&
      thrown.code === 'BP2005' &&
      /metadata\.labels\.team/.test(thrown.why),
  )
  assert.deepEqual(world.cluster.writes, [])
})

test('a record that is not on the base branch authorises no write', async () => {
  const world = edited(new TurnWorld(SETTLES))
  const { record } = await world.plan()
  assert.ok(record !== undefined)
  await assert.rejects(
    settleByWriting(
      { ...world.ports, writer: world.cluster },
      world.request(),
      { record, commit: world.repository.head('main') },
      new AbortController().signal,
    ),
    (thrown) => thrown instanceof Failure && thrown.code === 'BP3013',
  )
  assert.deepEqual(world.cluster.writes, [])
})

/** A live object that the inventory of the package lists and git does not have. */
function leftBehind(object: JsonObject, id: string): TurnWorld {
  const labels = '{cli-utils.sigs.k8s.io/inventory-id: inv-1}'
  const inventory = `apiVersion: kpt.dev/v1alpha1\nkind: ResourceGroup\nmetadata: {name: inv, namespace: shop, labels: ${labels}}\n`
  const world = new TurnWorld(SETTLES, { 'apps/web/resourcegroup.yaml': inventory })
  world.cluster.put({
    ...object,
    metadata: { ...(object['metadata'] as JsonObject), uid: 'u-9', resourceVersion: '77' },
  })
  world.cluster.inventory = { source: 'ResourceGroup shop/inv', resources: [idOf(id)] }
  return world
}

const LEFT = yaml(CONFIG.replace('name: web', 'name: left'))

test('an unexpected object is deleted with uid and resourceVersion preconditions', async () => {
  const world = leftBehind(LEFT, '/ConfigMap/shop/left')
  await world.plan()
  await world.approve()
  assert.equal(await settleCode(world), undefined)
  assert.deepEqual(await firstWrites(world), ['delete left u-9 at 77', 'delete left u-9 at 77'])
})

test('no object is deleted without a copy in the merged record, and the failure gives the reason', async () => {
  const world = leftBehind(LEFT, '/ConfigMap/shop/left')
  await world.plan()
  await world.approve()
  const path =
    world.repository.paths('main').find((name) => name.startsWith('.drift/records/')) ?? ''
  const text = world.repository.text('main', path) ?? ''
  assert.match(text, /^ {2}copies:$/m)
  world.repository.commitByHand('main', {
    [path]: text.replace(/^ {2}copies:\n(?: {2}- .*\n| {3,}.*\n)*/m, ''),
  })
  assert.equal(await settleCode(world), 'BP2015')
  assert.deepEqual(world.cluster.writes, [])
})

test('a namespace is never deleted, and other approved writes come first', async () => {
  const marks = { annotations: { 'config.k8s.io/owning-inventory': 'inv-1' } }
  const left = marked({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'left' } }, marks)
  const world = leftBehind(left, '/Namespace//left')
  world.cluster.change(WEB, (live) => marked(live, marks))
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  await world.approve()
  assert.deepEqual(await firstWrites(world), ['apply {"replicas":3}'])
  world.edit(WEB, 'spec.replicas', 3, world.syncer)
  assert.equal(await settleCode(world), 'BP2015')
})

test('an object that changed since its copy is not deleted', async () => {
  const world = leftBehind(LEFT, '/ConfigMap/shop/left')
  await world.plan()
  await world.approve()
  world.edit('/ConfigMap/shop/left', 'data.color', 'green')
  assert.deepEqual(await firstWrites(world), [])
})

test('an object that no apply restores has a copy, and later changes of it leave the proposal unchanged', async () => {
  const world = new TurnWorld(SETTLES)
  const failure = new Failure({
    code: 'BP3011',
    what: 'refused',
    why: 'spec.replicas is immutable',
    remedy: '-',
  })
  world.cluster.predict = async () => ({ state: 'refused', failure })
  world.edit(WEB, 'spec.replicas', 5)
  const { record } = await world.plan()
  assert.deepEqual(
    record?.spec.copies?.map(({ ref, manifest }) => [ref.kind, /replicas: 5/.test(manifest ?? '')]),
    [['Deployment', true]],
  )
  world.edit(
    WEB,
    'metadata.annotations["deployment.kubernetes.io/revision"]',
    '7',
    'kube-controller-manager',
  )
  const moved = await world.plan()
  assert.deepEqual([moved.report.spec.changes.length, moved.outcome], [1, 'unchanged'])
  world.edit(WEB, 'spec.replicas', 6)
  const changed = await world.plan()
  assert.equal(changed.outcome, 'updated')
  assert.match(
    changed.record?.spec.copies?.[0]?.manifest ?? '',
    /revision: "7"(?:.|\n)*replicas: 6/,
  )
})

test('the record of a draft authorises nothing, even on the base branch', async () => {
  const world = edited(new TurnWorld('{mode: Warn, settle: backporch}'))
  const { record, branch } = await world.plan()
  assert.ok(record !== undefined)
  const path =
    world.repository.paths(branch).find((name) => name.startsWith('.drift/records/')) ?? ''
  const commit = world.repository.commitByHand('main', {
    [path]: world.repository.text(branch, path) ?? null,
  })
  await assert.rejects(
    settleByWriting(
      { ...world.ports, writer: world.cluster },
      world.request(),
      { record, commit },
      new AbortController().signal,
    ),
    (thrown) => thrown instanceof Failure && thrown.code === 'BP3013',
  )
  assert.deepEqual(world.cluster.writes, [])
})
