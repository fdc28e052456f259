import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { KPTFILE, policyText, TurnWorld, WEB, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'

const DB = 'apps/StatefulSet/data/db'
const ROLE = 'rbac.authorization.k8s.io/ClusterRole//db-reader'
const LABELLED =
  'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: db, labels: {team: data, tier: "1"}}\n'
const DATABASE = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: data}
spec: {replicas: 2}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: db-reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`
const TWO = { 'apps/db/Kptfile': LABELLED, 'apps/db/database.yaml': DATABASE }

/** apps/web in namespace shop with four changes of two risks, apps/db in namespace data and cluster-wide, with two. */
function drifted(): TurnWorld {
  const world = new TurnWorld('{mode: Propose}', TWO)
  world.edit(WEB, 'spec.replicas', 5)
  world.edit(WEB, 'metadata.labels.extra', 'yes')
  world.edit(WEB_CONFIG, 'data.color', 'red')
  world.edit(WEB_CONFIG, 'metadata.annotations.extra', 'yes')
  world.edit(DB, 'spec.replicas', 3)
  world.edit(ROLE, 'metadata.labels.extra', 'yes')
  return world
}

function lines(text: string, pattern: RegExp): string[] {
  return text.split('\n').filter((line) => pattern.test(line))
}

const NUMBERED = /^ +[0-9]+ /

test('diff --risk hides other changes, counts them, and exits by what is shown', async () => {
  const world = drifted()
  const whole = await runInWorld(world, ['diff', 'apps/web'])
  assert.equal(whole.code, 1)
  const all = lines(whole.stdout, NUMBERED)
  const medium = all.filter((line) => line.includes('medium'))
  assert.ok(medium.length > 0 && medium.length < all.length, whole.stdout)
  const narrow = await runInWorld(world, ['diff', 'apps/web', '--risk', 'medium'])
  assert.equal(narrow.code, 1)
  assert.equal(lines(narrow.stdout, NUMBERED).length, medium.length)
  const rest = all.length - medium.length
  assert.match(narrow.stderr, new RegExp(`^${rest} changes? (is|are) hidden by --risk$`, 'm'))
  const none = await runInWorld(world, ['diff', 'apps/web', '--risk', 'critical'])
  assert.equal(none.code, 0)
  assert.equal(none.stdout, '')
  assert.match(none.stderr, new RegExp(`^${all.length} changes are hidden by --risk$`, 'm'))
})

test('a change keeps its number when others are hidden, so that adopt means the same one', async () => {
  const world = drifted()
  const number = (text: string): string | undefined =>
    /^ +([0-9]+) .*spec\.replicas/m.exec(text)?.[1]
  const whole = number((await runInWorld(world, ['diff', 'apps/web'])).stdout)
  assert.notEqual(whole, '1')
  assert.equal(
    number((await runInWorld(world, ['diff', 'apps/web', '--risk', 'medium,HIGH'])).stdout),
    whole,
  )
  const adopted = await runInWorld(world, [
    'adopt',
    'apps/web',
    whole ?? '',
    '--dry-run',
    '-o',
    'json',
  ])
  const document = JSON.parse(adopted.stdout) as {
    items: { spec: { changes: { path?: string; resolution: string }[] } }[]
  }
  const changes = document.items.flatMap(({ spec }) => spec.changes)
  assert.deepEqual(
    changes.filter(({ resolution }) => resolution === 'Adopt').map(({ path }) => path),
    ['spec.replicas'],
  )
})

test('-n shows the objects of one namespace and no cluster-scoped ones; -A is the default', async () => {
  const world = drifted()
  const data = await runInWorld(world, ['diff', '-n', 'data'])
  assert.equal(data.code, 1)
  assert.match(data.stdout, /StatefulSet data\/db/)
  assert.doesNotMatch(data.stdout, /ClusterRole|Deployment/)
  const all = await runInWorld(world, ['diff', '-A'])
  assert.equal(all.stdout, (await runInWorld(world, ['diff'])).stdout)
  assert.match(all.stdout, /ClusterRole db-reader/)
  const nowhere = await runInWorld(world, ['diff', '-n', 'nowhere'])
  assert.equal(nowhere.code, 0)
  assert.match(nowhere.stderr, /are hidden by -n/)
})

test('an unreadable object counts in its own namespace and without a filter', async () => {
  const world = drifted()
  world.cluster.unreadable.add(DB)
  assert.equal((await runInWorld(world, ['diff'])).code, 3)
  assert.equal((await runInWorld(world, ['diff', '-n', 'data', '--risk', 'critical'])).code, 3)
  assert.equal((await runInWorld(world, ['diff', '-n', 'shop'])).code, 1)
})

test('--since hides older changes and keeps those without a time', async () => {
  const world = drifted()
  world.cluster.objects.delete(WEB_CONFIG)
  const rows = async (...flags: string[]): Promise<string[]> =>
    lines((await runInWorld(world, ['diff', ...flags])).stdout, NUMBERED)
  const all = await rows()
  const missing = all.filter((line) => line.includes('missing'))
  assert.equal(missing.length, 1)
  assert.deepEqual(
    (await rows('--since', '2030-01-01')).map((line) => line.replace(/ +/g, ' ')),
    missing.map((line) => line.replace(/ +/g, ' ')),
  )
  assert.equal((await rows('--since', '2000-01-01')).length, all.length)
})

test('-l selects packages by Kptfile labels, for scan too', async () => {
  const world = drifted()
  const diff = await runInWorld(world, ['diff', '-l', 'team=data'])
  assert.doesNotMatch(diff.stdout, /Deployment/)
  assert.match(diff.stdout, /StatefulSet/)
  assert.doesNotMatch((await runInWorld(world, ['diff', '-l', '!team'])).stdout, /StatefulSet/)
  await runInWorld(world, ['scan', '-l', 'team in (data, shop)', '-q'])
  const names = [...world.repository.branches.keys()].filter((ref) => /\/apps\/.*drift-/.test(ref))
  assert.equal(names.length, 1)
  assert.match(names[0] ?? '', /proposed\/apps\/db\//)
  assert.equal((await runInWorld(world, ['status', '-o', 'name'])).stdout, 'apps/db\n')
})

test('a selector without matches is an error, not "no drift"', async () => {
  const world = drifted()
  for (const command of [
    ['diff'],
    ['scan'],
    ['status'],
    ['get', 'packages'],
    ['get', 'drifts'],
    ['history'],
  ]) {
    const { code, stdout, stderr } = await runInWorld(world, [...command, '-l', 'team=dta'])
    assert.equal(code, 2, command.join(' '))
    assert.equal(stdout, '')
    assert.match(stderr, /^error BP1011: the label selector selects no package/)
  }
})

test('-l does not hide a package with an unreadable Kptfile', async () => {
  const world = new TurnWorld('{mode: Propose}', {
    ...TWO,
    'apps/broken/Kptfile': 'nothing of the kind\n',
  })
  const { code, stderr } = await runInWorld(world, ['diff', '-l', 'team=data'])
  assert.equal(code, 2)
  assert.match(stderr, /BP1101/)
  assert.match(stderr, /apps\/broken\/Kptfile/)
})

test('--package equals the argument and can be repeated', async () => {
  const world = drifted()
  await runInWorld(world, ['scan', '-q'])
  const names = async (...args: string[]): Promise<string> =>
    (await runInWorld(world, ['status', '-o', 'name', ...args])).stdout
  assert.equal(await names('--package', 'apps/db'), 'apps/db\n')
  assert.equal(
    await names('--package', 'apps/db', '--package', './apps/web/'),
    'apps/db\napps/web\n',
  )
  assert.equal(await names('apps/db', '--package', 'apps/web'), 'apps/db\napps/web\n')
  for (const command of [
    ['status'],
    ['get', 'packages'],
    ['get', 'drifts'],
    ['history'],
    ['diff'],
  ]) {
    const { code, stderr } = await runInWorld(world, [...command, '--package', 'apps/wbe'])
    assert.equal(code, 2, command.join(' '))
    assert.match(stderr, /BP1004[\s\S]*apps\/web/)
  }
})

test('status -n keeps packages with objects in the namespace, in sync or not', async () => {
  const world = new TurnWorld('{mode: Propose}', TWO)
  world.edit(WEB, 'spec.replicas', 5)
  await runInWorld(world, ['scan', '-q'])
  const data = await runInWorld(world, ['status', '-n', 'data'])
  assert.equal(data.code, 0)
  assert.match(data.stdout, /apps\/db/)
  assert.doesNotMatch(data.stdout, /apps\/web/)
  assert.equal((await runInWorld(world, ['status', '-n', 'shop'])).code, 1)
  const none = await runInWorld(world, ['status', '-n', 'nowhere'])
  assert.match(none.stderr, /no package matches the filters \(2 recorded\)/)
  assert.match((await runInWorld(world, ['get', 'packages', '-n', 'shop'])).stdout, /apps\/web/)
  assert.doesNotMatch(
    (await runInWorld(world, ['get', 'packages', '-n', 'shop'])).stdout,
    /apps\/db/,
  )
})

test('status counts drift that is shown, and an Unknown package whenever it is selected', async () => {
  const world = drifted()
  await runInWorld(world, ['scan', '-q'])
  assert.equal((await runInWorld(world, ['status'])).code, 1)
  const low = await runInWorld(world, ['status', '--risk', 'low'])
  assert.equal(low.code, 0)
  assert.match(low.stderr, /^2 packages are hidden by --risk$/m)
  world.cluster.unreadable.add(DB)
  world.cluster.unreadable.add(ROLE)
  await runInWorld(world, ['scan', '-q'])
  const unknown = await runInWorld(world, ['status', '--risk', 'low'])
  assert.match(unknown.stdout, /apps\/db .*Unknown/)
  assert.equal(unknown.code, 3)
  const drift = await runInWorld(world, ['status', '--state', 'drifted'])
  assert.doesNotMatch(drift.stdout, /Unknown/)
  assert.equal(drift.code, 3)
  assert.equal(
    (await runInWorld(world, ['status', '--state', 'Drifted', '--partial', 'ok'])).code,
    1,
  )
  assert.equal((await runInWorld(world, ['status', 'apps/web', '--state', 'Drifted'])).code, 1)
})

test('status --since keeps units that changed state since then', async () => {
  const world = new TurnWorld('{mode: Propose}', TWO)
  await runInWorld(world, ['scan', '-q'])
  world.pass(120)
  world.edit(WEB, 'spec.replicas', 5)
  await runInWorld(world, ['scan', '-q'])
  const { stdout, stderr } = await runInWorld(world, ['status', '--since', '1h30m', '-o', 'name'])
  assert.equal(stdout, 'apps/web\n')
  assert.match(stderr, /^1 package is hidden by --since$/m)
})

test('get drifts narrows rows and documents alike, and keeps the numbers', async () => {
  const world = drifted()
  await runInWorld(world, ['scan', '-q'])
  const rows = await runInWorld(world, [
    'get',
    'drifts',
    '-n',
    'shop',
    '--risk',
    'medium',
    '--no-headers',
    '--columns',
    '#,field',
  ])
  assert.match(rows.stdout, /^[2-9] +spec\.replicas$/m)
  assert.match(rows.stderr, /changes are hidden by -n and --risk/)
  const { stdout } = await runInWorld(world, [
    'get',
    'drifts',
    '-n',
    'shop',
    '--risk',
    'medium',
    '-o',
    'json',
  ])
  const { items } = JSON.parse(stdout) as {
    items: { spec: { changes: { risk: string; ref: { namespace: string } }[] } }[]
  }
  const changes = items.flatMap(({ spec }) => spec.changes)
  assert.equal(changes.length, lines(rows.stdout, /./).length)
  assert.ok(changes.every(({ risk, ref }) => risk === 'medium' && ref.namespace === 'shop'))
})

test('get packages --state and --risk keep the revisions that run with such drift', async () => {
  const world = new TurnWorld('{mode: Warn}', TWO)
  world.edit(WEB, 'spec.replicas', 5)
  await runInWorld(world, ['scan', '-q'])
  const names = async (...flags: string[]): Promise<string[]> =>
    lines(
      (
        await runInWorld(world, [
          'get',
          'packages',
          '--no-headers',
          '--columns',
          'package,risk',
          ...flags,
        ])
      ).stdout,
      /./,
    )
  assert.ok((await names('--state', 'Drifted')).every((line) => line.startsWith('apps/web')))
  assert.ok((await names('--state', 'InSync')).every((line) => line.startsWith('apps/db')))
  assert.deepEqual(await names('--risk', 'critical'), [])
  assert.equal((await names('--risk', 'medium')).length, (await names('--state', 'Drifted')).length)
})

test('history selects decisions by namespace, risk, time and package', async () => {
  const world = new TurnWorld('{mode: Propose}', TWO)
  world.packages = ['apps/web']
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  await world.reject()
  const rows = async (...flags: string[]): Promise<number> =>
    lines((await runInWorld(world, ['history', '--no-headers', ...flags])).stdout, /./).length
  assert.equal(await rows(), 1)
  for (const flags of [
    ['-n', 'shop'],
    ['--risk', 'medium'],
    ['--since', '1d'],
    ['-l', '!team'],
    ['apps/web'],
    ['--since', '2026-11-21'],
  ])
    assert.equal(await rows(...flags), 1, flags.join(' '))
  for (const flags of [
    ['-n', 'data'],
    ['--risk', 'critical'],
    ['--since', '2026-11-22'],
    ['-l', 'team'],
    ['apps/db'],
    ['--cluster', 'b'],
  ])
    assert.equal(await rows(...flags), 0, flags.join(' '))
  const { stderr } = await runInWorld(world, ['history', '-n', 'data'])
  assert.match(stderr, /no decision matches the filters \(1 recorded\)/)
})

test('a removed package keeps its history under its name', async () => {
  const world = new TurnWorld('{mode: Propose}', TWO)
  world.packages = ['apps/web']
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  await world.reject()
  world.repository.commitByHand('main', {
    'apps/web/Kptfile': null,
    'apps/web/deployment.yaml': null,
    'apps/web/config.yaml': null,
  })
  const { code, stdout } = await runInWorld(world, ['history', 'apps/web/', '--no-headers'])
  assert.equal(code, 0)
  assert.match(stdout, /apps\/web/)
})

const REFUSED: readonly (readonly [argv: readonly string[], why: RegExp])[] = [
  [['diff', '-l', 'team in data'], /found "data" where "\(" is wanted/],
  [['scan', '-l', 'a=b='], /found "="/],
  [['diff', '-n', 'shop', '-A'], /cannot be used with/],
  [['status', '-qv'], /cannot be used with/],
  [['diff', '--risk', 'critical,hihg'], /there is no "hihg"/],
  [['diff', '--risk', ','], /critical, high, medium, low/],
  [['status', '--state', 'drifting'], /InSync, Drifted/],
  [['status', '--since', '2026-02-31'], /a day \(2026-11-01\)/],
  [['history', '--since', '25:00'], /a duration/],
  [['diff', '-w', '--interval', '0s'], /30s, 5m or 1h30m/],
  [['diff', '-w', '--interval', '2d'], /from 1s to 24h/],
  [['scan', '-A'], /unknown option/],
  [['scan', '--risk', 'high'], /unknown option/],
  [['scan', '-w'], /unknown option/],
]

for (const [argv, why] of REFUSED) {
  test(`refused before anything is read: ${argv.join(' ')}`, async () => {
    const world = new TurnWorld('{mode: Propose}', {
      'apps/web/Kptfile': KPTFILE,
      '.drift/policy.yaml': policyText('{mode: Propose}'),
    })
    world.repository.listRefs = () => Promise.reject(new TypeError('the repository was asked'))
    const { code, stdout, stderr } = await runInWorld(world, argv)
    assert.equal(code, 2)
    assert.equal(stdout, '')
    assert.match(stderr, /^error BP1001: /)
    assert.match(stderr, why)
  })
}
