/** Measures the cost for an API server while nothing changes: by the controller, and by other tools that compare at an interval. */
import { rmSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { ClusterVerdicts } from '../src/reconcile/observe/verdicts/cluster-verdicts.ts'
import { type DifferTool, findAppliers } from '../test/appliers/appliers.ts'
import type { ControlPlane } from '../test/controlplane/control-plane.ts'
import { startControlPlane } from '../test/controlplane/start-control-plane.ts'
import { measure, serverState } from './measure.ts'
import { type Bench, type BenchOptions, prepareBench } from './prepare.ts'
import { goalTable, percentile, spread } from './table.ts'
import { findTools } from './tools.ts'
import { between } from './watch.ts'
import { prepareController } from './watching-controller.ts'

/** Seconds. */
const IDLE = 60
const SWEPT = 200_000

interface IdleCost {
  readonly objects: number
  readonly requests: number
  /** CPU seconds of the API server with a running controller, and in the same time without one. */
  readonly cpu: number
  readonly alone: number
  /** Of one turn over all units. */
  readonly turn: { readonly requests: number; readonly cpu: number }
}

interface Sweep {
  readonly name: string
  readonly requests: number
  readonly serverCpu: number
  readonly wall: number
}

/** @returns a section of Markdown, without its heading. Rejects where no API server can be run. */
export async function benchIdle(
  options: BenchOptions & { readonly rounds: number },
  report: (line: string) => void,
): Promise<string> {
  const sizes = [8, 4, 2, 1].map((part) => Math.max(12, Math.round(options.objects / part)))
  const costs: IdleCost[] = []
  let sweeps: readonly Sweep[] = []
  let versions: readonly string[] = []
  for (const objects of sizes) {
    const plane = await startControlPlane()
    if (plane.state === 'unavailable') throw new Error(plane.why)
    let folder = ''
    try {
      report(`applying ${objects} objects`)
      const bench = await prepareBench(plane, { ...options, objects })
      folder = bench.folder
      costs.push(await idleCost(plane, bench, objects, report))
      if (objects !== sizes.at(-1)) continue
      const found = findTools(bench)
      versions = found.versions
      sweeps = await sweepsOf(plane, bench, options.rounds, report)
    } finally {
      await plane.stop()
      if (folder !== '') rmSync(folder, { recursive: true, force: true })
    }
  }
  const largest = costs.at(-1) as IdleCost
  const per = (one: Sweep): string =>
    Math.round((one.requests * 1000) / largest.objects).toLocaleString('en')
  const anchor = (pick: (one: Sweep) => string): string =>
    sweeps.map((one) => `${pick(one)} (${one.name})`).join('; ')
  const rate = sweepRate()
  const day = dayOf(largest, 120)
  const peerDay = sweeps
    .map(
      (one) =>
        `${((one.serverCpu / largest.objects) * 120 * 144).toFixed(0)} (${one.name}, each 10 minutes)`,
    )
    .join('; ')
  return [
    goalTable([
      [
        'G1: requests for 1,000 objects that are in sync',
        '0',
        anchor(per),
        String(largest.requests),
        '∞',
      ],
      [
        'G14: growth of the requests with the objects, exponent',
        '0',
        '1 (a poll)',
        exponentOf(costs),
        '',
      ],
      ['G15: CPU of the API server for 120 objects per day, s', '1', peerDay, day.toFixed(2), ''],
      [
        'G5: objects checked per second, millions',
        '2',
        anchor((one) => (largest.objects / one.wall / 1e6).toFixed(6)),
        (rate / 1e6).toFixed(1),
        '',
      ],
    ]),
    `Requests in ${IDLE} s without a change, with a running controller: ${costs.map((one) => `${one.requests} with ${one.objects} objects`).join(', ')}. CPU of the API server in that time, with and without a controller: ${costs.map((one) => `${one.cpu.toFixed(2)} and ${one.alone.toFixed(2)} s`).join(', ')}. A turn over all units takes ${costs.map((one) => `${one.turn.requests} requests and ${one.turn.cpu.toFixed(2)} s with ${one.objects} objects`).join(', ')}; the controller runs one per hour. G15 is 24 such turns and one dry run per object in a day, computed from the largest size.`,
    `The other tools ran ${options.rounds} times on the same ${largest.objects} objects, interleaved: one check of all objects, as at an interval. Flux and Argo CD are their Go libraries (versions in test/programs/appliers/go.mod). G5 is the rate at which a controller checks ${SWEPT.toLocaleString('en')} rows in one process for expired verdicts. The other tools compare each object, so the work differs: the controller gets changes from the watch.`,
    `${versions.join(', ')}; ${cpus().length} CPUs (${cpus()[0]?.model ?? 'unknown'}), ${process.platform}; one-minute load ${spread([loadavg()[0] ?? Number.NaN], 1)}.`,
  ].join('\n')
}

async function idleCost(
  plane: ControlPlane,
  bench: Bench,
  objects: number,
  report: (line: string) => void,
): Promise<IdleCost> {
  const alone = await between(plane, () => sleep(IDLE * 1_000))
  const start = prepareController(bench)
  const controller = start()
  try {
    await controller.until('a first turn', 0, ({ event }) => event === 'turn')
    await controller.until('watched', 0, ({ event, why }) => event === 'watch' && why === undefined)
    await sleep(15_000)
    const idle = await between(plane, () => sleep(IDLE * 1_000))
    await controller.stop()
    // The second start has verdicts, so its requests are those of a turn over all units.
    const before = await serverState(plane)
    const again = start()
    await again.until('a first turn', 0, ({ event }) => event === 'turn')
    const after = await serverState(plane)
    await again.stop()
    const turn = { requests: after.requests - before.requests, cpu: after.cpu - before.cpu }
    report(
      `${objects} objects: ${idle.requests} requests in ${IDLE} s; a turn about everything: ${turn.requests}`,
    )
    return { objects, requests: idle.requests, cpu: idle.cpu, alone: alone.cpu, turn }
  } finally {
    await controller.stop()
  }
}

async function sweepsOf(
  plane: ControlPlane,
  bench: Bench,
  rounds: number,
  report: (line: string) => void,
): Promise<readonly Sweep[]> {
  const kubectl = findTools(bench).tools.find(({ name }) => name.includes('concurrency=8'))
  const appliers = await findAppliers()
  const manifests = bench.packages
    .flatMap(({ objects }) => objects.map((object) => JSON.stringify(object)))
    .join('\n---\n')
  const runs = new Map<string, () => Promise<unknown>>()
  if (kubectl !== undefined) runs.set('kubectl diff', () => measure(plane, kubectl.commands))
  if (appliers.state === 'ready')
    for (const [tool, name] of [
      ['flux', 'Flux, library'],
      ['argo-client-side', 'Argo CD, engine'],
    ] as const satisfies readonly (readonly [DifferTool, string])[])
      runs.set(name, () =>
        appliers.diffWith(tool, {
          kubeconfig: plane.kubeconfig,
          namespace: 'default',
          manifests,
          name: 'bench',
          unmarked: true,
        }),
      )
  const costs = new Map<string, Sweep[]>()
  for (let round = 0; round <= rounds; round += 1)
    for (const [name, run] of runs) {
      const before = await serverState(plane)
      const from = performance.now()
      await run()
      const wall = (performance.now() - from) / 1000
      const after = await serverState(plane)
      const sweep = {
        name,
        wall,
        requests: after.requests - before.requests,
        serverCpu: after.cpu - before.cpu,
      }
      if (round > 0) costs.set(name, [...(costs.get(name) ?? []), sweep])
      report(`${name}: ${sweep.requests} requests, ${wall.toFixed(1)} s`)
    }
  return [...costs].map(([name, own]) => ({
    name,
    wall: percentile(
      own.map(({ wall }) => wall),
      50,
    ),
    requests: percentile(
      own.map(({ requests }) => requests),
      50,
    ),
    serverCpu: percentile(
      own.map(({ serverCpu }) => serverCpu),
      50,
    ),
  }))
}

/** Seconds: 24 turns over all units, and one dry run per object, which costs at most as much as a sweep of the other tools. */
function dayOf({ objects, turn }: IdleCost, wanted: number): number {
  return 24 * turn.cpu * (wanted / objects) + wanted * 0.003
}

/** Slope of log(requests + 1) on log(objects). */
function exponentOf(costs: readonly IdleCost[]): string {
  const points = costs.map(
    ({ objects, requests }) => [Math.log(objects), Math.log(requests + 1)] as const,
  )
  const mean = (at: 0 | 1): number =>
    points.reduce((sum, point) => sum + point[at], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const slope =
    points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) /
    points.reduce((sum, [own]) => sum + (own - x) ** 2, 0)
  return slope.toFixed(2)
}

/** Objects per second. */
function sweepRate(): number {
  const verdicts = new ClusterVerdicts(
    createRedactionKey(new Uint8Array(32).fill(7)),
    Math.random,
    undefined,
  )
  const mark = new Uint32Array(4)
  for (let row = 0; row < SWEPT; row += 1)
    verdicts.table.put(Uint32Array.of(Math.imul(row, 2_654_435_761) >>> 0, row), {
      mark,
      question: mark.subarray(0, 3),
      unit: row % 1_000,
      until: 4_000_000_000,
      state: 0,
    })
  const from = performance.now()
  let looks = 0
  while (performance.now() - from < 2_000) {
    verdicts.listDueUnits(1_000)
    looks += 1
  }
  return (looks * SWEPT * 1000) / (performance.now() - from)
}
