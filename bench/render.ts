/** Measures packages rendered by Backporch in each of its ways, and a sample by the real `kpt fn render`, interleaved in one run. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { answerCalls } from '@backporch/kpt/function'
import { passThroughText, renderFiles } from '@backporch/kpt/render'
import type { PackageFiles } from '@backporch/kyaml/files'
import { formatCanonicalJson } from '@backporch/kyaml/json'
import { builtInFunctions } from '../functions/built-in-functions.ts'
import { WorkerRenderer } from '../src/adapters/functions/worker-renderer.ts'
import { ProvenanceWatcher } from '../src/sources/kpt/render/provenance.ts'
import {
  type RenderedPackage,
  type Rendering,
  renderAsFiles,
  renderPackage,
} from '../src/sources/kpt/render/render-package.ts'
import { buildFunctionPrograms } from '../test/render-corpus/run-kpt-render.ts'
import { OBJECTS_PER_PACKAGE, type PackageTree, renderPackages } from './render-packages.ts'
import { percentile, spread } from './table.ts'

export interface RenderOptions {
  /** In all packages. */
  readonly objects: number
  readonly rounds: number
  readonly seed: number
}

/** kpt renders every nth package, and other ones in each round. */
const KPT_EVERY = 25
const WARM_UP = 60
/** Renderings that are held at once to measure the memory of one. */
const HELD = 200

const WAYS = {
  kpt: '`kpt fn render --allow-exec`',
  copying: '… of the same package, its three functions replaced by `cat`',
  files: 'in process, to the bytes that kpt writes',
  plain: 'in process, to the desired objects',
  provenance: '… with the function that wrote each field',
  cold: 'with the renderer of a turn, in a worker thread',
  warm: '… the same package again',
} as const
type Way = keyof typeof WAYS

/** @returns a section of Markdown, without its heading. Rejects where kpt is not there, or renders otherwise than we do. */
export async function benchRender(
  { objects, rounds, seed }: RenderOptions,
  report: (line: string) => void,
): Promise<string> {
  const packages = renderPackages(Math.ceil(objects / OBJECTS_PER_PACKAGE), seed)
  const copying = renderPackages(packages.length, seed, ['cat', 'cat', 'cat'])
  report('building the functions as programs')
  const programs = await buildFunctionPrograms()
  const loads: number[] = []
  try {
    const bench = new RenderBench(`${programs.folder}${delimiter}${process.env['PATH'] ?? ''}`)
    for (const each of packages.slice(0, WARM_UP)) await bench.ours(each)
    for (const each of packages.slice(-2)) await bench.kpts(each, each)
    bench.forget()
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, each] of packages.entries()) {
        await bench.ours(each)
        if (index % KPT_EVERY !== (round * 7) % KPT_EVERY) continue
        loads.push(loadavg()[0] ?? Number.NaN)
        await bench.kpts(each, copying[index] ?? each)
      }
      report(`round ${round + 1}: ${bench.state()}`)
    }
    const memory = memoryOf(packages.slice(0, HELD))
    return [
      bench.table(),
      `${packages.length} packages of ${OBJECTS_PER_PACKAGE} objects each, all different, with apply-setters, set-namespace and set-labels. Rounds: ${rounds}, Backporch and kpt alternate; kpt renders every ${KPT_EVERY}th package, ${bench.compared} in all.`,
      `All ${bench.compared} match the output of kpt byte for byte, and the faster path yields the same objects. With provenance a render takes ${bench.ratio()} times as long as without.`,
      `A cached rendering needs ${memory.withTrees} KiB with its trees and ${memory.alone} KiB without, for packages of ${memory.text} KiB of text.`,
      `Node ${process.versions.node}, kpt ${(await bench.run(['version'])).trim()}; ${cpus().length} CPUs (${cpus()[0]?.model ?? 'unknown'}), ${process.platform}; one-minute load ${spread(loads, 1)}.`,
    ].join('\n')
  } finally {
    programs.remove()
  }
}

class RenderBench {
  /** Renders that were compared with kpt's. */
  compared = 0
  private count = 0
  private readonly path: string
  private readonly renderer = new WorkerRenderer({
    allowed: { exec: [], images: [] },
    engine: undefined,
    environment: {},
  })
  private readonly never = new AbortController().signal
  private readonly times: { readonly [way in Way]: number[] } = {
    kpt: [],
    copying: [],
    files: [],
    plain: [],
    provenance: [],
    cold: [],
    warm: [],
  }

  /** @param path with our functions as programs */
  constructor(path: string) {
    this.path = path
  }

  /** Discards the measurements so far. */
  forget(): void {
    for (const times of Object.values(this.times)) times.length = 0
    this.compared = 0
  }

  async ours({ name, files }: PackageTree): Promise<void> {
    const given = [this.unread(files), this.unread(files), this.unread(files)] as const
    await this.time('plain', () => rendered(name, given[0]))
    await this.time('provenance', () => rendered(name, given[1], new ProvenanceWatcher()))
    await this.time('cold', () => this.renderer.render(name, given[2], this.never))
    await this.time('warm', () => this.renderer.render(name, given[2], this.never))
  }

  /** With a Kptfile that was never read before, because renderings are cached. */
  private unread(files: PackageTree['files']): PackageFiles {
    this.count += 1
    return filesOf({ ...files, Kptfile: `${files['Kptfile']}# ${this.count}\n` })
  }

