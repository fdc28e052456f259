/** Locates the template of an object by Helm's comment `# Source: …` in its output. */
import type { SourceLocation } from '@backporch/kpt/desired-set'
import { getTextAt, type Json } from '@backporch/kyaml/json'
import { joinFolderPath } from '../kustomize/files/kustomization-walk.ts'
import {
  type SourceFiles,
  readSourceText as textOfFile,
} from '../kustomize/files/kustomize-build.ts'

export interface ChartFiles {
  readonly folder: string
  readonly files: SourceFiles
}

const SOURCE = /^# Source: (\S.*)$/

export function locateTemplate(
  chart: ChartFiles,
  object: Json,
  output: string,
  line: number,
): SourceLocation {
  const path = findTemplatePath(chart, findSourceAt(output, line))
  const at =
    chart.files.has(path) && isTemplate(path)
      ? findObjectLine(splitTextLines(path, chart.files), getTextAt(object, 'kind'))
      : 1
  return { path, document: 0, item: undefined, line: at, step: 'helm template' }
}

function findSourceAt(output: string, line: number): string {
  const lines = output.split('\n', line)
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const found = SOURCE.exec(lines[at] ?? '')?.[1]
    if (found !== undefined) return found
  }
  return ''
}

/** The first segment is the chart's name. For a packed dependency, its archive. */
function findTemplatePath({ folder, files }: ChartFiles, source: string): string {
  const rest = source.split('/').slice(1)
  const path = joinFolderPath(folder, rest.join('/'))
  if (rest.length > 0 && files.has(path)) return path
  const dependency = rest[0] === 'charts' ? joinFolderPath(folder, `charts/${rest[1]}-`) : undefined
  const archive = [...files.keys()].find(
    (each) => dependency !== undefined && each.startsWith(dependency) && each.endsWith('.tgz'),
  )
  return archive ?? joinFolderPath(folder, 'Chart.yaml')
}

export function isTemplate(path: string): boolean {
  return /\.(?:ya?ml|tpl|txt|json)$/.test(path)
}

function splitTextLines(path: string, files: SourceFiles): readonly string[] {
  return textOfFile(path, files).split('\n')
}

function findBlock(
  lines: readonly string[],
  kind: string,
): { readonly from: number; readonly to: number } {
  const starts = [
    0,
    ...lines.flatMap((line, at) => (line.startsWith('---') ? [at + 1] : [])),
    lines.length + 1,
  ]
  const named = starts.findIndex((from, at) =>
    lines.slice(from, (starts[at + 1] ?? 1) - 1).some((line) => parseKind(line) === kind),
  )
  const at = Math.max(0, named)
  return named === -1
    ? { from: 0, to: lines.length }
    : { from: starts[at] ?? 0, to: (starts[at + 1] ?? lines.length + 1) - 1 }
}

function parseKind(line: string): string {
  return /^kind:\s*["']?(\w+)/.exec(line)?.[1] ?? ''
}

function findObjectLine(lines: readonly string[], kind: string): number {
  const { from, to } = findBlock(lines, kind)
  const first = lines
    .slice(from, to)
    .findIndex((line) => /^(?:apiVersion|kind|metadata):/.test(line))
  return from + Math.max(0, first) + 1
}
