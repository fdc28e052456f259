/** Random days of a fleet: what people, syncers, clusters and reviewers do between two turns. */
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import fc from 'fast-check'
import { FleetWorld } from '../fakes/fleet-world.ts'
import { editedBy, withMetadata } from '../fakes/live-object.ts'
import { CONFIG, DEPLOYMENT, policyText, WEB, WEB_CONFIG } from '../fakes/turn-world.ts'

export const CLUSTERS = 4
const POLICIES = [
  '{mode: Propose, detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0, digest: off}}',
  '{mode: Propose}',
  '{mode: Warn}',
  '{mode: Off}',
  '{mode: Propose, detect: {minAge: 30m, settle: 1h}, limits: {prHourlyLimit: 1, prConcurrentLimit: 1}}',
  '{mode: Propose, limits: {massMinClusters: 2, stormThreshold: 2}, decide: {defaultPlan: Adopt}}',
  '{mode: Propose, ignore: [{paths: [data.color], reason: colours are free, expires: "2026-11-24"}]}',
  '{mode: Propose, decide: {remindAfter: 1d, escalateAfter: 2d, closeSilence: 3d}}',
  '{mode: Propose, detect: {minAge: 0s}, windows: [{name: noon, kind: hold, schedule: "0 12 * * *", duration: 6h}]}',
]
const COMMANDS = [
  '/adopt',
  '/adopt 1',
  '/release 1',
  '/restore',
  '/snooze 1d',
  '/ignore 1 -- ours',
  '/recheck',
  '/exclude edge-01',
]

export const SECRET = '/Secret/shop/web'
const SECRET_TEXT = 'apiVersion: v1\nkind: Secret\nmetadata: {name: web, namespace: shop}\n'
const HEALTH: readonly JsonObject[] = [
  { conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] },
  { replicas: 1 },
  {
    replicas: 3,
    updatedReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    conditions: [
      { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
      { type: 'Available', status: 'True' },
    ],
  },
  { conditions: 'none' },
]

const NO_DRY_RUNS = new Failure({
  code: 'BP3003',
  what: 'cannot try',
  why: 'it is forbidden',
  remedy: 'allow it',
})

export type Step = (world: FleetWorld) => void

const cluster = fc.nat({ max: CLUSTERS - 1 })
const clusters = fc.uniqueArray(cluster, { minLength: 1, maxLength: CLUSTERS })
const object = fc.constantFrom(WEB, WEB_CONFIG)

function at(
  world: FleetWorld,
  index: number,
  key: string,
  change: (live: JsonObject) => JsonObject,
): void {
  if (world.cluster(index).objects.has(key)) world.cluster(index).change(key, change)
}

