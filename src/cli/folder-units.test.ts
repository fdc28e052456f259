/** Folders without a Kptfile as units: found, compared, recorded, proposed, decided. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'

/** The package of the world without its Kptfile, with one hand edit. */
function folderWorld(files: { readonly [path: string]: string } = {}): TurnWorld {
  const world = new TurnWorld()
  world.repository.commitByHand('main', { 'apps/web/Kptfile': null, ...files })
  world.edit(WEB, 'spec.replicas', 5)
  return world
}

const PATH = ['--path', 'apps/web']

test('without a Kptfile the error names the folders with manifests, and how to compare one', async () => {
  for (const argv of [['diff'], ['diff', 'apps'], ['scan'], ['render']]) {
    const { code, stderr } = await runInWorld(folderWorld(), argv)
    assert.equal(code, 2, argv.join(' '))
    assert.match(stderr, /^error BP1004: /)
    assert.match(stderr, /manifests are in apps\/web \(2 objects\)/, argv.join(' '))
    assert.match(stderr, /fix: name the folders to compare, in one of three ways:\n/)
    assert.match(
      stderr,
      /^ +by the resource of a syncer: .*\n +by its folder: --path apps\/web, .*\n +as a package of kpt: /m,
    )
  }
})

test('the example is an unreferenced kustomization, or the folder nearest to a wrong name', async () => {
  const kustomizations = {
    'apps/web/kustomization.yaml': 'resources: [deployment.yaml]\n',
    'overlays/prod/kustomization.yaml': 'resources:\n- ../../apps/web\n',
  }
  assert.match(
    (await runInWorld(folderWorld(kustomizations), ['diff'])).stderr,
    /--path overlays\/prod,/,
  )
  const wrong = await runInWorld(folderWorld(kustomizations), ['diff', 'apps/wbe'])
  assert.match(wrong.stderr, /manifests are in apps\/web/)
  assert.match(wrong.stderr, /--path apps\/web,/)
})

test('without any manifest the error says so, and a Helm chart is no example', async () => {
  const none = { 'apps/web/deployment.yaml': null, 'apps/web/config.yaml': null }
  const world = folderWorld()
  world.repository.commitByHand('main', none)
  assert.match((await runInWorld(world, ['diff'])).stderr, /no file of the commit is a manifest\n/)
  world.repository.commitByHand('main', {
    'chart/Chart.yaml': 'name: c\n',
    'chart/templates/a.yaml': 'apiVersion: v1\nkind: ConfigMap\n',
  })
  const { stderr } = await runInWorld(world, ['diff'])
  assert.match(stderr, /manifests are in chart \(a Helm chart\)\n/)
  assert.match(stderr, /--path FOLDER,/)
})

test('a wrong name beside packages is answered with their names', async () => {
  const { stderr } = await runInWorld(new TurnWorld(), ['diff', 'apps/wbe'])
  assert.match(stderr, /fix: name one of: apps\/web/)
  assert.doesNotMatch(stderr, /manifests are in/)
})

test('lists a bounded number of folders: largest first, charts last, no workflows', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [
      `some/f${at}/a.yaml`,
      'apiVersion: v1\nkind: ConfigMap\n',
    ]),
  )
  const world = folderWorld({
    ...many,
    'big/all.yaml':
      'apiVersion: v1\nkind: ConfigMap\n---\napiVersion: v1\nkind: Secret\n---\napiVersion: v1\nkind: Service\n---\nonly: values\n',
    'big/kustomization.yaml': 'resources: [all.yaml]\n',
    'chart/Chart.yaml': 'name: c\n',
    'chart/templates/a.yaml': 'apiVersion: v1\nkind: ConfigMap\n',
    '.github/workflows/a.yaml': 'apiVersion: v1\nkind: ConfigMap\n',
  })
  const { stderr } = await runInWorld(world, ['diff'])
  assert.match(
    stderr,
    /manifests are in big \(3 objects and a kustomization\), apps\/web \(2 objects\), .*, and 15 more$/m,
  )
  assert.doesNotMatch(stderr, /github/)
})

test('--path compares the folder and finds the same drift as for a package', async () => {
  const { code, stdout, stderr } = await runInWorld(folderWorld(), ['diff', ...PATH])
  assert.equal(code, 1, stderr)
  assert.match(stdout, /of apps\/web in prod/)
  assert.match(stdout, /replicas/)
})

