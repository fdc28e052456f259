/** Random days of a fleet whose changes are watched: what people, syncers, controllers and reviewers do, and what the watch loses of it. */
import fc from 'fast-check'
import type { JsonObject } from '../../src/text/json.ts'
import type { EventPath } from '../fakes/event-path.ts'
import { FleetWorld } from '../fakes/fleet-world.ts'
import { editedBy, withMetadata } from '../fakes/live-object.ts'
import type { WatchEvent } from '../fakes/memory-watch.ts'
import { CONFIG, DEPLOYMENT, KPTFILE, policyText, WEB, WEB_CONFIG } from '../fakes/turn-world.ts'

const AT_ONCE =
  'detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0, prConcurrentLimit: 0, stormThreshold: 0, stormShare: 0, digest: off}'
const POLICIES = [
  `{mode: Propose, ${AT_ONCE}}`,
  `{mode: Warn, ${AT_ONCE}}`,
  `{mode: Off, ${AT_ONCE}}`,
  `{mode: Propose, ${AT_ONCE}, ignore: [{paths: [data.color], reason: colours are free}]}`,
]
const OTHERS = ['api', 'db'] as const

export interface Day {
  readonly name: string
  /** What happens in both fleets. */
  readonly step: (world: FleetWorld) => void
  /** Whether it is about git or what was proposed: what clusters ran before that decides what it means. */
  readonly isInGit: boolean
}

export interface Fault {
  readonly name: string
  /** What happens to the events that are not told yet. */
  readonly fault: (path: EventPath) => void
}

export interface Size {
  readonly clusters: number
  /** 1 to 3. */
  readonly packages: number
}

/** A fleet in sync. */
export function beginFleet({ clusters, packages }: Size): FleetWorld {
  const world = new FleetWorld(clusters, POLICIES[0])
  world.forge.now = () => world.cluster(0).now
  for (const name of OTHERS.slice(0, packages - 1))
    world.repository.commitByHand('main', {
      [`apps/${name}/Kptfile`]: KPTFILE.replace('web', name),
      [`apps/${name}/config.yaml`]: configOf(name),
    })
  world.sync()
  return world
}

function configOf(name: string): string {
  return CONFIG.replace('name: web', `name: ${name}`)
}

function at(world: FleetWorld, index: number, key: string, change: (live: JsonObject) => JsonObject): void {
  if (world.cluster(index).objects.has(key)) world.cluster(index).change(key, change)
}

const HEALTH: readonly JsonObject[] = [
  { conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] },
  { observedGeneration: 1, replicas: 1, conditions: [] },
  {
    observedGeneration: 1,
    replicas: 3,
    updatedReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    conditions: [
      { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
      { type: 'Available', status: 'True' },
    ],
  },
]

