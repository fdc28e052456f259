/** Measures the memory that the controller keeps for objects in sync and for the kinds that it follows. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WatchedKind } from '@backporch/cluster/cluster-watch'
import type { JsonObject } from '@backporch/kyaml/json'
import { startControlPlane } from '../test/controlplane/start-control-plane.ts'
import { appliedBy } from '../test/fakes/live-object.ts'
import { BenchChild, type Memory } from './fleet-messages.ts'
import { generate } from './generate.ts'
import type { Form } from './memory-child.ts'
import { type BenchOptions, SYNCER } from './prepare.ts'
import { spread } from './table.ts'

interface MemoryOptions extends BenchOptions {
  readonly rounds: number
}

interface Kept {
  readonly bytes: number
  readonly peak: number
}

interface Observed {
  readonly sizes: readonly { readonly objects: number; readonly bytes: number }[]
  readonly parts: Readonly<Record<string, number>>
  readonly rows: number
}

const PAGE = 500
const FORMS: readonly Form[] = ['rows', 'parsed', 'without managedFields', 'text']
/** Objects of one cluster of the observation. */
const OF_CLUSTER = 2_000
const KINDS = [10, 20, 40, 80]
const KIBIBYTE = 1024
const MEBIBYTE = KIBIBYTE * KIBIBYTE
const GOAL = { mebibytes: 3, bytes: 300, kibibytes: 20 }

