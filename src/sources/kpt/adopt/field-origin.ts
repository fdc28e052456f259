/**
 * The origin of a field: the functions that wrote it, each with the config entry of the value
 * (src/sources/kpt/render/provenance.ts).
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { findSetterPattern, type SetterPattern } from '@backporch/kpt/field'
import {
  answerCalls,
  type FunctionLibrary,
  getFunctionName,
  type StepRun,
} from '@backporch/kpt/function'
import { createFieldStep, type FieldPath } from '@backporch/kyaml/field'
import type { PackageFiles } from '@backporch/kyaml/files'
import { LineIndex } from '@backporch/kyaml/read-yaml'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { getResourceKey } from '@backporch/kyaml/resource'
import {
  findEntry,
  findNearestNode,
  findNodeAtPath,
  getYamlKey,
  mapAt,
  resolveAlias,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'
import { AuthoredFiles } from '../../edits/authored-files.ts'
import { isSameDeclaration } from '../../edits/moved-fields.ts'
import { ProvenanceWatcher } from '../render/provenance.ts'
import { type RenderedPackage, renderPackage } from '../render/render-package.ts'

/** Counts from 1; the end is exclusive. */
interface AuthoredRange {
  readonly file: string
  /** From 1. */
  readonly document: number
  readonly line: number
  readonly column: number
  readonly endLine: number
  readonly endColumn: number
}

/** Even with the same value. */
interface FieldWriter {
  readonly name: string
  /** From 1. */
  readonly step: number
  /** As `apps/web/Kptfile:12`. */
  readonly where: string
  /** As `${host}.${domain}`, only for apply-setters. */
  readonly pattern: string | undefined
  readonly part: FieldPath
  /** As `setter host`, `label team`. */
  readonly sources: readonly { readonly name: string; readonly at: AuthoredRange | undefined }[]
}

interface FieldOrigin {
  /** Otherwise `authored` is the nearest parent. */
  readonly exact: boolean
  readonly authored: AuthoredRange | undefined
  /** In run order; the last one decides. */
  readonly writers: readonly FieldWriter[]
}

interface OriginInput {
  readonly packagePath: string
  readonly files: PackageFiles
  readonly functions: FunctionLibrary
}

export class FieldOrigins {
  private readonly authored: AuthoredFiles
  private readonly rendered: RenderedPackage | undefined

  constructor({ packagePath, files, functions }: OriginInput) {
    this.authored = new AuthoredFiles(packagePath, files)
    const rendering = answerCalls(
      renderPackage(packagePath, files, { watcher: new ProvenanceWatcher(), attributed: false }),
      functions,
    )
    this.rendered = 'failures' in rendering ? undefined : rendering
  }

  /** Undefined if the package does not render or lacks the object. */
  findOrigin(desired: DesiredResource, path: FieldPath): FieldOrigin | undefined {
    const root = this.findRoot(desired)
    if (root === undefined) return undefined
    const nearest = findNearestNode(root, path)
    const exact = nearest.steps === path.length
    const writers = exact ? this.listWriters(nearest.node, root, path) : []
    return { exact, authored: this.findRangeAbove(root, path.slice(0, nearest.steps)), writers }
  }

  private listWriters(node: YamlNode, root: YamlMap, path: FieldPath): readonly FieldWriter[] {
    const found: FieldWriter[] = []
    const parts = [...listWrittenParts(node, [])]
    for (const part of parts.some(({ length }) => length > 0)
      ? parts.filter(({ length }) => length > 0)
      : parts)
      for (const number of findNodeAtPath(node, part)?.node.writes ?? []) {
        const run = this.rendered?.run?.runs[number]
        if (run !== undefined && found.length < MOST_WRITERS)
          found.push(this.createWriter(run, root, path, part))
      }
    return found
  }

  private findRoot(desired: DesiredResource): YamlMap | undefined {
    const own = this.rendered?.desired.resources.find((resource) =>
      isSameDeclaration(resource, desired),
    )
    if (own === undefined) return undefined
    const created = this.rendered?.nodes.get(getResourceKey(own.id))
    if (created !== undefined) return created
    const { path, document, item } = own.location
    const root = this.authored.parseDocuments(path)[document]
    const items: FieldPath =
      item === undefined ? [] : [createFieldStep('items'), { kind: 'index', index: item }]
    const node = root === undefined ? undefined : findNodeAtPath(root, items)?.node
    return node?.kind === 'map' ? node : undefined
  }

  private findRangeAbove(root: YamlMap, path: FieldPath): AuthoredRange | undefined {
    for (let steps = path.length; steps >= 0; steps -= 1) {
      const node = findNodeAtPath(root, path.slice(0, steps))?.node
      const range = node === undefined ? undefined : this.findRange(node)
      if (range !== undefined) return range
    }
    return undefined
  }