export const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ clusters, value: fc.constantFrom('red', 'green') }).map(
      ({ clusters: where, value }): Step =>
        (world) => {
          for (const index of where)
            at(world, index, WEB_CONFIG, (live) =>
              editedBy('kubectl-edit', live, 'data.color', value),
            )
        },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.record({ clusters, value: fc.constantFrom(4, 5) }).map(
      ({ clusters: where, value }): Step =>
        (world) => {
          for (const index of where)
            at(world, index, WEB, (live) => editedBy('kubectl-scale', live, 'spec.replicas', value))
        },
    ),
  },
  {
    weight: 2,
    arbitrary: clusters.map(
      (where): Step =>
        (world) => {
          for (const index of where)
            at(world, index, WEB, (live) =>
              editedBy('helper', live, 'metadata.labels.team', 'shop'),
            )
        },
    ),
  },
  // A write that changes nothing that is compared.
  {
    weight: 2,
    arbitrary: fc.tuple(cluster, object, fc.nat()).map(
      ([index, key, version]): Step =>
        (world) =>
          at(world, index, key, (live) => ({
            ...live,
            metadata: { ...(live['metadata'] as JsonObject), resourceVersion: String(version) },
          })),
    ),
  },
  {
    weight: 2,
    arbitrary: clusters.map(
      (where): Step =>
        (world) =>
          world.sync(where.map((index) => world.cluster(index))),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(cluster, object).map(
      ([index, key]): Step =>
        (world) =>
          void world.cluster(index).objects.delete(key),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(cluster, object).map(
      ([index, key]): Step =>
        (world) => {
          const { unreadable } = world.cluster(index)
          if (!unreadable.delete(key)) unreadable.add(key)
        },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...POLICIES).map(
      (policy): Step =>
        (world) =>
          void world.repository.commitByHand('main', { '.drift/policy.yaml': policyText(policy) }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom('blue', 'red', 'black'), fc.boolean()).map(
      ([color, applied]): Step =>
        (world) => {
          world.repository.commitByHand('main', {
            'apps/web/config.yaml': CONFIG.replace('blue', color),
          })
          if (applied) world.sync()
        },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map(
      (more): Step =>
        (world) =>
          void world.repository.commitByHand('main', {
            'apps/web/deployment.yaml': more ? `${DEPLOYMENT}# more\n` : DEPLOYMENT,
          }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.nat().map(
      (pick): Step =>
        (world) =>
          onOpen(world, pick, (branch) => world.merge(branch)),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.nat().map(
      (pick): Step =>
        (world) =>
          onOpen(world, pick, (branch) => world.close(branch)),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(), fc.constantFrom(...COMMANDS)).map(
      ([pick, body]): Step =>
        (world) =>
          onOpen(world, pick, (_branch, number) =>
            world.forge.comment(number, 'ada', body, { at: world.cluster(0).now }),
          ),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(), fc.nat({ max: 3 })).map(
      ([pick, box]): Step =>
        (world) =>
          onOpen(world, pick, (_branch, number, body) =>
            world.forge.byHand(number, { body: ticked(body, box) }),
          ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat({ max: 3 }).map(
      (box): Step =>
        (world) => {
          const issue = world.forge.issues.get('dashboard')
          if (issue !== undefined)
            world.forge.issues.set('dashboard', { ...issue, body: ticked(issue.body, box) })
        },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat().map(
      (pick): Step =>
        (world) =>
          onOpen(
            world,
            pick,
            (branch) =>
              void world.repository.commitByHand(branch, { 'apps/web/note.txt': 'mine\n' }),
          ),
    ),
  },
  // The controller of the Deployment says how it is doing.
  {
    weight: 5,
    arbitrary: fc.tuple(clusters, fc.constantFrom(...HEALTH)).map(
      ([where, status]): Step =>
        (world) => {
          for (const index of where) at(world, index, WEB, (live) => ({ ...live, status }))
        },
    ),
  },
  // A cluster is out of reach, or back.
  {
    weight: 2,
    arbitrary: fc.tuple(cluster, fc.constantFrom('BP3001', 'BP3002', 'BP3006')).map(
      ([index, code]): Step =>
        (world) => {
          const one = world.cluster(index)
          if (Object.hasOwn(one, 'identify')) Reflect.deleteProperty(one, 'identify')
          else
            one.identify = async () =>
              Promise.reject(
                new Failure({ code, what: 'cannot read', why: 'no answer', remedy: 'wait' }),
              )
        },
    ),
  },
  // Nobody can ask for dry runs, or everybody can again. What was asked before has expired by then.
  {
    weight: 1,
    arbitrary: cluster.map(
      (index): Step =>
        (world) => {
          const one = world.cluster(index)
          if (one.outage === undefined) world.pass(40)
          one.outage = one.outage === undefined ? NO_DRY_RUNS : undefined
        },
    ),
  },
  // The server does not know any longer who owns what, so that a dry run of the creation tells what differs.
  {
    weight: 2,
    arbitrary: clusters.map(
      (where): Step =>
        (world) => {
          for (const index of where)
            at(world, index, WEB_CONFIG, (live) => withMetadata(live, { managedFields: [] }))
        },
    ),
  },
  // A file that nobody can read, or it is taken away.
  {
    weight: 1,
    arbitrary: fc.boolean().map(
      (broken): Step =>
        (world) =>
          void world.repository.commitByHand('main', {
            'apps/web/bad/broken.yaml': broken ? 'a: [\n' : null,
          }),
    ),
  },
  // Somebody writes a key into the Secret, whose content nobody may read.
  {
    weight: 2,
    arbitrary: clusters.map(
      (where): Step =>
        (world) => {
          for (const index of where)
            at(world, index, SECRET, (live) =>
              editedBy('kubectl-patch', live, 'data.key', 'aHVudGVyMg=='),
            )
        },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(3, 29, 31, 120, 1440, 3 * 1440, 9 * 1440, 35 * 1440).map(
      (minutes): Step =>
        (world) =>
          world.pass(minutes),
    ),
  },
)

const MORE_POLICIES = [
  '{mode: Propose, actors: [{manager: kubectl-edit, class: controller}]}',
  '{mode: Propose, riskOverrides: [{target: {kind: ConfigMap}, risk: critical}]}',
  '{mode: Propose, extends: ["preset:none"]}',
  '{mode: Propose, fieldManager: kubectl-edit}',
  '{mode: Propose, ignore: [{managers: [kubectl-edit, kubectl-scale], reason: theirs}]}',
  '{mode: Propose, ignore: [{paths: [data.color], reason: colours are free, expires: "2026-11-22"}]}',
]
const SEALED = '/ConfigMap/shop/sealed'
const SEALED_TEXT = `apiVersion: v1
kind: ConfigMap
metadata: {name: sealed, namespace: shop}
data:
  token: ENC[AES256_GCM,data:dG9rZW4=,iv:c29tZSBpdg==,tag:c29tZSB0YWc=,type:str]
sops:
  mac: ENC[AES256_GCM,data:bWFj,iv:c29tZSBpdg==,tag:c29tZSB0YWc=,type:str]
  version: 3.9.4
`
const POD = '/Pod/shop/job'
const POD_TEXT =
  'apiVersion: v1\nkind: Pod\nmetadata: {name: job, namespace: shop}\nspec: {containers: [{name: job, image: busybox}]}\n'

function scaler(min: number): JsonObject {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: min,
      maxReplicas: 9,
    },
  }
}

/** What is said of an object though neither git nor the cluster has another one: policies, autoscalers, time; and what SOPS encrypted. */
export const surroundings: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(...MORE_POLICIES).map(
      (policy): Step =>
        (world) =>
          void world.repository.commitByHand('main', { '.drift/policy.yaml': policyText(policy) }),
    ),
  },
  fc.tuple(clusters, fc.constantFrom(undefined, 2, 6)).map(
    ([where, min]): Step =>
      (world) => {
        for (const index of where) {
          const { objects } = world.cluster(index)
          if (min === undefined) objects.delete('autoscaling/HorizontalPodAutoscaler/shop/web')
          else world.cluster(index).put(scaler(min))
        }
      },
  ),
  // Whether they may be listed.
  cluster.map(
    (index): Step =>
      (world) => {
        const { unreadable } = world.cluster(index)
        if (!unreadable.delete('autoscaling/HorizontalPodAutoscaler'))
          unreadable.add('autoscaling/HorizontalPodAutoscaler')
      },
  ),
  // The fake syncer applies the text of git as the decrypted one.
  fc.boolean().map(
    (there): Step =>
      (world) => {
        world.repository.commitByHand('main', {
          'apps/web/sealed.yaml': there ? SEALED_TEXT : null,
        })
        world.sync()
      },
  ),
  fc.tuple(clusters, fc.constantFrom('data.token', 'data.more', 'metadata.labels.team')).map(
    ([where, field]): Step =>
      (world) => {
        for (const index of where)
          at(world, index, SEALED, (live) => editedBy('kubectl-edit', live, field, 'by-hand'))
      },
  ),
  // A Pod that nobody can schedule has failed a little later, and is the same object.
  clusters.map(
    (where): Step =>
      (world) => {
        world.repository.commitByHand('main', { 'apps/web/pod.yaml': POD_TEXT })
        world.sync()
        for (const index of where) {
          const creationTimestamp = new Date(
            Date.parse(world.cluster(index).now) + 55_000,
          ).toISOString()
          const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }]
          at(world, index, POD, (live) => ({
            ...withMetadata(live, { creationTimestamp }),
            status: { phase: 'Pending', conditions },
          }))
        }
      },
  ),
)

function onOpen(
  world: FleetWorld,
  pick: number,
  work: (branch: string, number: number, body: string) => void,
): void {
  const open = world.forge.proposals.filter(
    ({ state, ref }) => state === 'open' && world.repository.branches.has(ref),
  )
  const one = open[pick % Math.max(1, open.length)]
  if (one !== undefined) work(one.ref.replace('refs/heads/', ''), one.number, one.body)
}

/** The box of that number, where there is one. */
function ticked(body: string, box: number): string {
  let count = -1
  return body.replaceAll('- [ ]', (empty) => {
    count += 1
    return count === box ? '- [x]' : empty
  })
}

export function begin(): FleetWorld {
  const world = new FleetWorld(CLUSTERS)
  world.forge.permissions.set('ada', 'write')
  world.forge.now = () => world.cluster(0).now
  for (const cluster of world.clusters) cluster.metadataOnly = true
  world.repository.commitByHand('main', { 'apps/web/secret.yaml': SECRET_TEXT })
  world.sync()
  return world
}
