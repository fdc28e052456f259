/** A base of many Deployments with three overlays: hand edits of many of them are adopted together, with few rounds of builds. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { SyncedWorld } from '../../../../test/fakes/synced-world.ts'
import { yaml } from '../../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../../test/kpt/find-kubectl.ts'

const OVERLAY = 'namespace: shop\nresources:\n- ../../base\n'
const KUSTOMIZATION = 'overlays/prod/kustomization.yaml'
const CONTAINER = 'spec.template.spec.containers[name=app]'

const deployment = (at: number, namespace = '', image = `app-${at}:1.0`): string =>
  `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-${at}
${namespace}spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: app
        image: ${image}
        env:
        - name: LEVEL
          value: info
`
const flux = (env: string): string => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web-${env}, namespace: flux-system}
spec:
  sourceRef: {kind: GitRepository, name: flux-system}
  path: ./overlays/${env}
`
const GIT = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {ref: {branch: main}, url: "ssh://git@/deploy"}
`
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at)

interface Shape {
  readonly count: number
  /** Of the other overlays. */
  readonly others?: string
  readonly files?: { readonly [path: string]: string }
  readonly image?: (at: number) => string
}

function worldOf({ count, others = '', files = {}, image }: Shape): SyncedWorld {
  const all = numbers(count)
  const world = new SyncedWorld(
    {
      'base/kustomization.yaml': `resources:\n${all.map((at) => `- web-${at}.yaml\n`).join('')}`,
      ...Object.fromEntries(
        all.map((at) => [`base/web-${at}.yaml`, deployment(at, '', image?.(at))]),
      ),
      [KUSTOMIZATION]: OVERLAY,
      'overlays/staging/kustomization.yaml': `${OVERLAY.replace('shop', 'shop-staging')}${others}`,
      'overlays/dev/kustomization.yaml': `${OVERLAY.replace('shop', 'shop-dev')}${others}`,
      'clusters/eu/git.yaml': GIT,
      'clusters/us/git.yaml': GIT,
      'clusters/eu/web.yaml': flux('prod'),
      'clusters/us/staging.yaml': flux('staging'),
      'clusters/us/dev.yaml': flux('dev'),
      ...files,
    },
    ['kubectl'],
  )
  for (const at of all)
    world.cluster.put(
      appliedBy('kustomize-controller', yaml(deployment(at, '  namespace: shop\n', image?.(at)))),
    )
  for (const text of [GIT, flux('prod')]) world.cluster.put(yaml(text))
  return world
}

const keyOf = (at: number): string => `apps/Deployment/shop/web-${at}`

/** The image of each third, the replicas of the next, and a variable of the last. */
function editThirds(world: SyncedWorld, count: number): void {
  const edits: readonly (readonly [field: string, value: (at: number) => Json])[] = [
    [`${CONTAINER}.image`, (at) => `app-${at}:1.1`],
    ['spec.replicas', (at) => at + 2],
    [`${CONTAINER}.env[name=LEVEL].value`, (at) => `debug-${at}`],
  ]
  for (const at of numbers(count)) {
    const [field, value] = edits[at % 3] ?? assert.fail('three edits')
    world.edit(keyOf(at), field, value(at))
  }
}

/** What a diff builds is built before. */
async function adopted(world: SyncedWorld) {
  await world.plan({ packages: ['overlays/prod'], dryRun: true })
  const [builds, rounds] = [world.builds, world.rounds]
  const files = await world.adoptedIn('overlays/prod')
  return { files, builds: world.builds - builds, rounds: world.rounds - rounds }
}

const patchOf = (at: number): string =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-${at}\nspec:\n  template:\n    spec:\n      containers:\n      - name: app\n        env:\n        - name: LEVEL\n          value: debug-${at}\n`

describe('many manual edits of a shared base', { skip: whyNoKubectl() }, () => {
  for (const count of [25])
    test(`are adopted in the overlay in few build rounds: ${count}`, async () => {
      const world = worldOf({ count })
      editThirds(world, count)
      const { files, builds, rounds } = await adopted(world)
      const { [KUSTOMIZATION]: kustomization, ...patches } = files
      assert.deepEqual(
        patches,
        Object.fromEntries(
          numbers(count)
            .filter((at) => at % 3 === 2)
            .map((at) => [`overlays/prod/deployment-web-${at}-patch.yaml`, patchOf(at)]),
        ),
      )
      const entries = ['newTag', 'count'].map((name) => kustomization?.split(`${name}:`).length)
      assert.deepEqual(entries, [Math.ceil(count / 3) + 1, Math.ceil((count - 1) / 3) + 1])
      assert.equal(world.told.filter((each) => each.startsWith('shared-source')).length, count)
      assert.ok(rounds <= 6, `${builds} builds in ${rounds} rounds`)
    })
})
