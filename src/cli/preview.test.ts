/** `preview` over the world in memory: what a merge changes, and what of it is live. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { appliedBy } from '../../test/fakes/live-object.ts'
import {
  CONFIG,
  DEPLOYMENT,
  KPTFILE,
  policyText,
  TurnWorld,
  WEB,
  WEB_CONFIG,
  yaml,
} from '../../test/fakes/turn-world.ts'
import type { Preview, PreviewUnit } from '../record/documents/preview.ts'

type Files = { readonly [path: string]: string | null }

/** A world in sync, with the files on the branch `change`. */
function worldWith(change: Files, main: { readonly [path: string]: string } = {}): TurnWorld {
  const world = new TurnWorld('{mode: Propose}', main)
  world.repository.branches.set('refs/heads/change', world.repository.head('main'))
  world.repository.commitByHand('change', change)
  return world
}

async function documentOf(world: TurnWorld, ...argv: readonly string[]): Promise<Preview> {
  const { stdout, stderr } = await runInWorld(world, [
    'preview',
    '--head',
    'change',
    '-o',
    'json',
    ...argv,
  ])
  assert.notEqual(stdout, '', stderr)
  return JSON.parse(stdout) as Preview
}

async function changesOf(world: TurnWorld, ...argv: readonly string[]): Promise<readonly string[]> {
  const { items } = await documentOf(world, ...argv)
  return items.flatMap((unit) => unit.changes.map(lineOf))
}

function lineOf({
  ref,
  change,
  path,
  before,
  after,
  live,
  liveValue,
}: PreviewUnit['changes'][number]): string {
  const values =
    path === undefined ? '' : ` ${path} ${JSON.stringify(before)} ${JSON.stringify(after)}`
  return `${change} ${ref.kind}/${ref.name}${values} ${live}${liveValue === undefined ? '' : ` ${JSON.stringify(liveValue)}`}`
}

const SCALED = { 'apps/web/deployment.yaml': DEPLOYMENT.replace('replicas: 3', 'replicas: 5') }

test('shows for each change whether live has the old, the new or a third value', async () => {
  const world = worldWith(SCALED)
  const path = 'modified Deployment/web spec.replicas 3 5'
  assert.deepEqual(await changesOf(world), [`${path} before`])
  world.edit(WEB, 'spec.replicas', 5)
  assert.deepEqual(await changesOf(world), [`${path} after`])
  world.edit(WEB, 'spec.replicas', 7)
  assert.deepEqual(await changesOf(world), [`${path} other 7`])
  world.cluster.objects.delete(WEB)
  assert.deepEqual(await changesOf(world), [`${path} other`])
})

test('shows added and removed objects, and whether they are live', async () => {
  const added =
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: shop}\ndata: {a: b}\n'
  const world = worldWith({ 'apps/web/more.yaml': added, 'apps/web/config.yaml': null })
  assert.deepEqual(await changesOf(world), [
    'removed ConfigMap/web before',
    'added ConfigMap/more before',
  ])
  world.cluster.put(yaml(added.replace('a: b', 'a: c')))
  world.cluster.objects.delete(WEB_CONFIG)
  // Nothing of an object that the base branch does not declare is told, but that it differs.
  assert.deepEqual(await changesOf(world), [
    'removed ConfigMap/web after',
    'added ConfigMap/more other',
  ])
  world.cluster.put(yaml(added))
  assert.deepEqual(await changesOf(world), [
    'removed ConfigMap/web after',
    'added ConfigMap/more after',
  ])
})

test('added and removed packages are added and removed units', async () => {
  const world = worldWith({
    'apps/new/Kptfile': KPTFILE.replace('web', 'new'),
    'apps/new/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n',
    'apps/web/Kptfile': null,
    'apps/web/deployment.yaml': null,
    'apps/web/config.yaml': null,
  })
  const { items } = await documentOf(world)
  assert.deepEqual(
    items.map((unit) => [unit.package, unit.presence, unit.state, unit.changes.length]),
    [
      ['apps/new', 'new', 'changes', 1],
      ['apps/web', 'gone', 'changes', 2],
    ],
  )
})

