/** `scan --dry-run -o json` prints the plan: every action, and no value that is hidden. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { MemoryPorch } from '../../../test/fakes/memory-porch.ts'
import { assertSilent, worldWithSecrets } from '../../../test/fakes/secret-world.ts'
import { CONFIG, TurnWorld, WEB, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'
import { driftReportListSchema } from '../../record/documents/drift-report-list.ts'

function hosted(world: TurnWorld): MemoryForge {
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  forge.permissions.set('ada', 'write')
  return forge
}

// biome-ignore lint/suspicious/noExplicitAny: a document as a script reads it
type Printed = any

async function planOf(world: TurnWorld, ...argv: readonly string[]): Promise<readonly Printed[]> {
  const { stdout, stderr } = await runInWorld(world, [...argv, '--dry-run', '-o', 'json'])
  assertSilent(stdout + stderr, argv.join(' '))
  const { actions } = driftReportListSchema.parse(JSON.parse(stdout))
  assert.ok(actions !== undefined)
  return actions
}

const kindsOf = (actions: readonly Printed[]): string[] => actions.map(({ kind }) => kind)

/** Files of all commits of a push, by path. */
function filesOf(actions: readonly Printed[]): Map<string, Printed> {
  const units = actions.flatMap(({ kind, units, decided }) =>
    kind === 'push' ? [...units, ...decided] : [],
  )
  const commits = units.flatMap(({ writes }) => writes.commits)
  return new Map(
    commits.flatMap(({ changes }) => changes.map((file: Printed) => [file.path, file])),
  )
}

test('prints the actions for a drift in order, with title, labels and states', async () => {
  const world = new TurnWorld()
  hosted(world)
  world.edit(WEB, 'spec.replicas', 5)
  const actions = await planOf(world, 'scan')
  assert.deepEqual(kindsOf(actions), ['push', 'propose', 'keep-numbers', 'issues'])
  const [push, { action }] = actions
  assert.deepEqual(
    push.units.map(({ cluster, packagePath }: Printed) => [cluster, packagePath]),
    [['prod', 'apps/web']],
  )
  assert.match(action.wanted.title, /^chore\(drift\): restore Deployment\/web replicas to 3/)
  assert.deepEqual(action.wanted.labels, ['drift', 'drift-plan/restore', 'drift-risk/medium'])
  assert.deepEqual(
    action.followedBy.flatMap(({ statuses = [] }: Printed) =>
      statuses.map(({ context, state }: Printed) => `${context} ${state}`),
    ),
    ['drift/fresh', 'drift/render', 'drift/policy', 'drift/applier'].map(
      (name) => `${name} success`,
    ),
  )
  assert.deepEqual(world.repository.pushes, [])
})

test('a second plan pushes nothing, and a run that writes prints no plan', async () => {
  const world = new TurnWorld()
  const { stdout } = await runInWorld(world, ['scan', '-o', 'json'])
  assert.equal('actions' in JSON.parse(stdout), false)
  const [push, ...others] = await planOf(world, 'scan')
  assert.deepEqual([push.kind, push.units, others], ['push', [], []])
})

test('credentials in an edited file are hashed, and a file with a Secret is hidden', async () => {
  const beside = `${CONFIG}  db-password: c4n4ry-conf-0\n`
  const withSecret = `${CONFIG}---\napiVersion: v1\nkind: Secret\nmetadata: {name: web, namespace: shop}\nstringData: {a: c4n4ry-git-00}\n`
  for (const [config, shown] of [
    [beside, /color: red\n.*\n {2}db-password: hmac-sha256:[0-9a-f]{16} \(13 bytes\)\n$/],
    [withSecret, undefined],
  ] as const) {
    const world = new TurnWorld('{mode: Propose}', { 'apps/web/config.yaml': config })
    hosted(world)
    world.edit(WEB_CONFIG, 'data.color', 'red')
    const actions = await planOf(world, 'adopt', 'apps/web', 'configmap/web')
    const file = filesOf(actions).get('apps/web/config.yaml')
    if (shown === undefined) assert.deepEqual(file, { path: 'apps/web/config.yaml', hidden: true })
    else assert.match(file.content, shown)
  }
})

test('no action prints what people wrote on the forge', async () => {
  const world = worldWithSecrets()
  const forge = hosted(world)
  assert.deepEqual(kindsOf(await planOf(world, 'scan')), [
    ...['push', 'propose', 'keep-numbers', 'issues'],
  ])
  await runInWorld(world, ['scan'])
  forge.comment(1, 'ada', '/adopt 1\nthe password is c4n4ry-live-0')
  forge.comment(1, 'ada', '/ignore 1 -- KEDA')
  const [first] = forge.proposals
  assert.ok(first !== undefined)
  forge.proposals[0] = { ...first, body: `${first.body}\nc4n4ry-live-0` }
  const actions = await planOf(world, 'scan')
  const all = kindsOf(actions)
  for (const kind of ['acknowledge', 'propose', 'answer']) assert.ok(all.includes(kind), kind)
  assert.match(
    JSON.stringify(actions),
    /"known":\{"number":1,"label":"#1","url":"[^"]*","state":"open"\}/,
  )
})

test('a record that lands on the base branch is printed', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  await world.scan()
  const porch = new MemoryPorch(world.repository)
  porch.approve('apps/web', porch.workspaces('proposed', 'apps/web')[0] ?? '')
  const landing = (await planOf(world, 'scan')).find(({ kind }) => kind === 'land')
  assert.match(landing.commit.changes[0].path, /^\.drift\/records\/prod\/apps--web\//)
  assert.match(landing.commit.changes[0].content, /kind: DriftRecord/)
})
