/** Measures one check of a cluster by Backporch and other tools, interleaved (A-B-C-A-B-C), so that a load peak affects all of them. */
import { rmSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { startControlPlane } from '../test/controlplane/start-control-plane.ts'
import { handEdits } from './edits.ts'
import { type Cost, measure } from './measure.ts'
import { injectEdits, prepareBench } from './prepare.ts'
import { formatTable, spread } from './table.ts'
import { findTools, type Tool } from './tools.ts'

export interface DetectionOptions {
  readonly objects: number
  readonly objectsPerPackage: number
  readonly rounds: number
  readonly seed: number
}

/** @returns a section of Markdown, without its heading. Rejects where no API server can be run. */
export async function benchDetection(
  options: DetectionOptions,
  report: (line: string) => void,
): Promise<string> {
  const plane = await startControlPlane()
  if (plane.state === 'unavailable') throw new Error(plane.why)
  const loads: number[] = []
  let folder = ''
  try {
    report(`applying ${options.objects} objects`)
    const bench = await prepareBench(plane, options)
    folder = bench.folder
    const { tools, notRun, versions } = findTools(bench)
    const { body } = await plane.request<{ gitVersion: string }>('GET', '/version')
    const costs = new Map<Tool, Cost[]>(tools.map((tool) => [tool, []]))
    // The first round fills the caches of every tool (discovery, clones) and does not count.
    for (let round = 0; round <= options.rounds; round += 1) {
      for (const tool of tools) {
        loads.push(loadavg()[0] ?? Number.NaN)
        const { cost, code } = await measure(plane, tool.commands)
        if (code !== 0) throw new Error(`${tool.name} finds differences where nothing was edited`)
        if (round > 0) costs.get(tool)?.push(cost)
        report(
          `${round === 0 ? 'warm-up' : `round ${round}`}: ${tool.name} ${cost.wall.toFixed(2)} s`,
        )
      }
    }
    const edits = handEdits(bench.packages)
    await injectEdits(plane, edits)
    const results = []
    for (const tool of tools) {
      const { stdout } = await measure(plane, tool.commands)
      results.push({
        tool: tool.name,
        costs: costs.get(tool) ?? [],
        remembered: tool.remembered?.(edits, stdout),
      })
      report(`edited: ${tool.name} ${tool.remembered?.(edits, stdout) ?? ''}`)
    }
    const additive = edits.filter((edit) => edit.additive).length
    return [
      formatTable(results),
      `${options.objects} objects in ${bench.packages.length} packages, all in sync. Rounds: ${options.rounds}, interleaved, after one warm-up round; median (least–most).`,
      `Manual edits: ${edits.length} injected after the rounds, ${additive} of which only add a field.`,
      ...notRun.map((line) => `Not run: ${line}.`),
      `kube-apiserver ${body.gitVersion}, ${versions.join(', ')}; ${cpus().length} CPUs (${cpus()[0]?.model ?? 'unknown'}), ${process.platform}; one-minute load ${spread(loads, 1)}.`,
    ].join('\n')
  } finally {
    await plane.stop()
    if (folder !== '') rmSync(folder, { recursive: true, force: true })
  }
}