test('names a unit that reads an edited file without change, and omits one that reads none', async () => {
  const world = worldWith(
    { 'apps/web/deployment.yaml': `${DEPLOYMENT}# a comment\n` },
    { 'apps/other/Kptfile': KPTFILE, 'apps/other/a.yaml': CONFIG },
  )
  const { items, untouched } = await documentOf(world)
  assert.deepEqual(
    items.map((unit) => [unit.package, unit.state, unit.edited]),
    [['apps/web', 'same', ['apps/web/deployment.yaml']]],
  )
  assert.equal(untouched, 1)
})

test('later changes on the base branch are not changes of the merge, even in the same file', async () => {
  const world = worldWith(SCALED)
  world.repository.commitByHand('main', {
    'apps/web/deployment.yaml': DEPLOYMENT.replace('value: blue', 'value: green'),
    'apps/web/config.yaml': CONFIG.replace('"5"', '"6"'),
  })
  const found = await documentOf(world)
  assert.deepEqual(
    found.items.flatMap((unit) => unit.changes.map(lineOf)),
    ['modified Deployment/web spec.replicas 3 5 before'],
  )
  assert.deepEqual(found.merge.conflicts, [])
})

test("a conflict is named, and the head's file is compared", async () => {
  const world = worldWith(SCALED)
  world.repository.commitByHand('main', {
    'apps/web/deployment.yaml': DEPLOYMENT.replace('replicas: 3', 'replicas: 4'),
  })
  const found = await documentOf(world)
  assert.deepEqual(found.merge.conflicts, ['apps/web/deployment.yaml'])
  assert.deepEqual(
    found.items.flatMap((unit) => unit.changes.map(lineOf)),
    ['modified Deployment/web spec.replicas 4 5 other 3'],
  )
})

test('values of Secrets and credentials are hidden on every side', async () => {
  const secret = (value: string): string =>
    `apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\ndata: {p: ${Buffer.from(value).toString('base64')}}\n`
  const config = (value: string): string => CONFIG.replace('color: blue', `password: ${value}`)
  const values = ['before-canary-1', 'after-canary-2', 'live-canary-3']
  const [before = '', after = '', live = ''] = values
  const world = worldWith(
    { 'apps/web/secret.yaml': secret(after), 'apps/web/config.yaml': config(after) },
    { 'apps/web/secret.yaml': secret(before), 'apps/web/config.yaml': config(before) },
  )
  world.edit('/Secret/shop/s', 'data.p', Buffer.from(live).toString('base64'))
  world.edit(WEB_CONFIG, 'data.password', live)
  const found = await documentOf(world)
  assert.deepEqual(
    found.items.flatMap((unit) =>
      unit.changes.map(({ ref, redacted, live: state }) => [ref.kind, redacted, state]),
    ),
    [
      ['Secret', true, 'other'],
      ['ConfigMap', true, 'other'],
    ],
  )
  for (const output of ['table', 'json', 'yaml', 'markdown']) {
    const { stdout, stderr } = await runInWorld(world, [
      'preview',
      '--head',
      'change',
      '-o',
      output,
    ])
    for (const value of values)
      for (const text of [value, Buffer.from(value).toString('base64')])
        assert.ok(!`${stdout}${stderr}`.includes(text), `${output}: ${text}`)
  }
})