export function days({ clusters, packages }: Size): fc.Arbitrary<Day> {
  const cluster = fc.nat({ max: clusters - 1 })
  const names = ['web', ...OTHERS.slice(0, packages - 1)]
  const config = fc.constantFrom(...names.map((name) => `/ConfigMap/shop/${name}`))
  const object = fc.oneof(config, fc.constant(WEB))
  const day = (name: string, step: (world: FleetWorld) => void, isInGit = false): Day => ({ name, step, isInGit })
  const edits = fc.oneof(
    fc
      .tuple(cluster, config, fc.constantFrom('red', 'green', 'blue'))
      .map(([index, key, color]) =>
        day(`${key} of ${index} is ${color} by hand`, (world) =>
          at(world, index, key, (live) => editedBy('kubectl-edit', live, 'data.color', color)),
        ),
      ),
    fc
      .tuple(cluster, fc.constantFrom(3, 4, 5))
      .map(([index, replicas]) =>
        day(`${index} is scaled to ${replicas}`, (world) =>
          at(world, index, WEB, (live) => editedBy('kubectl-scale', live, 'spec.replicas', replicas)),
        ),
      ),
    fc
      .tuple(cluster, object)
      .map(([index, key]) =>
        day(`${key} of ${index} has a label of a helper`, (world) =>
          at(world, index, key, (live) => editedBy('helper', live, 'metadata.labels.team', 'shop')),
        ),
      ),
    // Of one object only: its unit has the same syncer still.
    cluster.map((index) =>
      day(`nobody is known to own the ConfigMap of ${index}`, (world) => {
        if (world.cluster(index).objects.has(WEB)) at(world, index, WEB_CONFIG, (live) => withMetadata(live, { managedFields: [] }))
      }),
    ),
    fc
      .tuple(cluster, object)
      .map(([index, key]) => day(`${key} of ${index} is written as it is`, (world) => at(world, index, key, (live) => ({ ...live })))),
    fc
      .tuple(cluster, fc.constantFrom(...HEALTH))
      .map(([index, status]) =>
        day(`the status of ${index} is ${JSON.stringify(status).slice(0, 60)}`, (world) =>
          at(world, index, WEB, (live) => ({ ...live, status })),
        ),
      ),
    fc
      .tuple(cluster, object)
      .map(([index, key]) => day(`${key} of ${index} is deleted`, (world) => void world.cluster(index).objects.delete(key))),
  )
  const commits = fc.oneof(
    fc
      .tuple(fc.constantFrom(...names), fc.constantFrom('blue', 'black'))
      .map(([name, color]) =>
        day(`${name} is ${color} in git`, (world) =>
          world.repository.commitByHand('main', { [`apps/${name}/config.yaml`]: configOf(name).replace('blue', color) }),
        ),
      ),
    fc
      .constantFrom(...POLICIES)
      .map((policy) =>
        day(`the policy is ${policy.slice(0, 14)}`, (world) =>
          world.repository.commitByHand('main', { '.drift/policy.yaml': policyText(policy) }),
        ),
      ),
    fc
      .boolean()
      .map((more) =>
        day(`the Deployment has a comment in git: ${more}`, (world) =>
          world.repository.commitByHand('main', { 'apps/web/deployment.yaml': more ? `${DEPLOYMENT}# more\n` : DEPLOYMENT }),
        ),
      ),
    fc
      .tuple(fc.constantFrom(...names), fc.boolean())
      .map(([name, isThere]) =>
        day(`${name} has another object: ${isThere}`, (world) =>
          world.repository.commitByHand('main', { [`apps/${name}/more.yaml`]: isThere ? configOf(`${name}-more`) : null }),
        ),
      ),
    fc.nat().map((value) => day('a text is written', (world) => world.repository.commitByHand('main', { 'README.md': `${value}\n` }))),
  )
  const syncs = cluster.map((index) => day(`the syncer of ${index} applies`, (world) => world.sync([world.cluster(index)])))
  const decisions = fc
    .tuple(fc.nat(), fc.constantFrom('merged', 'closed', 'taken over'))
    .map(([pick, how]) => day(`proposal ${pick} is ${how}`, (world) => onOpen(world, pick, (branch) => decide(world, branch, how)), true))
  return fc.oneof(
    { weight: 5, arbitrary: edits },
    { weight: 2, arbitrary: commits.map((one) => ({ ...one, isInGit: true })) },
    { weight: 2, arbitrary: syncs },
    { weight: 2, arbitrary: decisions },
  )
}

function decide(world: FleetWorld, branch: string, how: string): void {
  if (how === 'merged') world.merge(branch)
  else if (how === 'closed') world.close(branch)
  else world.repository.commitByHand(branch, { 'apps/web/note.txt': 'mine\n' })
}

function onOpen(world: FleetWorld, pick: number, work: (branch: string) => void): void {
  const open = world.forge.proposals.filter(({ state, ref }) => state === 'open' && world.repository.branches.has(ref))
  const refs = open.map(({ ref }) => ref.replace('refs/heads/', '')).sort()
  const one = refs[pick % Math.max(1, refs.length)]
  if (one !== undefined) work(one)
}

export const faults: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ name: 'all is told', fault: () => undefined }) },
  fc.nat().map((pick) => ({
    name: `event ${pick} is lost`,
    fault: (path: EventPath) => each(path, (waiting) => (waiting.length === 0 ? waiting : waiting.toSpliced(pick % waiting.length, 1))),
  })),
  fc.constant({ name: 'each event is told twice', fault: (path: EventPath) => each(path, (waiting) => [...waiting, ...waiting]) }),
  fc.constant({
    name: 'objects are told in the opposite order',
    fault: (path: EventPath) => each(path, (waiting) => [...Map.groupBy(waiting, ({ key }) => key).values()].reverse().flat()),
  }),
  fc.constant({
    name: 'the watches begin again',
    fault: (path: EventPath) => {
      for (const watch of path.watches.values()) watch.relist()
    },
  }),
)

/** An older state of an object is told after the present one. */
export const staleFaults: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 3, arbitrary: faults },
  fc.nat().map((pick) => ({
    name: `an old event ${pick} is told again`,
    fault: (path: EventPath) => {
      for (const { told, waiting } of path.watches.values()) {
        const old = told[pick % Math.max(1, told.length)]
        if (old !== undefined && told.length > 0) waiting.push(old)
      }
    },
  })),
)

function each(path: EventPath, change: (waiting: WatchEvent[]) => WatchEvent[]): void {
  for (const watch of path.watches.values()) watch.waiting = change(watch.waiting)
}
