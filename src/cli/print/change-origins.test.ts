/** Where values in git come from, as `diff -o wide` and `explain` print it, of units that other tools than kpt render. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { InProcessRenderer } from '../../../test/fakes/in-process-renderer.ts'
import { appliedBy } from '../../../test/fakes/live-object.ts'
import { KPTFILE, policyText, TurnWorld, WEB_CONFIG, yaml } from '../../../test/fakes/turn-world.ts'
import { addPackageBuilds } from '../../adapters/functions/package-builds.ts'
import type { PackageRenderer } from '../../sources/kpt/render/package-renderer.ts'

const CONFIG =
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {size: "6"}\n'
const FILES = {
  'units/prod/Kptfile': KPTFILE,
  'units/prod/kustomization.yaml':
    'namespace: shop\nresources: [config.yaml]\npatches:\n- path: size.yaml\n',
  'units/prod/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {size: "5"}\n',
  'units/prod/size.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {size: "6"}\n',
}
const MARKED = CONFIG.replace(
  'shop}',
  'shop, annotations: {config.kubernetes.io/origin: "path: config.yaml\\n"}}',
)

/** A unit whose one object is edited in the cluster, and a renderer that prints it. */
function edited(
  render: string,
  text: string,
  field = 'data.size',
): { readonly world: TurnWorld; readonly renderer: PackageRenderer } {
  const policy = policyText(
    `{mode: Propose, priority: 9, match: {packages: ["units/**"]}, render: ${render}}`,
  )
  const world = new TurnWorld('{mode: Propose}', {
    ...FILES,
    '.drift/units.yaml': policy.replace('name: test', 'name: units'),
  })
  world.cluster.put(appliedBy(world.syncer, yaml(CONFIG)))
  world.edit('/ConfigMap/shop/settings', field, '7')
  const renderer = addPackageBuilds(new InProcessRenderer(), {
    library: { built: () => ({ text }) },
    build: async () => ({ text }),
  })
  return { world, renderer }
}

const KUSTOMIZE = '{tool: kustomize}'
const COMMAND = '{tool: command, command: [jsonnet, main.jsonnet]}'

test('diff -o wide shows the origins of a kustomize field, and plain diff does not', async () => {
  const { world, renderer } = edited(KUSTOMIZE, MARKED)
  const { stdout } = await runInWorld(world, ['diff', 'units/prod', '-o', 'wide'], { renderer })
  assert.match(
    stdout,
    /^ +units\/prod\/config\.yaml:4:14\n +written by the patch units\/prod\/size\.yaml:4:14, which decides$/m,
  )
  assert.doesNotMatch(
    (await runInWorld(world, ['diff', 'units/prod'], { renderer })).stdout,
    /written by/,
  )
})

test('explain shows the origins in the git row', async () => {
  const { world, renderer } = edited(KUSTOMIZE, MARKED)
  const { stdout } = await runInWorld(world, ['explain', 'units/prod'], { renderer })
  assert.match(
    stdout,
    /^ {3}git {5}units\/prod\/config\.yaml:4:14\n {11}written by the patch units\/prod\/size\.yaml:4:14, which decides$/m,
  )
})

test('for a field only in the cluster, explain names the file it would go into', async () => {
  const { world, renderer } = edited(KUSTOMIZE, MARKED, 'data.color')
  const { stdout } = await runInWorld(world, ['explain', 'units/prod'], { renderer })
  assert.match(stdout, /^ {3}git {5}not there; it would go into units\/prod\/config\.yaml:4$/m)
})

test('for a unit rendered by a command, the command is named', async () => {
  const { world, renderer } = edited(COMMAND, CONFIG)
  const { stdout } = await runInWorld(world, ['explain', 'units/prod'], { renderer })
  assert.match(stdout, /^ {3}git {5}printed by jsonnet main\.jsonnet$/m)
  const more = edited(COMMAND, CONFIG, 'data.color')
  const wide = await runInWorld(more.world, ['diff', 'units/prod', '-o', 'wide'], {
    renderer: more.renderer,
  })
  assert.match(wide.stdout, /^ +not there; the object is printed by jsonnet main\.jsonnet$/m)
})

test('a unit of plain files has no origin lines', async () => {
  const world = new TurnWorld('{mode: Propose, render: {tool: files}}')
  world.edit(WEB_CONFIG, 'data.size', '7')
  const { stdout } = await runInWorld(world, ['explain', 'apps/web'])
  assert.match(stdout, /data\.size/)
  assert.doesNotMatch(stdout, /^ {3}git /m)
})

test('a Secret value from stringData has its line, in a kpt package and a kustomization', async () => {
  const secret =
    'apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: shop}\nstringData:\n  user: canary\n'
  const live = `apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: shop}\ndata: {user: ${Buffer.from('canary').toString('base64')}}\n`
  const other = Buffer.from('other').toString('base64')
  const world = new TurnWorld('{mode: Propose}', { 'apps/web/secret.yaml': secret })
  world.cluster.put(appliedBy(world.syncer, yaml(live)))
  world.edit('/Secret/shop/login', 'data.user', other)
  const { stdout } = await runInWorld(world, ['explain', 'apps/web'])
  assert.match(stdout, /^ {3}git {5}apps\/web\/secret\.yaml:5:9$/m)

  const files = {
    'units/prod/kustomization.yaml': 'resources: [config.yaml]\n',
    'units/prod/config.yaml': secret,
  }
  const printed = secret.replace(
    'shop}',
    'shop, annotations: {config.kubernetes.io/origin: "path: config.yaml\\n"}}',
  )
  const built = edited(KUSTOMIZE, printed)
  built.world.repository.commitByHand('main', files)
  built.world.cluster.put(appliedBy(world.syncer, yaml(live)))
  built.world.edit('/Secret/shop/login', 'data.user', other)
  const told = await runInWorld(built.world, ['explain', 'units/prod'], {
    renderer: built.renderer,
  })
  assert.match(told.stdout, /^ {3}git {5}units\/prod\/config\.yaml:5:9$/m)
})
