import { Failure } from '@backporch/kyaml/failure'
import { LineIndex, NodeMeter, readYamlNodes } from '@backporch/kyaml/read-yaml'
import {
  createYamlMap,
  detectSequenceIndent,
  resolveAlias,
  type YamlMap,
} from '@backporch/kyaml/yaml'
import { createNotAnObjectFailure } from '../desired/desired-set-builder.ts'
import {
  copyLegacyAnnotations,
  INDEX,
  LEGACY_INDEX,
  LEGACY_PATH,
  PACKAGE_PATH,
  PATH,
  SEQUENCE_INDENT,
  setAnnotation,
} from '../function/item-annotations.ts'
import { cleanPath } from '../package/clean-path.ts'
import type { Kptfile } from '../package/kptfile-value.ts'
import type { PackageSources } from '../package/package-sources.ts'
import { findKrmProblem } from './krm-check.ts'

/** kpt wraps a list document (kyaml `yaml.BareSeqNodeWrappingKey`). */
export const BARE_LIST_KEY = 'bareSeqNodeWrappingKey'

export interface PipelinePackage {
  readonly folder: string
  readonly kptfile: Kptfile
  /** With function configs and the Kptfile. */
  readonly items: readonly YamlMap[]
  readonly configs: ReadonlyMap<string, YamlMap>
  readonly subpackages: readonly PipelinePackage[]
}

/**
 * Every folder with a Kptfile, whatever a parent's `.krmignore` says (kpt `internal/pkg/pkg.go`,
 * `Subpackages`). @param failures gets BP1110, BP1111 and BP1112
 */
export function readPipelinePackage(sources: PackageSources, failures: Failure[]): PipelinePackage {
  const folders = [...sources.kptfiles.keys()].sort()
  const reader = new ItemReader(sources, failures)
  const read = (folder: string): PipelinePackage => {
    const below = folders.filter((other) => other !== folder && isBelow(other, folder))
    const direct = below.filter(
      (other) => !below.some((between) => between !== other && isBelow(other, between)),
    )
    const kptfile = sources.kptfiles.get(folder) as Kptfile
    return {
      folder,
      kptfile,
      items: reader.readItems(folder),
      configs: reader.readConfigs(folder, kptfile),
      subpackages: direct.map(read),
    }
  }
  return read('')
}

function isBelow(path: string, folder: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`)
}

class ItemReader {
  private readonly sources: PackageSources
  private readonly failures: Failure[]
  /** Functions get all files as one text. */
  private readonly meter = new NodeMeter(undefined, 'the package, which has a pipeline,')

  constructor(sources: PackageSources, failures: Failure[]) {
    this.sources = sources
    this.failures = failures
  }

  readItems(folder: string): YamlMap[] {
    const prefix = folder === '' ? '' : `${folder}/`
    return [...this.sources.listOwnFiles(folder)].flatMap((path) =>
      this.readDocuments(path).map(({ node, own }) => {
        annotate(node, {
          folder,
          path: path.slice(prefix.length),
          index: String(node.source?.document ?? 0),
          indent: detectSequenceIndent(own),
        })
        this.checkResource(node, path)
        return node
      }),
    )
  }

  private checkResource(node: YamlMap, path: string): void {
    const problem = findKrmProblem([node])
    if (problem === undefined) return
    const text = this.sources.readText(path).replaceAll('\r\n', '\n')
    const { line } = new LineIndex(text).getPosition(node.source?.start ?? 0)
    this.failures.push(
      createNotAnObjectFailure(
        `${this.sources.resolveLocation(path)}:${line} (document ${(node.source?.document ?? 0) + 1})`,
        problem,
      ),
    )
  }

  readConfigs(folder: string, { pipeline }: Kptfile): ReadonlyMap<string, YamlMap> {
    const configs = new Map<string, YamlMap>()
    for (const { configPath } of [...pipeline.mutators, ...pipeline.validators]) {
      if (configPath === undefined) continue
      const path = cleanPath(configPath)
      if (configs.has(path)) continue
      // An unreadable config is a failure of its function.
      const [only] = this.readDocuments(folder === '' ? path : `${folder}/${path}`, [])
      if (only !== undefined) configs.set(path, only.node)
    }
    return configs
  }

  private readDocuments(
    path: string,
    failures = this.failures,
  ): { readonly node: YamlMap; readonly own: string }[] {
    if (this.meter.isOver || this.sources.explainUnread(path) !== undefined) return []
    try {
      return this.parseDocuments(
        this.sources.readText(path).replaceAll('\r\n', '\n'),
        this.sources.resolveLocation(path),
      )
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      failures.push(thrown)
      return []
    }
  }

  private parseDocuments(
    text: string,
    where: string,
  ): { readonly node: YamlMap; readonly own: string }[] {
    const nodes = readYamlNodes(text, where, this.meter)
    return nodes.map((node, document) => {
      const target = resolveAlias(node)
      const source = node.source ?? { path: where, document, start: 0, end: text.length }
      // Comments above count like in kyaml.
      const own = text.slice(nodes[document - 1]?.source?.end ?? 0, source.end)
      if (target.kind === 'map') return { node: target, own }
      if (target.kind === 'list')
        return { node: { ...createYamlMap([[BARE_LIST_KEY, target]]), source }, own }
      throw createNotAnObjectFailure(where, 'it is a single value')
    })
  }
}

interface ReaderAnnotations {
  readonly folder: string
  readonly path: string
  readonly index: string
  readonly indent: string
}

/** In name order, like kyaml. */
function annotate(item: YamlMap, { folder, path, index, indent }: ReaderAnnotations): void {
  copyLegacyAnnotations(item)
  setAnnotation(item, LEGACY_INDEX, index)
  setAnnotation(item, LEGACY_PATH, path)
  setAnnotation(item, INDEX, index)
  setAnnotation(item, PACKAGE_PATH, `/${folder}`)
  setAnnotation(item, PATH, path)
  setAnnotation(item, SEQUENCE_INDENT, indent)
}

export function getPackageFolder(packagePath: string): string {
  return packagePath.replace(/^\//, '')
}
