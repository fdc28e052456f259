/** A tag on a merged decision is set where the policy says so; what was decided is known in each case. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getPartAt } from '@backporch/kyaml/json'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { mergeByHand, TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import { listPendingSettles } from '../plan/unit/pending-settles.ts'
import { settleByWriting } from '../reconcile/turn/settle.ts'

type Source = 'package' | 'folder'

const PLACEMENT =
  'apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: p}\nspec: {clusters: [prod], paths: [apps/web]}\n'

const CASES: readonly (readonly [tags: string, source: Source, isTagged: boolean])[] = [
  ['', 'package', true],
  ['', 'folder', false],
  ['packages', 'package', true],
  ['packages', 'folder', false],
  ['all', 'package', true],
  ['all', 'folder', true],
  ['none', 'package', false],
  ['none', 'folder', false],
]

/** With one edit by hand, which is proposed. */
async function proposedWorld(tags: string, source: Source): Promise<TurnWorld> {
  const files = source === 'folder' ? { '.drift/placement.yaml': PLACEMENT } : {}
  const world = new TurnWorld(
    `{mode: Propose, settle: backporch${tags === '' ? '' : `, tags: ${tags}`}}`,
    files,
  )
  if (source === 'folder') world.repository.commitByHand('main', { 'apps/web/Kptfile': null })
  world.cluster.write = async () => world.edit(WEB, 'spec.replicas', 3, world.syncer)
  world.edit(WEB, 'spec.replicas', 5)
  const { code, stderr } = await runInWorld(world, ['scan'])
  assert.equal(code, 1, stderr)
  return world
}

function tagsIn(world: TurnWorld): readonly string[] {
  return [...world.repository.branches.keys()].filter((ref) => ref.startsWith('refs/tags/'))
}

async function settle(world: TurnWorld): Promise<void> {
  const [pending] = listPendingSettles(await world.scan())
  assert.ok(pending !== undefined, 'the merged decision is to be settled')
  await settleByWriting(
    { ...world.ports, writer: world.cluster },
    world.request(),
    pending,
    new AbortController().signal,
  )
}

for (const [tags, source, isTagged] of CASES) {
  const name = `tags: ${tags || '(not given)'}, a ${source}`

  test(`${name}: an approval ${isTagged ? 'is tagged' : 'has no tag'}; status, history and settling know it`, async () => {
    const world = await proposedWorld(tags, source)
    const approved = await runInWorld(world, ['approve', 'apps/web', '--yes'])
    assert.equal(approved.code, 0, approved.stderr)
    assert.deepEqual(tagsIn(world), isTagged ? ['refs/tags/apps/web/v1'] : [])
    assert.equal(/apps\/web v1 is published/.test(approved.stdout), isTagged, approved.stdout)
    assert.match(approved.stdout, /Restore merged into main at [0-9a-f]{7}/)
    const message = (await world.repository.commit(world.repository.head('main'))).message
    assert.match(
      message,
      isTagged
        ? /^Approving package revision apps\/web\/1, /m
        : /^Approving the proposal for apps\/web, /m,
    )
    const status = await runInWorld(world, ['status', '-o', 'json'])
    assert.equal(JSON.parse(status.stdout).items[0].spec.unit.revision, isTagged ? 'v1' : undefined)
    const history = await runInWorld(world, ['history'])
    assert.equal(history.code, 0, history.stderr)
    assert.match(
      history.stdout,
      new RegExp(` restore +Ada .* ${world.repository.head('main').slice(0, 7)}$`, 'm'),
    )
    assert.equal(getPartAt(world.cluster.objects.get(WEB), 'spec', 'replicas'), 3)
    assert.equal((await world.plan()).report.status.state, 'InSync')
  })

  test(`${name}: a manual merge ${isTagged ? 'is tagged' : 'has no tag'}, once, and is settled`, async () => {
    const world = await proposedWorld(tags, source)
    const [branch = ''] = world.repository.names()
    await mergeByHand(world, branch)
    world.repository.branches.delete(`refs/heads/${branch}`)
    const merge = world.repository.head('main')
    assert.equal((await world.plan()).report.status.state, 'Applying')
    assert.deepEqual(tagsIn(world), isTagged ? ['refs/tags/apps/web/v1'] : [])
    assert.match(
      world.repository.everything(),
      new RegExp(`outcome: Merged(?:.|\\n)*${merge}|${merge}(?:.|\\n)*outcome: Merged`),
    )
    await settle(world)
    assert.equal((await world.plan()).report.status.state, 'InSync')
    assert.deepEqual(tagsIn(world), isTagged ? ['refs/tags/apps/web/v1'] : [])
  })
}

test('a folder that an earlier version tagged gets no new tag, and its report no revision', async () => {
  const world = await proposedWorld('all', 'folder')
  assert.equal((await runInWorld(world, ['approve', 'apps/web', '--yes'])).code, 0)
  world.repository.commitByHand('main', {
    '.drift/policy.yaml':
      world.repository.text('main', '.drift/policy.yaml')?.replace(', tags: all', '') ?? null,
  })
  world.edit(WEB, 'spec.replicas', 7)
  await runInWorld(world, ['scan'])
  assert.equal((await runInWorld(world, ['approve', 'apps/web', '--yes'])).code, 0)
  assert.deepEqual(tagsIn(world), ['refs/tags/apps/web/v1'])
  const status = await runInWorld(world, ['status', '-o', 'json'])
  assert.equal(JSON.parse(status.stdout).items[0].spec.unit.revision, undefined)
})