  private findRange({ source }: YamlNode): AuthoredRange | undefined {
    if (source === undefined || !this.authored.has(source.path)) return undefined
    const lines = new LineIndex(this.authored.getText(source.path).replaceAll('\r\n', '\n'))
    const [start, end] = [lines.getPosition(source.start), lines.getPosition(source.end)]
    return {
      file: source.path,
      document: source.document + 1,
      line: start.line,
      column: start.column,
      endLine: end.line,
      endColumn: end.column,
    }
  }

  private createWriter(
    { step, config }: StepRun,
    root: YamlMap,
    above: FieldPath,
    part: FieldPath,
  ): FieldWriter {
    const path = [...above, ...part]
    const name = getFunctionName(step.function)
    const pattern = name === 'apply-setters' ? findPatternAt(root, path) : undefined
    const kptfile = this.authored.parseDocuments(step.kptfile)[0]
    const location: FieldPath = [
      createFieldStep('pipeline'),
      createFieldStep(step.list),
      { kind: 'index', index: step.index },
      createFieldStep('configMap'),
    ]
    const inKptfile = kptfile === undefined ? undefined : findNodeAtPath(kptfile, location)?.node
    const entries = step.function.configMap.size > 0 ? inKptfile : findEntries(config)
    const sources = listConfigKeys(name, path, pattern, entries).map((key) => {
      const value = findEntry(entries, key)?.value
      return {
        name: `${SOURCE_WORDS[name] ?? 'entry'} ${key}`,
        at: value === undefined ? undefined : this.findRange(value),
      }
    })
    return {
      name,
      step: step.number + 1,
      where: `${step.kptfile}:${step.function.line}`,
      pattern: pattern?.text,
      part,
      sources,
    }
  }
}

/** Per field. */
const MOST_WRITERS = 8

function* listWrittenParts(node: YamlNode, path: FieldPath): Generator<FieldPath> {
  if (node.writes !== undefined) yield path
  if (node.kind === 'map')
    for (const { key, value } of node.entries)
      yield* listWrittenParts(value, [...path, createFieldStep(getYamlKey(key))])
  else if (node.kind === 'list')
    for (const [index, item] of node.items.entries())
      yield* listWrittenParts(item, [...path, { kind: 'index', index }])
}

const SOURCE_WORDS: { readonly [name: string]: string } = {
  'apply-setters': 'setter',
  'set-labels': 'label',
  'set-annotations': 'annotation',
}

function findPatternAt(root: YamlMap, path: FieldPath): SetterPattern | undefined {
  const found = findNodeAtPath(root, path)
  return (
    findSetterPattern(found?.node.lineComment ?? '') ??
    findSetterPattern(found?.entry?.key.lineComment ?? '')
  )
}

function findEntries(config: YamlMap | undefined): YamlMap | undefined {
  return (
    mapAt(config, 'data') ??
    mapAt(config, 'labels') ??
    mapAt(config, 'annotations') ??
    mapAt(config, 'image') ??
    config
  )
}

function listConfigKeys(
  name: string,
  path: FieldPath,
  pattern: SetterPattern | undefined,
  entries: YamlNode | undefined,
): readonly string[] {
  const last = path.at(-1)
  const keys =
    name === 'apply-setters'
      ? [...new Set(pattern?.setters ?? [])]
      : name === 'set-labels' || name === 'set-annotations'
        ? last?.kind === 'field'
          ? [last.name]
          : []
        : name === 'set-image'
          ? ['newName', 'newTag', 'digest']
          : name === 'set-namespace'
            ? ['namespace']
            : []
  return keys.filter(
    (key) => entries !== undefined && findEntry(resolveAlias(entries), key) !== undefined,
  )
}

export function formatFieldOriginLines({
  exact,
  authored,
  writers,
}: FieldOrigin): readonly string[] {
  const location =
    authored === undefined
      ? 'no file has it'
      : `${authored.file}:${authored.line}:${authored.column}`
  const first =
    exact || authored === undefined
      ? location
      : `not there; it would go into ${authored.file}:${authored.line}`
  const fight = writers.length > 1 ? ', which decides' : ''
  return [
    first,
    ...writers.map(
      (writer, index) => `${formatWriterLine(writer)}${index === writers.length - 1 ? fight : ''}`,
    ),
  ]
}

function formatWriterLine({ name, step, where, pattern, part, sources }: FieldWriter): string {
  const from = sources.map(({ name: source, at }) =>
    at === undefined ? source : `${source} at ${at.file}:${at.line}:${at.column}`,
  )
  const what = part.length === 0 ? 'written' : `${formatRedactedPath(part, undefined)} written`
  return `${what} by ${name} (step ${step}, ${where})${pattern === undefined ? '' : `, pattern ${pattern}`}${from.length === 0 ? '' : `, from ${from.join(' and ')}`}`
}
