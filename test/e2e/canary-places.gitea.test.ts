/**
 * The places of test/hostile/credential-places.ts, each with a value of its own in three shapes, edited by hand in a real cluster: after every
 * command in every format, beside a controller, and with proposals on a real Gitea, no value is in anything that was printed, written, sent or kept.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Change } from '../../src/record/documents/change.ts'
import { formatDocument } from '../../src/record/write-document.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import type { Gitea } from '../gitea/gitea.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { Draw } from '../hostile/credential-forms.ts'
import {
  PLACE_KIND,
  type PlacedValue,
  placeDefinition,
  placedObjects,
  placedValues,
} from '../hostile/placed-places.ts'
import { testEachSeed } from '../seeds/seeds.ts'
import { CanarySearch } from './canary-search.ts'
import {
  assertEveryCommand,
  assertTold,
  besideAController,
  collect,
  every,
  once,
  runSteps,
  type Step,
  share,
} from './canary-sweep.ts'
import { kptfile, policy } from './packages.ts'
import { openReviewWorld, type ReviewWorld } from './review-world.ts'
import type { World } from './world.ts'

/** A pull request lists 30 changes. */
const PLACES_OF_A_PACKAGE = 28
const PLACES = 582
const UNITS = Array.from(
  { length: Math.ceil(PLACES / PLACES_OF_A_PACKAGE) },
  (_, at) => `apps/places-${at}`,
)
const HEAD = 'change'
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

const BEFORE: readonly Step[] = [
  every('diff', '--show-ignored', '--debug', '--verbose'),
  once('diff', '--yaml', '--unmanaged', '--debug'),
  ...UNITS.map((unit) => once('explain', unit, '--debug')),
  every('check', '--debug'),
  once('rbac', '--level', 'settle', '--debug'),
  once('render'),
  once('render', 'apps/places-0', '-o', 'unwrap'),
  every('init', '--dry-run', '--debug'),
  every('preview', '--head', HEAD, '--debug'),
]
const AFTER: readonly Step[] = [
  share(1, 3, 'scan', '--debug', '--verbose'),
  ...['status', 'get packages', 'get drifts'].map((command) => every(command)),
  every('ignore', '--list'),
  every('report', '--since', '7d'),
  share(0, 3, 'adopt', 'apps/places-0', '--dry-run', '--debug'),
  share(1, 3, 'release', 'apps/places-2', '--dry-run', '--debug'),
  share(2, 3, 'restore', 'apps/places-4', '--dry-run', '--debug'),
  once('adopt', 'apps/places-1', '--debug', '-m', 'why'),
  once('release', 'apps/places-3', '--debug', '-m', 'why'),
  once('restore', 'apps/places-3', '--debug'),
  ...['--print', '--dry-run'].map((flag) =>
    once('ignore', 'apps/places-5', '1', '-m', 'why', flag, '--debug'),
  ),
  once('approve', 'apps/places-0', '--yes', '--debug'),
  once('reject', 'apps/places-2', '--yes', '--debug', '-m', 'why'),
  once('scan', '--debug'),
  every('history', '--debug'),
  once('completion', 'bash'),
  once('version'),
]

const gitea = await sharedGitea()
if (gitea.state === 'unavailable') test('the sweep of the places', { skip: gitea.why }, () => {})
else await controlPlaneSuite('the sweep of the places', {}, (plane) => sweepOn(plane, gitea))

function sweepOn(plane: ControlPlane, server: Gitea): void {
  testEachSeed(
    import.meta.filename,
    'no output shows a value from any of 194 places in three shapes',
    {},
    async (t, seed) => {
      const values = placedValues(new Draw(`live ${seed}`))
      const inHead = placedValues(new Draw(`head ${seed}`))
      assert.equal(values.length, PLACES)
      const canaries = new Map<string, readonly string[]>()
      for (const { name, value } of values) canaries.set(name, [value])
      for (const { name, value } of inHead) canaries.set(`${name}, in the head`, [value])
      const told = `told-${seed}-plainly`
      const { review, imported } = await openPlaces(t, plane, server, { values, inHead, told })
      const { world } = review
      const steps = [
        ...BEFORE,
        once('import', '--namespace', imported, '--to', 'apps/imported', '--debug'),
      ]
      assertEveryCommand([...steps, ...AFTER])
      await runSteps(review, steps)
      const refused = world.calls.at(-1)?.stdout ?? ''
      assert.match(refused, /adds apps\/imported with 1 object\n/)
      assert.equal(
        refused.match(/ {2}not imported: .*(?:it has a credential|it is a Secret)/g)?.length,
        7,
        refused,
      )

      const controller = await besideAController(t, review, {
        seed: String(seed),
        head: HEAD,
        canaries,
      })
      assert.match(
        controller.find(({ where }) => where === 'Events')?.content.toString() ?? '',
        /DriftDetected/,
      )
      assertAllObserved(world)
      const proposed = (await review.pulls()).filter(({ head: { label } }) =>
        label.startsWith('proposed/'),
      ).length
      assert.equal(proposed, UNITS.length, 'each package is proposed')
      await runSteps(review, AFTER)
      // Every value is tried to be written into git.
      await review.commit(policy(`${POLICY}\ndecide: {defaultPlan: Adopt}`), 'adopt')
      await runSteps(review, [once('scan', '--debug')])

      // What a person committed to the branch is no leak.
      const tree = await world.git('ls-tree', '-r', '--format=%(objectname)', HEAD)
      const locations = await collect(review, {
        authored: new Set(tree.split('\n')),
        controller,
        isLeftOut: () => false,
      })
      assertTold(locations, told)
      const leaks = new CanarySearch(canaries).find(Object.values(locations).flat())
      assert.deepEqual(
        [...leaks].map(
          ([name, where]) => `${name}: ${where.slice(0, 5).join(', ')} (${where.length})`,
        ),
        [],
      )
      t.diagnostic(
        `${canaries.size} values, ${proposed} pull requests, ${world.calls.length} calls, ${Object.values(locations).flat().length} locations`,
      )
    },
  )
}

