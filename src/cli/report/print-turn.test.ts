/** What `adopt` says of the plan and of the files that it edits. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePatch } from 'diff'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { CONFIG, TurnWorld, WEB, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'

const APP = 'spec.template.spec.containers[name=app]'

function drifted(config = CONFIG): TurnWorld {
  const world = new TurnWorld('{mode: Propose}', { 'apps/web/config.yaml': config })
  world.edit(WEB, 'spec.replicas', 5)
  world.edit(WEB, `${APP}.image`, 'nginx:1.28')
  world.edit(WEB_CONFIG, 'data.color', 'red')
  return world
}

test('prints the plan for the changes that were not named', async () => {
  const { stdout } = await runInWorld(drifted(), ['adopt', 'apps/web', 'configmap/web'])
  assert.match(stdout, /decides \(plan: adopt 1, restore 2\)$/m)
  assert.match(
    (await runInWorld(drifted(), ['adopt', 'apps/web'])).stdout,
    /decides \(plan: Adopt\)$/m,
  )
})

test('--dry-run prints the plan, every edited line and their diff, and writes nothing', async () => {
  const world = drifted()
  const pushed = () =>
    JSON.stringify([world.repository.pushes.length, ...world.repository.branches])
  const before = pushed()
  const { stdout } = await runInWorld(world, ['adopt', 'apps/web', 'deployment/web', '--dry-run'])
  assert.match(
    stdout,
    /^ {2}would edit apps\/web\/deployment\.yaml:9,14\n {2}plan: adopt 2, restore 1$/m,
  )
  const [patch, ...others] = parsePatch(stdout.slice(stdout.indexOf('--- ')))
  assert.deepEqual(
    [patch?.oldFileName, patch?.newFileName, others.length],
    ['git/apps/web/deployment.yaml', 'edited/apps/web/deployment.yaml', 0],
  )
  assert.match(stdout, /^- {2}replicas: 3 # for the day\n\+ {2}replicas: 5 # for the day$/m)
  assert.equal(pushed(), before)
})

test('the diff hides credentials near an edit and files with a Secret', async () => {
  const beside = `${CONFIG}  db-password: c4n4ry-beside\n`
  const shown = await runInWorld(drifted(beside), [
    'adopt',
    'apps/web',
    'configmap/web',
    '--dry-run',
  ])
  assert.match(shown.stdout, /^\+ {2}color: red$/m)
  assert.match(shown.stdout, /^ {3}db-password: hmac-sha256:[0-9a-f]{16} \(13 bytes\)$/m)
  const secret = `${CONFIG}---\napiVersion: v1\nkind: Secret\nmetadata: {name: web, namespace: shop}\nstringData: {a: c4n4ry-secret}\n`
  const hidden = await runInWorld(drifted(secret), [
    'adopt',
    'apps/web',
    'configmap/web',
    '--dry-run',
  ])
  assert.match(
    hidden.stdout,
    /would edit apps\/web\/config\.yaml:5\n.*\n {2}the lines of apps\/web\/config\.yaml are not shown: it holds a Secret/,
  )
  for (const { stdout } of [shown, hidden]) assert.doesNotMatch(stdout, /c4n4ry/)
})

test('scan reports once that the cluster agrees with a merged decision', async () => {
  const world = drifted()
  await runInWorld(world, ['adopt', 'apps/web', '-m', 'why'])
  await runInWorld(world, ['approve', 'apps/web', '--yes'])
  assert.match(
    (await runInWorld(world, ['scan', '--dry-run'])).stdout,
    /^✓ drift-[0-9a-f]{8} of apps\/web would be verified: /m,
  )
  const { stdout } = await runInWorld(world, ['scan'])
  assert.match(
    stdout,
    /^✓ drift-[0-9a-f]{8} of apps\/web is verified: \S+ agrees with the decision$/m,
  )
  assert.equal((await runInWorld(world, ['scan'])).stdout, '')
})

test('scan reports that the cluster still differs after its time limit', async () => {
  const world = drifted()
  await runInWorld(world, ['restore', 'apps/web'])
  await runInWorld(world, ['approve', 'apps/web', '--yes'])
  await runInWorld(world, ['scan'])
  world.pass(24 * 60)
  assert.match(
    (await runInWorld(world, ['scan'])).stdout,
    /^! drift-[0-9a-f]{8} of apps\/web is not settled: \S+ still differs from the decision$/m,
  )
})

test('a draft can become a proposal, and a proposal with a new plan is updated', async () => {
  const world = new TurnWorld('{mode: Warn}')
  world.edit(WEB, 'spec.replicas', 5)
  assert.match(
    (await runInWorld(world, ['scan'])).stdout,
    /^✓ recorded: drafts\/apps\/web\/drift-/m,
  )
  assert.match(
    (await runInWorld(world, ['adopt', 'apps/web', '--dry-run'])).stdout,
    /^✓ would be proposed: proposed\//m,
  )
  assert.match(
    (await runInWorld(world, ['adopt', 'apps/web'])).stdout,
    /^✓ proposed: proposed\/apps\/web\/drift-/m,
  )
  assert.match((await runInWorld(world, ['adopt', 'apps/web'])).stdout, /^✓ unchanged: proposed\//m)
  assert.match((await runInWorld(world, ['restore', 'apps/web'])).stdout, /^✓ updated: proposed\//m)
})

test('while a merged Restore is partly applied, scan and diff say which changes are decided', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  world.edit(WEB_CONFIG, 'data.color', 'red')
  await runInWorld(world, ['scan'])
  const [branch = ''] = world.repository.names().filter((name) => name.startsWith('proposed/'))
  const decided = branch.slice('proposed/apps/web/'.length)
  await runInWorld(world, ['approve', 'apps/web', '--yes'])
  assert.match(
    (await runInWorld(world, ['diff'])).stderr,
    new RegExp(
      `^note: apps/web in prod: 2 changes are decided by ${decided} \\(v1\\): they wait until the merged change is applied$`,
      'm',
    ),
  )
  world.edit(WEB, 'spec.replicas', 3, world.syncer)
  const { stdout, stderr } = await runInWorld(world, ['scan'])
  assert.match(stdout, /^1 change in 1 object of apps\/web/m)
  assert.match(
    stderr,
    new RegExp(
      `^note: apps/web in prod: 1 change is decided by ${decided} \\(v1\\): it waits until the merged change is applied$`,
      'm',
    ),
  )
  world.edit(WEB_CONFIG, 'data.color', 'green')
  assert.doesNotMatch((await runInWorld(world, ['scan'])).stderr, /decided by/)
})

test('fields that an apply cannot remove are not reported as waiting for an apply', async () => {
  const world = new TurnWorld()
  world.edit(WEB_CONFIG, 'data.color', 'red')
  world.edit(WEB_CONFIG, 'data.extra', 'yes')
  await runInWorld(world, ['scan'])
  assert.match(
    (await runInWorld(world, ['approve', 'apps/web', '--yes'])).stdout,
    /no apply removes the 1 added field: remove it by hand/,
  )
  const both = (await runInWorld(world, ['diff'])).stderr
  assert.match(
    both,
    /: 2 changes are decided by .*: apply the merged change, and remove by hand the 1 that no apply removes$/m,
  )
  world.edit(WEB_CONFIG, 'data.color', 'blue', world.syncer)
  assert.match(
    (await runInWorld(world, ['scan'])).stderr,
    /: 1 change is decided by .*: no apply removes it, so remove it by hand$/m,
  )
})

test('on a terminal diff says that nothing differs; a pipe gets no output', async () => {
  const world = new TurnWorld()
  assert.equal((await runInWorld(world, ['diff'])).stdout, '')
  const terminal = await runInWorld(world, ['diff', '--color', 'never'], { isTTY: true })
  assert.equal(terminal.stdout, '✓ nothing differs: 2 objects of apps/web\n')
  assert.equal((await runInWorld(world, ['diff', '-q'], { isTTY: true })).stdout, '')
  world.edit(WEB, 'spec.replicas', 5)
  for (const argv of [['diff'], ['diff', '--kind', 'ConfigMap'], ['diff', 'apps/none']])
    assert.doesNotMatch(
      (await runInWorld(world, argv, { isTTY: true })).stdout,
      /nothing differs/,
      argv.join(' '),
    )
})

const SECOND = {
  'apps/new/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: new}\n',
  'apps/new/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new, namespace: shop}\ndata: {color: blue}\n',
}

test('with several packages ignored changes are counted per package, and pull requests name theirs', async () => {
  const world = new TurnWorld('{mode: Propose, ignore: [{paths: [data.color], reason: x}]}', SECOND)
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.edit(WEB_CONFIG, 'data.color', 'red')
  const ignored = /^1 Ignored of apps\/web in \S+ \(no drift\): --show-ignored lists them$/m
  assert.match((await runInWorld(world, ['diff'])).stdout, ignored)
  assert.match(
    (await runInWorld(world, ['diff', 'apps/web'])).stdout,
    /^1 Ignored \(no drift\): --show-ignored lists them$/m,
  )
  const watched = await runInWorld(world, ['diff', '-w'], {
    waits: [() => world.edit(WEB, 'spec.replicas', 5)],
  })
  assert.match(watched.stdout.slice(watched.stdout.indexOf('spec.replicas')), ignored)
  const { stdout } = await runInWorld(world, ['scan'])
  assert.match(stdout, /^✓ proposed: #1 \(apps\/web\)$/m)
})
