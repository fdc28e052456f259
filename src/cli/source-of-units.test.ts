/** Where people see what a unit is known by. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { appliedBy } from '../../test/fakes/live-object.ts'
import { SyncedWorld } from '../../test/fakes/synced-world.ts'
import { policyText, TurnWorld, WEB, yaml } from '../../test/fakes/turn-world.ts'
import { APPS, FILES, RELEASE, VALUES } from '../../test/helm/declared-release-world.ts'
import type { Probes } from '../ports/probes.ts'

const APPLICATION = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  destination: {namespace: shop, server: "https://kubernetes.default.svc"}
  source: {repoURL: "ssh://git@/deploy", path: apps/web, targetRevision: main}
`
const PROBES: Probes = {
  push: async (_remote, _base, refs) =>
    refs.map((ref) => ({ ref, answer: 'let-through', why: '' })),
  forge: async () => [],
  access: async () => ({ rules: [], incomplete: false, serverTime: undefined }),
  keySource: async () => ({ from: 'environment', path: '/key' }),
  signingKey: async () => undefined,
  hasGitIdentity: async () => true,
}

const SYNC = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, ref: {branch: main}, url: "ssh://git@/deploy"}
`
const LABELS =
  '{kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}'
/** Without the chart. */
const RELEASED = Object.fromEntries(
  Object.entries(FILES).filter(([path]) => !path.startsWith('charts/')),
)

