/**
 * Flux bootstraps a repository of thirty Kustomizations that wait for each other, and some of which never get through: one is refused by the
 * server, one is suspended. What no controller has applied yet is no drift, at any moment of it, however old the commit is.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { startControlPlane } from '../controlplane/start-control-plane.ts'
import { findFlux } from '../flux/find-flux.ts'
import { startFlux } from '../flux/flux-controllers.ts'
import { bootstrapOf, fluxRepository } from '../flux/flux-repository.ts'
import type { Gitea } from '../gitea/gitea.ts'
import { createGiteaFixture } from '../gitea/gitea-fixture.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { policy } from './packages.ts'
import { PROPOSE, ReviewWorld } from './review-world.ts'
import type { ProgramRun } from './run-program.ts'
import { assertExit, openWorld } from './world.ts'

const KUBECTL = ['--allow-render', 'kubectl']
/** Older than the hour in which the syncer has to apply it. */
const COMMITTED = '2025-06-01T00:00:00Z'
const COUNT = 30
/** Its objects are in a namespace that nobody makes, so that Flux's dry run is refused; those after it wait. */
const REFUSED = 10
/** The second chain begins here. */
const SECOND = 20
const SUSPENDED = 25

const nameOf = (index: number): string => `app-${String(index).padStart(2, '0')}`
const NAMES = Array.from({ length: COUNT }, (_, index) => nameOf(index))

/** What the units are in once nothing moves any more. */
function stateOf(index: number): string {
  if (index === REFUSED) return 'SyncFailed'
  if (index === SUSPENDED) return 'Suspended'
  return (index > REFUSED && index < SECOND) || index > SUSPENDED ? 'Behind' : 'InSync'
}

const gitea = await sharedGitea()
const found = await findFlux(['source-controller', 'kustomize-controller', 'helm-controller'])
// Of its own: the controllers would reconcile the resources of other tests.
const plane = await startControlPlane({ controllerManager: true })
if (gitea.state === 'unavailable') test('a bootstrap that stalls', { skip: gitea.why }, () => {})
else if (found.state === 'unavailable')
  test('a bootstrap that stalls', { skip: found.why }, () => {})
else if (plane.state === 'unavailable')
  test('a bootstrap that stalls', { skip: plane.why }, () => {})
else
  test('a stalled bootstrap reports no drift at any moment', async (t) => {
    t.after(() => plane.stop())
    const review = await openBootstrap(t, plane, gitea)
    const { world } = review
    const moments: string[] = []
    const look = async (): Promise<void> => {
      const run = await review.backporch('diff', ...KUBECTL)
      assert.ok(
        run.code === 0 || run.code === 1,
        `exit code ${run.code}\n${run.stdout}${run.stderr}`,
      )
      assert.deepEqual(linesOf(run), [], run.stdout)
      moments.push(run.stdout)
    }
    await look()
    assert.match(
      moments[0] ?? '',
      /^Behind: no part of it was applied yet, git has [0-9a-f]{7} since 2025-06-01T00:00:00Z, and /m,
    )

    const flux = await startFlux(plane, found)
    t.after(() => flux.stop())
    const reasonOf = async (index: number): Promise<string | undefined> => {
      const own = await flux.resource('Kustomization', nameOf(index))
      return own?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason
    }
    do await look()
    while (
      (await reasonOf(REFUSED)) !== 'ReconciliationFailed' ||
      (await reasonOf(SUSPENDED - 1)) !== 'ReconciliationSucceeded'
    )
    await look()
    assert.match(
      moments.at(-1) ?? '',
      /^SyncFailed: .* Flux Kustomization flux-system\/app-10 says Ready is False: ReconciliationFailed/m,
    )
    assert.match(
      moments.at(-1) ?? '',
      /^Behind: .* Flux Kustomization flux-system\/app-11 says Ready is False: DependencyNotReady/m,
    )

    assertExit(await review.backporch('scan', ...KUBECTL), 1)
    const { items } = JSON.parse((await review.backporch('status', '-o', 'json')).stdout) as {
      items: readonly UnitReport[]
    }
    const states = new Map(items.map(({ spec, status }) => [spec.unit.package, status.state]))
    assert.deepEqual(
      NAMES.map((name) => states.get(`apps/${name}`)),
      NAMES.map((_, index) => stateOf(index)),
    )
    assert.deepEqual(await world.proposals(), [])
  })

interface UnitReport {
  readonly spec: { readonly unit: { readonly package: string } }
  readonly status: { readonly state: string }
}

/** Lines of differences: `  1 -  missing`. */
function linesOf({ stdout }: ProgramRun): string[] {
  return stdout.split('\n').filter((line) => /^ +\d+ [~+-] {2}/.test(line))
}

/** The repository is on Gitea, `flux bootstrap` has applied what it applies, and no controller runs yet. */
async function openBootstrap(
  t: TestContext,
  plane: ControlPlane,
  gitea: Gitea,
): Promise<ReviewWorld> {
  if (found.state === 'unavailable') throw new Error(found.why)
  const fixture = await createGiteaFixture(gitea)
  t.after(() => fixture.close())
  const url = `${fixture.gitea.url}/${fixture.owner.name}/${fixture.name}.git`
  const all = fluxRepository({ url, definitions: found.definitions })
  const system = Object.fromEntries(
    Object.entries(all).filter(([path]) => path.startsWith('clusters/production/flux-system/')),
  )
  const apps = Object.fromEntries(
    NAMES.map((name, index) => [`apps/${name}/app.yaml`, objectsOf(name, index)]),
  )
  const kustomizations = NAMES.map(kustomizationOf).join('')
  const files = {
    ...system,
    ...apps,
    ...policy(PROPOSE),
    'clusters/production/apps.yaml': kustomizations,
  }
  const review = new ReviewWorld(fixture, await openWorld(t, plane, files))
  const { world } = review
  await world.git('commit', '--quiet', '--amend', '--no-edit', `--date=${COMMITTED}`)
  await world.git('rebase', '--quiet', '--root', '--committer-date-is-author-date')
  await world.git('push', '--quiet', '--force', 'origin', 'HEAD:main')
  await review.git('push', '--quiet', '--force', review.address, 'main')
  const { components, sync } = bootstrapOf(files)
  const bootstrap = (text: string): Promise<string> =>
    world.pipe(text, 'apply', '--server-side', '--field-manager=flux', '--filename=-')
  await bootstrap(components)
  await world.kubectl('wait', '--for=condition=Established', '--all', 'crd', '--timeout=4m')
  // Kustomizations that nobody has reconciled, as in the first seconds of a cluster.
  await bootstrap(sync)
  await bootstrap(kustomizations)
  await world.kubectl('create', 'namespace', 'shop')
  return review
}

function objectsOf(name: string, index: number): string {
  const namespace = index === REFUSED ? 'nobody-makes-it' : 'shop'
  return `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
  namespace: ${namespace}
data:
  theme: light
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: ${name}
  namespace: ${namespace}
`
}

function kustomizationOf(name: string, index: number): string {
  const before =
    index === 0 || index === SECOND ? '' : `  dependsOn:\n  - name: ${nameOf(index - 1)}\n`
  return `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${name}
  namespace: flux-system
spec:
  interval: 1h
  retryInterval: 1m
  path: ./apps/${name}
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
${before}${index === SUSPENDED ? '  suspend: true\n' : ''}`
}
