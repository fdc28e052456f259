/** Measures the time until a controller knows all objects: at its first start, and at one with the state of the previous process. */
import { rmSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { startControlPlane } from '../test/controlplane/start-control-plane.ts'
import { measure, serverState } from './measure.ts'
import { type BenchOptions, prepareBench } from './prepare.ts'
import { goalTable, percentile, spread } from './table.ts'
import { findTools } from './tools.ts'
import { prepareController } from './watching-controller.ts'

interface Started {
  /** Seconds from the start of the process. */
  readonly firstTurn: number
  readonly watched: number
  readonly requests: number
  readonly dryRuns: number
  readonly serverCpu: number
}

/** @returns a section of Markdown, without its heading. Rejects where no API server can be run. */
export async function benchRestart(
  options: BenchOptions & { readonly rounds: number },
  report: (line: string) => void,
): Promise<string> {
  const plane = await startControlPlane()
  if (plane.state === 'unavailable') throw new Error(plane.why)
  let folder = ''
  try {
    report(`applying ${options.objects} objects`)
    const bench = await prepareBench(plane, options)
    folder = bench.folder
    const start = prepareController(bench)
    const { tools, versions } = findTools(bench)
    const peer = tools.find(({ name }) => name.includes('concurrency=8'))
    const once = async (what: string): Promise<Started> => {
      const before = await serverState(plane)
      const from = performance.now()
      const controller = start()
      const turn = await controller.until('a first turn', 0, ({ event }) => event === 'turn')
      const watched = await controller.until(
        'watched',
        0,
        ({ event, why }) => event === 'watch' && why === undefined,
      )
      const after = await serverState(plane)
      await controller.stop()
      const started = {
        firstTurn: (turn.at - from) / 1000,
        watched: (watched.at - from) / 1000,
        requests: after.requests - before.requests,
        dryRuns: after.dryRuns - before.dryRuns,
        serverCpu: after.cpu - before.cpu,
      }
      report(
        `${what}: first turn after ${started.firstTurn.toFixed(2)} s, watched after ${started.watched.toFixed(2)} s, ${started.requests} requests, ${started.dryRuns} dry runs`,
      )
      return started
    }
    const cold = await once('cold')
    const warm: Started[] = []
    const walls: number[] = []
    let peerRequests = 0
    for (let round = 0; round < options.rounds; round += 1) {
      warm.push(await once(`warm ${round + 1}`))
      if (peer === undefined) continue
      const { cost } = await measure(plane, peer.commands)
      walls.push(cost.wall)
      peerRequests = cost.requests
      report(`${peer.name}: ${cost.wall.toFixed(1)} s`)
    }
    const median = (pick: (one: Started) => number): number => percentile(warm.map(pick), 50)
    const anchor = percentile(walls, 50)
    return [
      goalTable([
        [
          'G6: warm restart → all objects checked, s',
          '1.5',
          walls.length === 0
            ? ''
            : `${anchor.toFixed(1)} (\`kubectl diff --server-side --concurrency=8\`)`,
          `${median(({ watched }) => watched).toFixed(2)} (with Node's start)`,
          walls.length === 0 ? '' : `${(anchor / median(({ watched }) => watched)).toFixed(0)}`,
        ],
        [
          'warm restart → end of the first turn, s',
          '',
          '',
          median(({ firstTurn }) => firstTurn).toFixed(2),
          '',
        ],
        [
          'requests of a warm restart',
          '',
          walls.length === 0 ? '' : String(peerRequests),
          String(median(({ requests }) => requests)),
          '',
        ],
        ['dry runs of a warm restart', '0', '', String(median(({ dryRuns }) => dryRuns)), ''],
        ['first start, s / dry runs', '', '', `${cold.firstTurn.toFixed(2)} / ${cold.dryRuns}`, ''],
        [
          'CPU of the API server, warm / first start, s',
          '',
          '',
          `${median(({ serverCpu }) => serverCpu).toFixed(2)} / ${cold.serverCpu.toFixed(2)}`,
          '',
        ],
      ]),
      `${options.objects} objects in ${bench.packages.length} packages; ${options.rounds} rounds, interleaved. Checked means that each object was listed and its mark compared with the stored verdict of the previous process; changed objects are queued. The first turn reads git, renders all packages, lists the cluster, compares, and writes the ledger.`,
      `${versions.join(', ')}; ${cpus().length} CPUs (${cpus()[0]?.model ?? 'unknown'}), ${process.platform}; one-minute load ${spread([loadavg()[0] ?? Number.NaN], 1)}.`,
    ].join('\n')
  } finally {
    await plane.stop()
    if (folder !== '') rmSync(folder, { recursive: true, force: true })
  }
}
