/** What a random day of a watched fleet is made of, and the fleet that it happens in. */
import type { JsonObject } from '@backporch/kyaml/json'
import { CONFIG, KPTFILE, policyText } from '../fakes/turn-world.ts'
import { SyncedFleet, type SyncerName } from './synced-fleet.ts'

export interface Day {
  readonly name: string
  /** What happens in both fleets. */
  readonly step: (world: SyncedFleet) => void
  /** Whether it is about git or what was proposed: what clusters ran before that decides what it means. */
  readonly isInGit: boolean
  /** That pass at once after the step. */
  readonly minutes: number
}

export interface Size {
  readonly clusters: number
  /** 1 to 3. */
  readonly packages: number
  /** Undefined for one without a resource of its own. */
  readonly syncer?: SyncerName | undefined
}

const AT_ONCE = 'prHourlyLimit: 0, prConcurrentLimit: 0, stormThreshold: 0, stormShare: 0'
const OTHERS = ['api', 'db'] as const

export function day(
  name: string,
  step: Day['step'],
  more: Partial<Pick<Day, 'isInGit' | 'minutes'>> = {},
): Day {
  return { name, step, isInGit: false, minutes: 0, ...more }
}

/** A policy under which drift waits for nothing but what is given. */
export function policyOf(
  mode: string,
  more = '',
  detect = '{minAge: 0s, settle: 0s}',
  limits = 'digest: off',
): string {
  return `{mode: ${mode}, detect: ${detect}, limits: {${AT_ONCE}, ${limits}}${more === '' ? '' : `, ${more}`}}`
}

/** Names of the packages. */
export function packagesOf({ packages }: Pick<Size, 'packages'>): readonly string[] {
  return ['web', ...OTHERS.slice(0, packages - 1)]
}

export function configOf(name: string): string {
  return CONFIG.replace('name: web', `name: ${name}`)
}

/** A fleet in sync. */
export function beginFleet({ clusters, packages, syncer }: Size): SyncedFleet {
  const world = new SyncedFleet(clusters, policyOf('Propose'), syncer)
  world.forge.now = () => world.cluster(0).now
  world.forge.permissions.set('grace', 'write')
  world.repository.commitByHand('main', {
    '.drift/policy.yaml': policyText(policyOf('Propose')),
    'apps/web/Kptfile': world.kptfile('web'),
  })
  for (const name of OTHERS.slice(0, packages - 1))
    world.repository.commitByHand('main', {
      [`apps/${name}/Kptfile`]: KPTFILE.replace('web', name),
      [`apps/${name}/config.yaml`]: configOf(name),
    })
  world.sync()
  return world
}

/** The object is changed where it is. */
export function at(
  world: SyncedFleet,
  index: number,
  key: string,
  change: (live: JsonObject) => JsonObject,
): void {
  if (world.cluster(index).objects.has(key)) world.cluster(index).change(key, change)
}
