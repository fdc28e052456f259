/** A repository, a control plane of the test's own, and the controller as a process that watches it. */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { parse } from 'yaml'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { startControlPlane } from '../controlplane/start-control-plane.ts'
import { type LogEvent, logEvents } from '../fakes/log-events.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import { Controller } from './controller-process.ts'
import { kptfile, policy } from './packages.ts'
import { type Files, openWorld, type World } from './world.ts'

export const PROPOSE = policy('mode: Propose')

export async function ownPlane(t: TestContext): Promise<ControlPlane> {
  const plane = await startControlPlane()
  if (plane.state === 'unavailable') throw new Error(plane.why)
  t.after(() => plane.stop())
  return plane
}

/** A package of ConfigMaps: `data.color` of each is red. */
export function configPackage(name: string, namespace: string, objects: readonly string[]): Files {
  const one = (object: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${object}\n  namespace: ${namespace}\ndata:\n  color: red # as agreed\n`
  return {
    [`apps/${name}/Kptfile`]: kptfile(name),
    [`apps/${name}/config.yaml`]: objects.map(one).join('---\n'),
  }
}

/** A hand edit. */
export async function paint(
  world: World,
  namespace: string,
  object: string,
  color: string,
): Promise<void> {
  await world.kubectl(
    'patch',
    `configmap/${object}`,
    '-n',
    namespace,
    '--type=merge',
    '-p',
    JSON.stringify({ data: { color } }),
  )
}

export interface Watched {
  readonly plane: ControlPlane
  readonly world: World
  readonly namespace: string
}

/** Two packages that are applied and in sync: `web` (a1, a2, a3) and `shop` (b1). */
export async function openWatched(
  t: TestContext,
  more: (namespace: string) => Files = () => ({}),
): Promise<Watched> {
  const plane = await ownPlane(t)
  const namespace = await plane.namespace('watched')
  const files = {
    ...configPackage('web', namespace, ['a1', 'a2', 'a3']),
    ...configPackage('shop', namespace, ['b1']),
    ...PROPOSE,
  }
  const world = await openWorld(t, plane, { ...files, ...more(namespace) })
  await world.sync('apps/web')
  await world.sync('apps/shop')
  // A person changed each value and took it back: only a dry run proves that they are in sync.
  for (const color of ['blue', 'red'])
    for (const object of ['a1', 'a2', 'a3', 'b1']) await paint(world, namespace, object, color)
  return { plane, world, namespace }
}

/** The controller, polling every 2 seconds; resolves when changes are watched. */
export async function startWatching(
  t: TestContext,
  world: World,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<WatchingController> {
  const controller = new WatchingController(
    t,
    world,
    ['--interval', '2s', '--log-level', 'debug', '--http-address', '127.0.0.1:0', ...args],
    env,
  )
  await controller.until('it is watched', () =>
    controller.sights().some(({ why }) => why === undefined),
  )
  return controller
}

export class WatchingController extends Controller {
  events(event?: string): LogEvent[] {
    return logEvents(this.stderr.slice(0, this.stderr.lastIndexOf('\n') + 1), event)
  }

  sights(): LogEvent[] {
    return this.events('watch')
  }

  /** `<outcome> <package> <state>` of each change of a unit. */
  transitions(): string[] {
    return this.events('transition').map(
      (one) => `${one['outcome']} ${one['package']} ${one['state']}`,
    )
  }

  /** Codes of failures that were logged. */
  failures(): string[] {
    return this.events('failure').map((one) => String(one['code']))
  }

  async get(
    path: '/metrics' | '/readyz',
  ): Promise<{ readonly status: number; readonly body: string }> {
    const base = /http:\/\/127\.0\.0\.1:\d+/.exec(this.stderr)?.[0]
    assert.ok(base !== undefined)
    const answer = await fetch(`${base}${path}`)
    return { status: answer.status, body: await answer.text() }
  }

  /** The value of a metric, summed over its series whose labels have the text. */
  async metric(name: string, labels = ''): Promise<number> {
    return sumOf((await this.get('/metrics')).body, name, labels)
  }

  /** Requests that read from the git server: one in each look, and some more in a turn. */
  private asked(): Promise<number> {
    return this.metric('backporch_git_fetch_total')
  }

  /** Waits until it has looked so often again. It is done with what it found in all but the last look. */
  async looks(count: number): Promise<void> {
    const before = await this.asked()
    await this.until(
      `it looks ${count} more times`,
      async () => (await this.asked()) >= before + count,
    )
  }

  /** Waits until it is so. @returns how often it asked the git server meanwhile: that tells soon from late, whatever the speed of the machine */
  async looksUntil(what: string, isSo: () => boolean | Promise<boolean>): Promise<number> {
    const before = await this.asked()
    await this.until(what, isSo)
    return (await this.asked()) - before
  }

  async kill(): Promise<void> {
    this.send('SIGKILL')
    await this.exited
  }

  async stop(): Promise<void> {
    this.send('SIGTERM')
    assert.equal((await this.exited).code, 0)
  }
}

export function sumOf(metrics: string, name: string, labels = ''): number {
  const lines = metrics
    .split('\n')
    .filter(
      (line) =>
        (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && line.includes(labels),
    )
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

/** Dry runs that the server had since it started. */
export async function dryRuns(plane: ControlPlane): Promise<number> {
  const { body } = await plane.request<string>('GET', '/metrics')
  return sumOf(body, 'apiserver_request_total', 'dry_run="All"')
}

interface Observation {
  readonly status: {
    readonly observedAt?: string
    readonly reachable: boolean
    readonly failure?: { readonly code: string; readonly since: string }
  }
}

/** What the ledger says of a cluster. */
export async function ledgerOf(world: World, cluster = 'test'): Promise<Observation['status']> {
  return (
    parse(await world.show('drift-ledger', `clusters/${cluster}/observation.yaml`)) as Observation
  ).status
}

export interface UnitReport {
  readonly spec: { readonly unit: { readonly package: string }; readonly fingerprint: string }
  readonly status: {
    readonly state: string
    readonly incomplete?: readonly { readonly code: string }[]
  }
}

/** What `status` says of each unit, by the path of its package. */
export async function reportsOf(
  world: World,
  ...args: readonly string[]
): Promise<ReadonlyMap<string, UnitReport>> {
  const run = await world.backporch('status', '-o', 'json', '--no-exit-code', ...args)
  const { items } = JSON.parse(run.stdout) as { items: UnitReport[] }
  return new Map(items.map((item) => [item.spec.unit.package, item]))
}

/** The state of each unit, by the path of its package. */
export async function statesOf(world: World): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries(
    [...(await reportsOf(world))].map(([path, { status }]) => [path, status.state]),
  )
}

interface GatedPushes {
  readonly hold: () => void
  readonly isHeld: () => boolean
  /** Waits until it is seen several times more that one is held. */
  readonly staysHeld: () => Promise<void>
  readonly release: () => void
}

/** Pushes wait as long as `gate` is there; `reached` says that one does. */
export function gatedPushes(world: World): GatedPushes {
  const [gate, reached] = [join(world.folder, 'gate'), join(world.folder, 'reached')]
  const hook = join(world.repository, 'hooks', 'pre-receive')
  // It does not outlive an interrupted run.
  const isHeldOpen = `[ -e ${gate} ] && kill -0 ${process.pid} 2>/dev/null`
  writeFileSync(
    hook,
    `#!/bin/sh\ncat >/dev/null\nwhile ${isHeldOpen}; do touch ${reached}; sleep 0.1; done\n`,
  )
  chmodSync(hook, 0o755)
  const isHeld = (): boolean => existsSync(reached)
  const staysHeld = async (): Promise<void> => {
    for (let time = 0; time < 5; time += 1) {
      rmSync(reached)
      await waitUntil('a push is still held', isHeld)
    }
  }
  return { hold: () => writeFileSync(gate, ''), isHeld, staysHeld, release: () => rmSync(gate) }
}