/** Each place is a change of its own, and hidden. */
function assertAllObserved(world: World): void {
  const diff = world.calls.find(
    ({ command }) => command.startsWith('backporch diff') && command.includes('-o json '),
  )
  const {
    items,
  }: { items: readonly { readonly spec: { readonly changes: readonly Change[] } }[] } = JSON.parse(
    diff?.stdout ?? '{}',
  )
  const changes = items.flatMap(({ spec }) => spec.changes)
  assert.deepEqual(
    changes.filter(({ redacted }) => redacted !== true).map(({ path }) => path),
    UNITS.map(() => 'data.hue'),
  )
  assert.equal(changes.length, PLACES + UNITS.length)
}

const POLICY =
  'mode: Propose\nsettle: backporch\ndetect: {minAge: 0s, settle: 0s}\nlimits: {prHourlyLimit: 0, prConcurrentLimit: 0, stormObjects: 0}'

interface Drawn {
  readonly values: readonly PlacedValue[]
  readonly inHead: readonly PlacedValue[]
  /** A value that is no secret. */
  readonly told: string
}

/** Packages of plain words whose places were edited in the cluster, a branch that edits them in git, and a namespace that nobody manages. */
async function openPlaces(
  t: TestContext,
  plane: ControlPlane,
  server: Gitea,
  { values, inHead, told }: Drawn,
): Promise<{ readonly review: ReviewWorld; readonly imported: string }> {
  const [namespace, imported] = [
    await plane.namespace('canary-places'),
    await plane.namespace('canary-import'),
  ]
  const files: Record<string, string> = {}
  const change: Record<string, string> = {}
  const edited: JsonObject[] = []
  for (const [at, unit] of UNITS.entries()) {
    const part = (all: readonly PlacedValue[]): readonly PlacedValue[] =>
      all.slice(at * PLACES_OF_A_PACKAGE, (at + 1) * PLACES_OF_A_PACKAGE)
    files[`${unit}/Kptfile`] = kptfile(unit.slice('apps/'.length))
    // Nobody changes it: it shows that the syncer applied the package.
    files[`${unit}/left.yaml`] = formatDocument(config(`left-${at}`, namespace, 'grey'))
    files[`${unit}/told.yaml`] = formatDocument(config(`told-${at}`, namespace, 'grey'))
    edited.push(config(`told-${at}`, namespace, told))
    const inGit = placedObjects(part(inHead), namespace, `of-${at}`)
    for (const [index, { plain, withSecrets }] of placedObjects(
      part(values),
      namespace,
      `of-${at}`,
    ).entries()) {
      files[`${unit}/${index}.yaml`] = formatDocument(plain)
      change[`${unit}/${index}.yaml`] = formatDocument(inGit[index]?.withSecrets ?? {})
      edited.push(withSecrets)
    }
  }
  const review = await openReviewWorld(t, plane, server, { ...files, ...policy(POLICY) })
  const { world } = review
  const apply = ['apply', '--server-side', '--force-conflicts', '-f', '-']
  await world.pipe(formatDocument(placeDefinition()), ...apply)
  await world.kubectl(
    'wait',
    '--for=condition=Established',
    '--timeout=4m',
    `crd/${PLACE_KIND.plural}.${PLACE_KIND.group}`,
  )
  await review.observe()
  await world.sync('apps')
  await world.git('checkout', '--quiet', '-b', HEAD)
  for (const [path, content] of Object.entries(change)) world.write(path, content)
  await world.git('commit', '--quiet', '--all', '--message', 'with secrets')
  await world.git('push', '--quiet', 'origin', HEAD)
  await review.git('push', '--quiet', review.address, HEAD)
  await world.git('checkout', '--quiet', 'main')
  const unmanaged = [
    ...placedObjects(values.slice(0, PLACES / 3), imported, 'new').map(
      ({ withSecrets }) => withSecrets,
    ),
  ]
  await world.pipe(documents(edited), 'replace', '--field-manager=hand', '-f', '-')
  await world.pipe(
    documents([...unmanaged, config('told', imported, told)]),
    'create',
    '--field-manager=hand',
    '-f',
    '-',
  )
  // `kubectl replace` writes this annotation itself.
  for (const object of [...edited, ...unmanaged]) await annotate(world, object)
  const live = await world.kubectl(
    'get',
    'configmaps,deployments,secrets,places',
    '-n',
    namespace,
    '-o',
    'json',
  )
  const there = new CanarySearch(new Map(values.map(({ name, value }) => [name, [value]]))).find([
    { where: 'the cluster', content: Buffer.from(live) },
  ])
  assert.deepEqual(
    values.filter(({ name }) => !there.has(name)).map(({ name }) => name),
    [],
    'each value is in the cluster',
  )
  return { review, imported }
}

async function annotate(world: World, object: JsonObject): Promise<void> {
  const { kind, metadata } = object as {
    kind: string
    metadata: { name: string; namespace: string; annotations?: Record<string, string> }
  }
  const value = metadata.annotations?.[LAST_APPLIED]
  if (value === undefined) return
  await world.kubectl(
    'annotate',
    '--overwrite',
    `${kind.toLowerCase()}/${metadata.name}`,
    '-n',
    metadata.namespace,
    `${LAST_APPLIED}=${value}`,
  )
}

function documents(objects: readonly JsonObject[]): string {
  return objects.map((object) => formatDocument(object)).join('---\n')
}

function config(name: string, namespace: string, hue: string): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { hue } }
}
