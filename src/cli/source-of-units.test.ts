/** Where people see what a unit is known by. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld, yaml } from '../../test/fakes/turn-world.ts'
import type { Probes } from '../ports/probes.ts'

const APPLICATION = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  destination: {namespace: shop, server: "https://kubernetes.default.svc"}
  source: {repoURL: "ssh://git@/deploy", path: apps/web, targetRevision: main}
`
const PROBES: Probes = {
  push: async (_remote, _base, refs) => refs.map((ref) => ({ ref, answer: 'let-through', why: '' })),
  forge: async () => [],
  access: async () => ({ rules: [], incomplete: false, serverTime: undefined }),
  keySource: async () => ({ from: 'environment', path: '/key' }),
  signingKey: async () => undefined,
  hasGitIdentity: async () => true,
}

/** One unit of each source: an Application, a folder and a package of kpt. */
async function scanned(): Promise<TurnWorld> {
  const config = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\n`
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

test('get packages lists what Porch lists, and a note names the resource that applies each other unit', async () => {
  const { stdout, stderr } = await runInWorld(await scanned(), ['get', 'packages'])
  assert.match(stdout, /apps\.kept/)
  assert.doesNotMatch(stdout, /apps\.web|apps\.plain/)
  assert.match(stderr, /a folder without a Kptfile is no package revision/)
  const json = JSON.parse((await runInWorld(await scanned(), ['get', 'packages', '-o', 'json'])).stdout)
  assert.match(JSON.stringify(json), /a folder that Argo CD Application argocd\/shop applies is no package revision/)
})

test('check names the syncers of the cluster and the units that they name', async () => {
  const { stdout } = await runInWorld(await scanned(), ['check', '--repo', 'deploy'], { probes: async () => PROBES })
  assert.match(stdout, /^✓ cluster prod: Argo CD: 1 Application; 1 unit of this repository: apps\/web$/m)
})

test('a source that is pinned is a warning about what a merge does', async () => {
  const world = await scanned()
  world.cluster.put(yaml(APPLICATION.replace('targetRevision: main', 'targetRevision: v1.2.0')))
  const { stdout, stderr } = await runInWorld(world, ['explain', 'apps/web'])
  assert.match(
    stdout,
    /^ +warning: .*Argo CD Application argocd\/shop applies the revision v1.2.0: a merge is applied once targetRevision/m,
    stderr,
  )
})