  /** @param copying the package with functions that do nothing */
  async kpts(each: PackageTree, copying: PackageTree): Promise<void> {
    const theirs = await this.time(
      'kpt',
      (folder) => this.run(['fn', 'render', folder, '--allow-exec']),
      each.files,
    )
    await this.time(
      'copying',
      (folder) => this.run(['fn', 'render', folder, '--allow-exec']),
      copying.files,
    )
    const given = filesOf(each.files)
    let ours = new Map(Object.entries(each.files))
    await this.time('files', () => {
      const rendering = answerCalls(
        renderFiles(each.name, given),
        passThroughText(builtInFunctions),
      )
      if ('failures' in rendering) throw rendering.failures[0]
      ours = new Map([...ours, ...rendering.written])
    })
    const differs = [...new Set([...theirs.keys(), ...ours.keys()])].find(
      (path) => theirs.get(path) !== ours.get(path),
    )
    if (differs !== undefined) throw new Error(`${each.name}: ${differs} is not as kpt writes it`)
    const applied = desiredOf(renderAsFiles(each.name, filesOf(Object.fromEntries(theirs))))
    const faster = desiredOf(rendered(each.name, filesOf(each.files)))
    if (JSON.stringify(applied) !== JSON.stringify(faster))
      throw new Error(`${each.name}: the objects are not those of kpt's files`)
    this.compared += 1
  }

  /** @param tree written into a folder first; what is there afterwards is returned */
  private async time(
    way: Way,
    work: (folder: string) => unknown,
    tree?: PackageTree['files'],
  ): Promise<ReadonlyMap<string, string>> {
    const folder =
      tree === undefined ? '' : writtenTo(mkdtempSync(join(tmpdir(), 'backporch-render-')), tree)
    try {
      const began = performance.now()
      await work(folder)
      this.times[way].push(performance.now() - began)
      return tree === undefined ? new Map() : filesBelow(folder)
    } finally {
      if (folder !== '') rmSync(folder, { recursive: true, force: true })
    }
  }

  /** Standard output of kpt. Rejects for another exit code than 0. */
  async run(args: readonly string[]): Promise<string> {
    const child = spawn('kpt', args, {
      env: { ...process.env, PATH: this.path },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = new Promise<number | null>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', resolve)
    })
    const [code, stdout, stderr] = await Promise.all([
      ended,
      text(child.stdout),
      text(child.stderr),
    ])
    if (code !== 0)
      throw new Error(`kpt ${args.join(' ')} ended with ${code}:\n${stderr.slice(0, 2000)}`)
    return stdout
  }

  /** Median of the ratio of each package's time with and without provenance. */
  ratio(): string {
    const ratios = this.times.provenance.map(
      (time, index) => time / (this.times.plain[index] ?? Number.NaN),
    )
    return percentile(ratios, 50).toFixed(2)
  }

  state(): string {
    return (Object.keys(WAYS) as Way[])
      .map((way) => `${way} ${percentile(this.times[way], 50).toFixed(2)}`)
      .join(', ')
  }

  table(): string {
    const head = [
      'one package',
      'renders',
      'p50 ms',
      'p95 ms',
      'least ms',
      'p50 of kpt / this p50',
      'least of kpt / this least',
    ]
    const { kpt } = this.times
    const rows = (Object.keys(WAYS) as Way[]).map((way) => {
      const times = this.times[way]
      const figures = [percentile(times, 50), percentile(times, 95), Math.min(...times)].map(
        (time) => time.toFixed(time < 100 ? 2 : 0),
      )
      const ratios = [
        percentile(kpt, 50) / percentile(times, 50),
        Math.min(...kpt) / Math.min(...times),
      ]
      return [
        WAYS[way],
        `${times.length}`,
        ...figures,
        ...ratios.map((ratio) => ratio.toFixed(ratio < 10 ? 1 : 0)),
      ]
    })
    return [head, head.map(() => '---'), ...rows]
      .map((cells) => `| ${cells.join(' | ')} |\n`)
      .join('')
  }
}

function rendered(name: string, files: PackageFiles, watcher?: ProvenanceWatcher): RenderedPackage {
  return accepted(answerCalls(renderPackage(name, files, { watcher }), builtInFunctions))
}

function accepted(rendering: Rendering): RenderedPackage {
  if ('failures' in rendering) throw rendering.failures[0]
  return rendering
}

/** Each object as text, sorted, because functions return objects in any order. */
function desiredOf(rendering: Rendering): readonly string[] {
  return accepted(rendering)
    .desired.resources.map(({ object }: DesiredResource) => formatCanonicalJson(object))
    .sort()
}

function filesOf(tree: PackageTree['files']): PackageFiles {
  return Object.entries(tree)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, content]) => ({
      path,
      mode: '100644' as const,
      content: new TextEncoder().encode(content),
    }))
}

function writtenTo(folder: string, tree: PackageTree['files']): string {
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

function filesBelow(folder: string): ReadonlyMap<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return new Map(
    entries.map(({ parentPath, name }) => [
      relative(folder, join(parentPath, name)),
      readFileSync(join(parentPath, name), 'utf8'),
    ]),
  )
}

/** KiB per package: its text, and what its rendering holds in memory with and without the trees that functions worked on. */
function memoryOf(packages: readonly PackageTree[]): {
  readonly text: string
  readonly withTrees: string
  readonly alone: string
} {
  const held = <T>(make: (each: PackageTree) => T): string => {
    const before = heapAfterCollection()
    const all = packages.map(make)
    const bytes = heapAfterCollection() - before
    return (bytes / all.length / 1024).toFixed(0)
  }
  const characters = packages.reduce(
    (sum, { files }) => sum + Object.values(files).join('').length,
    0,
  )
  return {
    text: (characters / packages.length / 1024).toFixed(1),
    withTrees: held(({ name, files }) => rendered(name, filesOf(files))),
    alone: held(({ name, files }) => structuredClone(rendered(name, filesOf(files)).desired)),
  }
}

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}
