/** Measures the requests of the watching controller while nothing changes, and the time from a change to its verdict. */
import { rmSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from '../test/controlplane/control-plane.ts'
import { startControlPlane } from '../test/controlplane/start-control-plane.ts'
import type { BenchObject } from './generate.ts'
import { serverState } from './measure.ts'
import { type BenchOptions, pathOf, prepareBench } from './prepare.ts'
import { goalTable, percentile, spread } from './table.ts'
import { prepareController, type WatchingController } from './watching-controller.ts'

/** Seconds. */
const IDLE = 60
const STATUS_WRITES = 1_000

interface WatchOptions extends BenchOptions {
  /** Measured changes. */
  readonly rounds: number
}

/** @returns a section of Markdown, without its heading. Rejects where no API server can be run. */
export async function benchWatch(
  options: WatchOptions,
  report: (line: string) => void,
): Promise<string> {
  const plane = await startControlPlane()
  if (plane.state === 'unavailable') throw new Error(plane.why)
  let folder = ''
  let controller: WatchingController | undefined
  try {
    report(`applying ${options.objects} objects`)
    const bench = await prepareBench(plane, options)
    folder = bench.folder
    controller = prepareController(bench)()
    const first = await controller.until('a first turn', 0, ({ event }) => event === 'turn')
    report(
      `first turn: ${String(first['durationSeconds'])} s, ${String(first['requests'])} requests`,
    )
    await controller.until(
      'changes are watched',
      0,
      ({ event, why }) => event === 'watch' && why === undefined,
    )
    await sleep(5_000)

    const idle = await between(plane, () => sleep(IDLE * 1_000))
    report(
      `idle for ${IDLE} s: ${idle.requests} requests, ${idle.dryRuns} dry runs, ${idle.cpu.toFixed(2)} s of the server's CPU`,
    )

    const objects = bench.packages.flatMap((one) => one.objects)
    const deployments = objects.filter(({ kind }) => kind === 'Deployment')
    const status = await between(plane, async () => {
      for (let write = 0; write < STATUS_WRITES; write += 1)
        await writeStatus(plane, deployments[write % deployments.length] as BenchObject, write)
      await sleep(2_000)
    })
    report(
      `${STATUS_WRITES} status writes: ${status.requests - STATUS_WRITES} other requests, ${status.dryRuns} dry runs`,
    )

    const configMaps = objects.filter(({ kind }) => kind === 'ConfigMap')
    const [fromSent, fromAnswer, own]: [number[], number[], number[]] = [[], [], []]
    for (let round = 0; round <= options.rounds; round += 1) {
      const object = configMaps[(round * 7) % configMaps.length] as BenchObject
      const from = controller.lines.length
      const sent = performance.now()
      const { status: code } = await plane.request(
        'PATCH',
        `${pathOf(object)}?fieldManager=kubectl-edit`,
        {
          body: { data: { key0: `edited-${round}` } },
          contentType: 'application/merge-patch+json',
        },
      )
      const answered = performance.now()
      if (code !== 200) throw new Error(`the edit was answered with ${code}`)
      const judged = await controller.until('a verdict', from, ({ event }) => event === 'judged')
      if (judged['verdict'] !== 'drifted')
        throw new Error(`the edit was judged ${String(judged['verdict'])}`)
      if (round > 0) {
        fromSent.push(judged.at - sent)
        fromAnswer.push(judged.at - answered)
        own.push(Number(judged['milliseconds']))
      }
      await sleep(round % 10 === 9 ? 1_500 : 50)
    }
    const times = (values: readonly number[]): string =>
      `p50 ${percentile(values, 50).toFixed(1)} ms, p95 ${percentile(values, 95).toFixed(1)} ms, p99 ${percentile(values, 99).toFixed(1)} ms`
    report(`edit sent → verdict: ${times(fromSent)}`)
    report(`edit answered → verdict: ${times(fromAnswer)}`)
    report(`event read → verdict: ${times(own)}`)
    const p = (values: readonly number[], part: number): string =>
      percentile(values, part).toFixed(1)
    const { body } = await plane.request<{ gitVersion: string }>('GET', '/version')
    return [
      goalTable([
        [
          'G2: dry runs for 1,000 writes of a status',
          '0',
          '1,079 (a key with the resourceVersion)',
          String(status.dryRuns),
          '∞',
        ],
        [
          'G3: manual edit sent → verdict, p50 / p99 ms',
          '20 / 100',
          '300,000 mean (a poll each 10 minutes)',
          `${p(fromSent, 50)} / ${p(fromSent, 99)}`,
          `${Math.round(300_000 / percentile(fromSent, 50))}`,
        ],
        ['event read → verdict, p50 / p99 ms', '', '', `${p(own, 50)} / ${p(own, 99)}`, ''],
        [`requests in ${IDLE} s without a change`, '0', '', String(idle.requests), ''],
        [
          'requests beside those that write the 1,000 statuses',
          '0',
          '',
          String(status.requests - STATUS_WRITES),
          '',
        ],
      ]),
      `${options.objects} objects in ${bench.packages.length} packages, one controller; ${options.rounds} edits of ConfigMaps after one warm-up edit. The API server counts the requests (\`apiserver_request_total\`, without WATCH). "Sent → verdict" ends when this process reads the controller's log line. The anchors are reference measurements of another day.`,
      `kube-apiserver ${body.gitVersion}, Node ${process.versions.node}; ${cpus().length} CPUs (${cpus()[0]?.model ?? 'unknown'}), ${process.platform}; one-minute load ${spread([loadavg()[0] ?? Number.NaN], 1)}.`,
    ].join('\n')
  } finally {
    await controller?.stop()
    await plane.stop()
    if (folder !== '') rmSync(folder, { recursive: true, force: true })
  }
}

export async function between(
  plane: ControlPlane,
  work: () => Promise<void>,
): Promise<{ requests: number; dryRuns: number; cpu: number }> {
  const before = await serverState(plane)
  await work()
  const after = await serverState(plane)
  return {
    requests: after.requests - before.requests,
    dryRuns: after.dryRuns - before.dryRuns,
    cpu: after.cpu - before.cpu,
  }
}

async function writeStatus(plane: ControlPlane, object: BenchObject, write: number): Promise<void> {
  const condition = {
    type: 'Available',
    status: 'True',
    reason: 'MinimumReplicasAvailable',
    message: `write ${write}`,
    lastUpdateTime: new Date().toISOString(),
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const { status } = await plane.request(
    'PATCH',
    `${pathOf(object)}/status?fieldManager=bench-status`,
    {
      body: { status: { conditions: [condition] } },
      contentType: 'application/strategic-merge-patch+json',
    },
  )
  if (status !== 200)
    throw new Error(`the status of ${object.metadata.name} was answered with ${status}`)
}