test('a missing folder is rejected, and a folder inside a package means that package', async () => {
  const wrong = await runInWorld(folderWorld(), ['diff', '--path', 'apps/wbe'])
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /BP1004: there is no folder "apps\/wbe"/)
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  assert.match((await runInWorld(world, ['diff', ...PATH])).stdout, /of apps\/web in prod/)
})

test('scan records a folder on a proposed branch with only the record, without a Kptfile', async () => {
  const world = folderWorld()
  const { code, stderr } = await runInWorld(world, ['scan', ...PATH])
  assert.equal(code, 1, stderr)
  const [branch = ''] = world.repository.names().filter((name) => name.startsWith('proposed/'))
  assert.match(branch, /^proposed\/apps\/web\/drift-[0-9a-f]{8}$/)
  const added = world.repository
    .paths(branch)
    .filter((path) => !world.repository.paths('main').includes(path))
  assert.equal(added.length, 1)
  assert.match(added[0] ?? '', /^\.drift\/records\/prod\/apps--web\//)
  for (const argv of [
    ['status'],
    ['get', 'drifts'],
    ['get', 'packages', ...PATH],
    ['explain', 'apps/web'],
    ['history'],
  ])
    assert.ok([0, 1].includes((await runInWorld(world, argv)).code), argv.join(' '))
  assert.match((await runInWorld(world, ['status'])).stdout, /apps\/web +.*Drifted/)
})

for (const resolution of ['adopt', 'restore', 'release']) {
  test(`${resolution} and approve work on a recorded folder by its name alone`, async () => {
    const world = folderWorld()
    await runInWorld(world, ['scan', ...PATH])
    const created = await runInWorld(world, [resolution, 'apps/web'])
    assert.equal(created.code, 0, created.stderr)
    assert.ok(world.repository.names().some((name) => name.startsWith('proposed/apps/web/drift-')))
    const merged = await runInWorld(world, ['approve', 'apps/web', '--yes'])
    assert.equal(merged.code, 0, `${merged.stdout}${merged.stderr}`)
    assert.equal(
      world.repository.text('main', 'apps/web/deployment.yaml')?.includes('replicas: 5'),
      resolution === 'adopt',
    )
    assert.ok(!world.repository.paths('main').includes('apps/web/Kptfile'))
  })
}

test('a Placement names folders by globs, and only those that it names run in the cluster', async () => {
  const placement = (paths: string): string =>
    `apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: p}\nspec: {clusters: [prod], paths: [${paths}]}\n`
  for (const paths of ['"apps/*"', 'apps/web/', '"**"']) {
    const { code, stdout, stderr } = await runInWorld(
      folderWorld({ '.drift/placement.yaml': placement(paths) }),
      ['diff'],
    )
    assert.equal(code, 1, `${paths} ${stderr}`)
    assert.match(stdout, /of apps\/web in prod/)
  }
  const other = await runInWorld(folderWorld({ '.drift/placement.yaml': placement('other/*') }), [
    'diff',
  ])
  assert.equal(other.code, 2)
})

test('rejects with the reason a nested kustomization, a chart and a folder without objects', async () => {
  const cases: readonly (readonly [{ readonly [path: string]: string }, RegExp])[] = [
    [
      { 'apps/web/prod/kustomization.yaml': 'resources: []\n' },
      /kustomize makes the objects of apps\/web\/prod/,
    ],
    [{ 'apps/web/chart/Chart.yaml': 'name: c\n' }, /Helm makes the objects of apps\/web\/chart/],
    [
      { 'apps/web/deployment.yaml': '# nothing\n', 'apps/web/config.yaml': '# nothing\n' },
      /there is no object in apps\/web/,
    ],
  ]
  for (const [files, why] of cases) {
    const { code, stderr } = await runInWorld(folderWorld(files), ['diff', ...PATH])
    assert.equal(code, 2)
    assert.match(stderr, why)
  }
})

test('a package below the folder is a unit of its own, and its files are not the folder’s', async () => {
  const world = folderWorld({
    'apps/web/below/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: below\n',
    'apps/web/below/config.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: below, namespace: shop}\n',
  })
  const folder = await runInWorld(world, ['diff', ...PATH])
  assert.match(folder.stdout, /replicas/)
  assert.doesNotMatch(folder.stdout, /below/)
  assert.match((await runInWorld(world, ['diff', 'apps/web/below'])).stdout, /below/)
})

test('render -o unwrap prints the objects of a folder; resourcelist is rejected', async () => {
  const run = await runInWorld(folderWorld(), ['render', ...PATH, '-o', 'unwrap'])
  assert.equal(run.code, 0, run.stderr)
  assert.match(run.stdout, /^kind: Deployment$/m)
  assert.match(run.stdout, /^---$/m)
  const list = await runInWorld(folderWorld(), ['render', ...PATH, '-o', 'resourcelist'])
  assert.equal(list.code, 2)
  assert.match(list.stderr, /apps\/web has no rendered files/)
  assert.match(
    (await runInWorld(folderWorld(), ['render', ...PATH])).stdout,
    /apps\/web {2}2 objects, rendered from its files as they are: it has no Kptfile/,
  )
})

const UNREACHABLE = async (): Promise<never> => {
  throw new Failure({ code: 'BP3001', what: 'cannot read', why: 'refused', remedy: 'wait' })
}

test('a scan without names covers recorded folders, so that Unknown after an outage ends', async () => {
  for (const path of ['apps/web', '.']) {
    const world = folderWorld()
    assert.equal((await runInWorld(world, ['scan', '--path', path])).code, 1)
    world.cluster.identify = UNREACHABLE
    assert.equal((await runInWorld(world, ['scan'])).code, 3)
    assert.equal((await runInWorld(world, ['status'])).code, 3)
    Reflect.deleteProperty(world.cluster, 'identify')
    const again = await runInWorld(world, ['scan'])
    assert.equal(again.code, 1, again.stderr)
    const { code, stdout } = await runInWorld(world, ['status'])
    assert.equal(code, 1, stdout)
    assert.match(stdout, /Drifted/)
  }
})

test('a folder recorded in another cluster is not scanned in this one', async () => {
  const world = folderWorld({
    'apps/shop/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n',
    'apps/shop/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n',
  })
  await runInWorld(world, ['scan', ...PATH])
  world.cluster.name = 'edge'
  world.cluster.uid = 'uid-edge'
  await runInWorld(world, ['scan'])
  const recorded = world.repository
    .paths('drift-ledger')
    .filter((path) => path.endsWith('report.yaml'))
  assert.deepEqual(recorded, [
    'clusters/edge/apps--shop/report.yaml',
    'clusters/prod/apps--web/report.yaml',
  ])
})

test('when only another cluster has folders, scan still lists the folders with manifests', async () => {
  const world = folderWorld()
  await runInWorld(world, ['scan', ...PATH])
  world.cluster.name = 'edge'
  world.cluster.uid = 'uid-edge'
  const { code, stderr } = await runInWorld(world, ['scan'])
  assert.equal(code, 2)
  assert.match(stderr, /BP1004: .*\n.*manifests are in apps\/web/)
})

test('a package that lost its Kptfile does not become a folder unit from the ledger', async () => {
  const world = new TurnWorld('{mode: Warn}', {
    'apps/shop/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n',
    'apps/shop/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n',
  })
  await runInWorld(world, ['scan'])
  world.repository.commitByHand('main', { 'apps/web/Kptfile': null })
  world.edit(WEB, 'spec.replicas', 5)
  const { code, stdout } = await runInWorld(world, ['scan'])
  assert.equal(code, 0, stdout)
})

test('an outage does not report a package that scans no longer cover', async () => {
  const world = new TurnWorld('{mode: Warn}', {
    'apps/shop/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n',
    'apps/shop/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n',
  })
  await runInWorld(world, ['scan'])
  world.repository.commitByHand('main', { 'apps/shop/Kptfile': null, 'apps/shop/a.yaml': null })
  world.cluster.identify = UNREACHABLE
  await runInWorld(world, ['scan'])
  Reflect.deleteProperty(world.cluster, 'identify')
  assert.equal((await runInWorld(world, ['scan'])).code, 0)
  assert.equal((await runInWorld(world, ['status'])).code, 0)
})

test('the repository folder is rejected when a package named root exists', async () => {
  const world = new TurnWorld()
  world.repository.commitByHand('main', {
    'apps/web/Kptfile': null,
    'root/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: root\n',
    'root/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n',
  })
  const both = await runInWorld(world, ['scan', '--path', '.', 'root'])
  assert.equal(both.code, 2, both.stderr)
  assert.match(
    both.stderr,
    /BP4004: the repository as a folder and the package root cannot both be compared/,
  )
  assert.deepEqual(
    world.repository.paths('drift-ledger').filter((path) => path.endsWith('report.yaml')),
    ['clusters/prod/root/report.yaml'],
  )
  assert.match((await runInWorld(world, ['status'])).stdout, /prod +root +/)
})