test('for an object that the package does not cover no live value is shown', async () => {
  const theirs = (value: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs, namespace: theirs}\ndata: {color: ${value}}\n`
  const world = worldWith(
    { 'apps/web/theirs.yaml': theirs('red') },
    { 'apps/web/theirs.yaml': theirs('blue') },
  )
  // Somebody else applied it: the base branch only says so.
  world.cluster.put(appliedBy('another-syncer', yaml(theirs('red'))))
  assert.deepEqual(await changesOf(world), [
    'modified ConfigMap/theirs data.color "blue" "red" unknown',
  ])
  const placement =
    'apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: p}\nspec: {clusters: [prod], packages: [apps/web], allow: {namespaces: [NAME]}}\n'
  for (const [name, live] of [
    ['other', 'unknown'],
    ['shop', 'after'],
  ] as const) {
    const bound = worldWith(SCALED, { '.drift/placement.yaml': placement.replace('NAME', name) })
    bound.edit(WEB, 'spec.replicas', 5)
    assert.deepEqual(await changesOf(bound), [`modified Deployment/web spec.replicas 3 5 ${live}`])
  }
})

test('with an unreadable cluster the changes are listed, with why live is unknown', async () => {
  const world = worldWith(SCALED)
  world.cluster.unreachable = new Failure({
    code: 'BP3001',
    what: 'cannot observe prod',
    why: 'nobody answers',
    remedy: 'look at it',
  })
  const { code, stdout } = await runInWorld(world, [
    'preview',
    '--head',
    'change',
    '-o',
    'markdown',
  ])
  assert.equal(code, 0)
  assert.match(stdout, /`"?3"?` \| `"?5"?` \|/)
  assert.match(
    stdout,
    /\*\*The live state of `prod` is unknown\*\* \(`BP3001`\): nobody answers\. look at it\./,
  )
  assert.deepEqual(await changesOf(world), ['modified Deployment/web spec.replicas 3 5 unknown'])
})

test('without a kubeconfig the changes are listed with the reason', async () => {
  const openCluster = () =>
    Promise.reject(
      new Failure({
        code: 'BP1006',
        what: 'the kubeconfig cannot be used',
        why: 'there is none',
        remedy: 'name one',
      }),
    )
  const argv = ['preview', '--head', 'change', '--cluster', 'prod', '-o', 'markdown']
  const { code, stdout } = await runInWorld(worldWith(SCALED), argv, { openCluster })
  assert.equal(code, 0)
  assert.match(stdout, /Merging changes 1 object in 1 cluster/)
  assert.match(
    stdout,
    /\*\*The live state of `prod` is unknown\*\* \(`BP1006`\): there is none\. name one\./,
  )
  // A recording that is not there is a wrong path.
  assert.equal(
    (
      await runInWorld(worldWith(SCALED), ['preview', '--head', 'change', '--live', 'x'], {
        openCluster,
      })
    ).code,
    2,
  )
})

test('policies of the head are named but not used; those of the base branch apply', async () => {
  const world = worldWith({
    ...SCALED,
    '.drift/policy.yaml': policyText('{render: {tool: command, command: [/bin/sh, -c, id]}}'),
  })
  const found = await documentOf(world)
  assert.equal(found.policies, true)
  assert.deepEqual(
    found.items.map(({ state }) => state),
    ['changes'],
  )
  const broken = worldWith({ ...SCALED, '.drift/policy.yaml': 'not: [a policy' })
  assert.deepEqual(
    (await documentOf(broken)).items.map(({ state }) => state),
    ['changes'],
  )
})

test('covers only the named packages, which may exist on one side only', async () => {
  const world = worldWith({
    ...SCALED,
    'apps/new/Kptfile': KPTFILE,
    'apps/new/a.yaml': CONFIG.replaceAll('web', 'new'),
  })
  assert.deepEqual(
    (await documentOf(world, 'apps/new')).items.map((unit) => unit.package),
    ['apps/new'],
  )
  const { code, stderr } = await runInWorld(world, ['preview', '--head', 'change', 'apps/wbe'])
  assert.equal(code, 2)
  assert.match(stderr, /BP1004: there is no package "apps\/wbe"/)
})

test('a head is a branch, tag or commit; anything else is rejected with a remedy', async () => {
  const world = worldWith(SCALED)
  const commit = world.repository.head('change')
  for (const head of ['change', commit])
    assert.equal((await runInWorld(world, ['preview', '--head', head])).code, 0)
  for (const [argv, why] of [
    [['--head', 'chnage'], /BP1003: there is no branch, tag or commit "chnage"/],
    [[], /BP1001: nothing to preview is given/],
    [['--head', 'change', '--comment'], /BP1001: --comment needs a pull request/],
    [['--pull-request', '1'], /BP1001: there is no forge with pull requests/],
    [['--pull-request', 'x'], /BP1001/],
  ] as const) {
    const { code, stderr } = await runInWorld(world, ['preview', ...argv])
    assert.equal(code, 2)
    assert.match(stderr, why)
  }
})