/** @returns a section of Markdown, without its heading. Rejects where no API server can be run. */
export async function benchMemory(
  options: MemoryOptions,
  report: (line: string) => void,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-memory-'))
  try {
    const sizes = [8, 4, 2, 1].map((part) => Math.ceil(options.objects / part / PAGE) * PAGE)
    const most = sizes.at(-1) ?? 0
    writePages(folder, { ...options, objects: most })
    const found = new Map<Form, { readonly size: number; readonly kept: Kept }[]>(
      FORMS.map((form) => [form, []]),
    )
    for (let round = 0; round < options.rounds; round += 1)
      for (const size of sizes)
        for (const form of FORMS) {
          const kept = await inChild('memory-child.ts', (child) =>
            child.ask<Kept>('keep', { form, folder, pages: size / PAGE }),
          )
          found.get(form)?.push({ size, kept })
          report(
            `${form}, ${size} objects: ${(kept.bytes / MEBIBYTE).toFixed(2)} MiB, ${(kept.bytes / size).toFixed(0)} bytes each`,
          )
        }
    const perTenThousand = (form: Form): readonly number[] => {
      const all = found.get(form) ?? []
      const rounds = Array.from({ length: options.rounds }, (_none, round) =>
        all.slice(round * sizes.length, (round + 1) * sizes.length),
      )
      return rounds.map(
        (points) =>
          (slopeOf(points.map(({ size, kept }) => [size, kept.bytes])).slope * 10_000) / MEBIBYTE,
      )
    }
    const constant = slopeOf(
      (found.get('rows') ?? []).map(({ size, kept }) => [size, kept.bytes]),
    ).constant
    const peaks = [...new Set([10_000, most])].map((wanted) => {
      const all = (found.get('rows') ?? []).filter(({ size }) => size === wanted)
      return `${wanted} objects ${spread(
        all.map(({ kept }) => kept.peak / MEBIBYTE),
        0,
      )} MiB`
    })
    report('observing clusters')
    const observed = await inChild('memory-turns.ts', (child) =>
      child.ask<Observed>('observe', {
        objects: OF_CLUSTER,
        perPackage: options.objectsPerPackage,
        clusters: sizes.map((size) => Math.ceil(size / OF_CLUSTER)),
        seed: options.seed,
      }),
    )
    for (const { objects, bytes } of observed.sizes)
      report(`observed ${objects}: ${(bytes / MEBIBYTE).toFixed(1)} MiB`)
    report(JSON.stringify(observed.parts))
    const [half, whole] = observed.sizes.slice(-2)
    if (half === undefined || whole === undefined) throw new Error('no sizes')
    const allTold = (whole.bytes - half.bytes) / (whole.objects - half.objects)
    const watches = await measureWatches(options.rounds, report)

    const ours = perTenThousand('rows')
    const ratio = (form: Form): string =>
      `${(middle(perTenThousand(form)) / middle(ours)).toFixed(1)} ×`
    const table = [
      ['goal', 'anchor', 'ours', 'ratio'],
      ['---', '---', '---', '---'],
      [
        `verdicts on 10,000 objects in sync, MiB (goal: at most ${GOAL.mebibytes})`,
        '109 (Go), 31–36 (JS)',
        spread(ours, 2),
        `${(109 / middle(ours)).toFixed(0)} ×, ${(31 / middle(ours)).toFixed(0)} ×`,
      ],
      [
        '… parsed objects, here',
        spread(perTenThousand('parsed'), 1),
        spread(ours, 2),
        ratio('parsed'),
      ],
      [
        '… parsed, without managedFields, here',
        spread(perTenThousand('without managedFields'), 1),
        spread(ours, 2),
        ratio('without managedFields'),
      ],
      ['… as text, here', spread(perTenThousand('text'), 1), spread(ours, 2), ratio('text')],
      [
        `all that a process keeps of an object, above its bounded caches, bytes (goal: at most ${GOAL.bytes})`,
        '343 (a Map of hex marks)',
        allTold.toFixed(0),
        `${(343 / allTold).toFixed(1)} ×`,
      ],
      [
        `a watch of a cluster and a kind, KiB (goal: at most ${GOAL.kibibytes})`,
        '96–105 (HTTP/1.1), 9–12 (HTTP/2)',
        spread(watches.js, 1),
        `${(100 / middle(watches.js)).toFixed(1)} ×`,
      ],
      ['… growth of RSS, which reuses freed memory', '–', spread(watches.rss, 1), '–'],
      ['… in the API server', '12–31', spread(watches.server, 0), '–'],
    ]
    const parts = Object.entries(observed.parts).map(
      ([name, bytes]) => `${name} ${(bytes / MEBIBYTE).toFixed(1)}`,
    )
    return [
      ...table.map((cells) => `| ${cells.join(' | ')} |`),
      '',
      `Measured. Verdicts: ${sizes.join(', ')} objects in units of ${options.objectsPerPackage}, each size and form in a separate process, interleaved, ${options.rounds} rounds; heap and external memory after a collection; slope (median, least–most), the constant is ${(constant / KIBIBYTE).toFixed(0)} KiB. Live objects are manifests with the managedFields of one apply, without a status. The table of rows is 61 % full at these sizes, and between 37 % (128 bytes for a row) and 75 % (64) at others.`,
      `Highest RSS above the start while pages of ${PAGE} objects are read: ${peaks.join(', ')}.`,
      `Total memory of a process: ${observed.sizes.map(({ objects, bytes }) => `${objects} objects ${(bytes / MEBIBYTE).toFixed(1)} MiB`).join(', ')}, after observations of clusters of ${OF_CLUSTER} objects in memory (simulated clusters, the observation of the controller), with the program and the repository; slope of the last two sizes. The parts at the end, in MiB: ${parts.join(', ')}. Judges of single changes (20,000 objects), results about units (2,000 objects), renderings and git objects are bounded.`,
      `Watches: custom kinds of one real API server over one connection, ${KINDS.join(', ')} kinds, ${options.rounds} rounds, each in a separate process; slope of heap and external memory. Server: its growth over ${Math.max(...KINDS)} watches of kinds without objects, with its caches of these kinds. kube-apiserver ${watches.version}, Node ${process.versions.node}; ${cpus().length} CPUs (${cpus()[0]?.model.trim()}), ${process.platform}; one-minute load ${loadavg()[0]?.toFixed(1)}.`,
    ].join('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** List pages, one file each, so that the measured process has no other objects. */
function writePages(folder: string, options: BenchOptions): void {
  let [page, items]: [number, JsonObject[]] = [0, []]
  for (const { objects } of generate(options))
    for (const object of objects) {
      items.push(appliedBy(SYNCER, JSON.parse(JSON.stringify(object)) as JsonObject))
      if (items.length < PAGE) continue
      writeFileSync(join(folder, `${page}.json`), JSON.stringify({ items }))
      ;[page, items] = [page + 1, []]
    }
}

async function inChild<Answer>(
  program: string,
  work: (child: BenchChild) => Promise<Answer>,
): Promise<Answer> {
  const child = new BenchChild(program, [])
  try {
    return await work(child)
  } finally {
    child.stop()
  }
}

async function measureWatches(rounds: number, report: (line: string) => void) {
  const plane = await startControlPlane()
  if (plane.state === 'unavailable') throw new Error(plane.why)
  try {
    const names = Array.from(
      { length: Math.max(...KINDS) },
      (_none, index) => `Kind${String(index).padStart(2, '0')}`,
    )
    for (const kind of names) {
      const { status } = await plane.request(
        'POST',
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        {
          body: definitionOf(kind),
        },
      )
      if (status !== 201) throw new Error(`the definition of ${kind} was answered with ${status}`)
    }
    for (const kind of names)
      while (
        (await plane.request('GET', `/apis/${GROUP}/v1/${kind.toLowerCase()}s`)).status !== 200
      );
    const pid = plane.servers.find(({ name }) => name === 'kube-apiserver')?.pid ?? 0
    const kinds = names.map(
      (kind): WatchedKind => ({
        apiVersion: `${GROUP}/v1`,
        kind,
        namespace: '',
        metadataOnly: false,
      }),
    )
    const [rss, js, server]: [number[], number[], number[]] = [[], [], []]
    // The first round warms the server up.
    for (let round = 0; round <= rounds; round += 1) {
      const serverBefore = residentOf(pid)
      const found = await inChild('memory-child.ts', async (child) => {
        const steps = KINDS.map((count) => kinds.slice(0, count))
        const measured = await child.ask<
          readonly { readonly kinds: number; readonly memory: Memory }[]
        >('watch', {
          kubeconfig: plane.kubeconfig,
          steps,
        })
        return { measured, server: residentOf(pid) }
      })
      const slope = (part: (memory: Memory) => number): number =>
        slopeOf(found.measured.map(({ kinds: count, memory }) => [count, part(memory)])).slope /
        KIBIBYTE
      const line = found.measured
        .map(({ kinds: count, memory }) => `${count}: ${(memory.rss / MEBIBYTE).toFixed(1)} MiB`)
        .join(', ')
      report(
        `watches ${line}; server ${((found.server - serverBefore) / MEBIBYTE).toFixed(1)} MiB more`,
      )
      if (round === 0) continue
      rss.push(slope((memory) => memory.rss))
      js.push(slope(({ heap, external }) => heap + external))
      server.push((found.server - serverBefore) / KIBIBYTE / Math.max(...KINDS))
    }
    const { gitVersion } = (await plane.request<{ gitVersion: string }>('GET', '/version')).body
    return { rss, js, server, version: gitVersion }
  } finally {
    await plane.stop()
  }
}

const GROUP = 'memory.bench.backporch.dev'

function definitionOf(kind: string): unknown {
  const plural = `${kind.toLowerCase()}s`
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
}

/** Bytes; NaN where there is no /proc. */
function residentOf(pid: number): number {
  try {
    return (
      Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * KIBIBYTE
    )
  } catch {
    return Number.NaN
  }
}

/** Of a line by least squares. */
function slopeOf(points: readonly (readonly [number, number])[]): {
  readonly slope: number
  readonly constant: number
} {
  const mean = (at: 0 | 1): number =>
    points.reduce((sum, point) => sum + point[at], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const slope =
    points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) /
    points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
  return { slope, constant: y - slope * x }
}

function middle(values: readonly number[]): number {
  return (
    [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
  )
}