/** One unit of each source: an Application, a folder and a package of kpt. */
async function scanned(): Promise<TurnWorld> {
  const config = (name: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\n`
  const world = new TurnWorld('{mode: Warn}', {
    'apps/plain/a.yaml': config('plain'),
    'apps/kept/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: kept}\n',
    'apps/kept/a.yaml': config('kept'),
  })
  world.repository.commitByHand('main', { 'apps/web/Kptfile': null })
  world.cluster.put(yaml(APPLICATION))
  for (const argv of [['scan', '--path', 'apps/plain'], ['scan']]) {
    const { code, stderr } = await runInWorld(world, argv)
    assert.ok(code < 2, stderr)
  }
  return world
}

test('status -o wide has the source of each unit', async () => {
  const { stdout } = await runInWorld(await scanned(), ['status', '--columns', 'PACKAGE,SOURCE'])
  assert.match(stdout, /^apps\/web +Argo CD Application argocd\/shop$/m)
  assert.match(stdout, /^apps\/kept +kpt$/m)
  assert.match(stdout, /^apps\/plain +folder$/m)
  const wide = (await runInWorld(await scanned(), ['status', '-o', 'wide'])).stdout
  assert.match(wide, /^CLUSTER .* SOURCE /)
  assert.doesNotMatch((await runInWorld(await scanned(), ['status'])).stdout, /SOURCE/)
})

/** A unit of Flux that no turn could render so far, and a package that a policy renders as a chart. */
async function unrendered(): Promise<TurnWorld> {
  const chart = { 'charts/web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.2.3\n' }
  const helm =
    '{match: {packages: [charts/web]}, render: {tool: helm, release: web, namespace: shop}}'
  const world = new SyncedWorld(
    {
      ...RELEASED,
      ...chart,
      '.drift/helm.yaml': policyText(helm).replace('name: test', 'name: helm'),
    },
    [],
  )
  for (const text of [
    SYNC,
    APPS,
    VALUES,
    RELEASE.replace('  name: web\n', `  name: web\n  labels: ${LABELS}\n`),
  ])
    world.cluster.put(appliedBy('kustomize-controller', yaml(text)))
  for (const argv of [['scan', '--path', 'charts/web'], ['scan']])
    await runInWorld(world, argv, { renderer: world.request().renderer })
  return world
}

test('a unit that was never rendered shows its source, Helm releases included', async () => {
  const { stdout } = await runInWorld(await unrendered(), [
    'status',
    '--columns',
    'PACKAGE,STATE,SOURCE',
  ])
  assert.match(stdout, /^apps\/production +\? Unknown +Flux Kustomization flux-system\/apps$/m)
  assert.match(stdout, /^apps\/production\/web +\? Unknown +Flux HelmRelease shop\/web$/m)
  assert.match(stdout, /^charts\/web +\? Unknown +Helm release shop\/web$/m)
})

test('get packages lists kpt packages, and a note names the applier of each other unit', async () => {
  const { stdout, stderr } = await runInWorld(await scanned(), ['get', 'packages'])
  assert.match(stdout, /apps\.kept/)
  assert.doesNotMatch(stdout, /apps\.web|apps\.plain/)
  assert.match(stderr, /a folder without a Kptfile is not a package revision/)
  const json = JSON.parse(
    (await runInWorld(await scanned(), ['get', 'packages', '-o', 'json'])).stdout,
  )
  assert.match(
    JSON.stringify(json),
    /a folder that Argo CD Application argocd\/shop applies is not a package revision/,
  )
})

test('get packages lists the units of a repository without kpt packages', async () => {
  const world = await unrendered()
  const { stdout, stderr } = await runInWorld(world, ['get', 'packages', '-o', 'wide'])
  assert.match(stdout, /^NAME +PACKAGE .* SOURCE$/m)
  assert.match(
    stdout,
    /^- +apps\/production +- +- +- +- +deploy +\? .*Flux Kustomization flux-system\/apps$/m,
    stdout,
  )
  assert.match(stdout, /^- +apps\/production\/web .*Flux HelmRelease shop\/web$/m)
  assert.match(stdout, /^- +charts\/web .*Helm release shop\/web$/m)
  assert.match(stderr, /^no package revision of Porch: these are the units, by what applies them$/m)
  assert.doesNotMatch(stderr, /is not a package revision;/)
  assert.equal(
    (await runInWorld(world, ['get', 'packages', '-o', 'name'])).stdout,
    'apps/production\napps/production/web\ncharts/web\n',
  )
  const { items } = JSON.parse(
    (await runInWorld(world, ['get', 'packages', 'apps/production/web', '-o', 'json'])).stdout,
  )
  assert.deepEqual(items, [
    {
      packagePath: 'apps/production/web',
      packageName: 'apps/production/web',
      source: 'Flux HelmRelease shop/web',
      drift: [{ cluster: 'prod', state: 'Unknown', changes: 0, health: 'Unknown' }],
    },
  ])
})

test('get packages shows the drift and open proposal of an Argo CD unit', async () => {
  const world = new TurnWorld('{mode: Propose}')
  world.repository.commitByHand('main', { 'apps/web/Kptfile': null })
  world.cluster.put(yaml(APPLICATION))
  world.edit(WEB, 'spec.replicas', 5)
  await runInWorld(world, ['scan'])
  const { stdout } = await runInWorld(world, [
    'get',
    'packages',
    '-o',
    'wide',
    '--risk',
    'critical,high,medium,low',
  ])
  assert.match(
    stdout,
    /^- +apps\/web .* 1\/2 .*drift-[0-9a-f]{8} +Argo CD Application argocd\/shop$/m,
    stdout,
  )
})

test('get packages says when nothing is recorded, and how units are found', async () => {
  const world = new TurnWorld()
  world.repository.commitByHand('main', { 'apps/web/Kptfile': null })
  const { stdout, stderr } = await runInWorld(world, ['get', 'packages'])
  assert.equal(stdout, '')
  assert.match(
    stderr,
    /^no package revision, and no unit of a syncer is recorded \(backporch scan finds them\)$/m,
  )
})

test('check names the syncers of the cluster and their units', async () => {
  const { stdout } = await runInWorld(await scanned(), ['check', '--repo', 'deploy'], {
    probes: async () => PROBES,
  })
  assert.match(
    stdout,
    /^✓ cluster prod: Argo CD: 1 Application; 1 unit of this repository: apps\/web$/m,
  )
})

test('a pinned source adds a warning about the effect of a merge', async () => {
  const world = await scanned()
  world.cluster.put(yaml(APPLICATION.replace('targetRevision: main', 'targetRevision: v1.2.0')))
  const { stdout, stderr } = await runInWorld(world, ['explain', 'apps/web'])
  assert.match(
    stdout,
    /^ +warning: .*it applies the revision v1.2.0: a merge is applied once targetRevision/m,
    stderr,
  )
})
