/** A package and its subpackages as input of a pipeline: their resources, with the annotations that locate them. */
import { Failure } from '@backporch/kyaml/failure'
import { LineIndex, NodeMeter, readYamlNodes } from '@backporch/kyaml/read-yaml'
import { resolved, sequenceIndentOf, type YamlMap, yamlMap } from '@backporch/kyaml/yaml'
import { notAnObject } from '../desired/desired-set-builder.ts'
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
import { notKrm } from './krm-check.ts'

/** kpt wraps a document that is a list into a map with this key, for its annotations (kyaml `yaml.BareSeqNodeWrappingKey`). */
export const BARE_LIST_KEY = 'bareSeqNodeWrappingKey'

export interface PipelinePackage {
  /** From the outermost package; '' for that one. */
  readonly folder: string
  readonly kptfile: Kptfile
  /** Its own resources, with function configs and the Kptfile, in the order of files and documents. */
  readonly items: readonly YamlMap[]
  /** The configs of its functions as in the files, by path in the package. */
  readonly configs: ReadonlyMap<string, YamlMap>
  /** The direct subpackages, by path. */
  readonly subpackages: readonly PipelinePackage[]
}

/**
 * The tree of packages that `kpt fn render` walks: every folder with a Kptfile, whatever a parent's `.krmignore` says
 * (kpt `internal/pkg/pkg.go`, `Subpackages`); the files of each as the package's own `.krmignore` leaves them.
 * @param failures gets BP1110, BP1111 and BP1112 of files that cannot be read
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
      items: reader.items(folder),
      configs: reader.configs(folder, kptfile),
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
  /** Functions get all files as one text, so the limit of one file is that of all. */
  private readonly meter = new NodeMeter(undefined, 'the package, which has a pipeline,')

  constructor(sources: PackageSources, failures: Failure[]) {
    this.sources = sources
    this.failures = failures
  }

  items(folder: string): YamlMap[] {
    const prefix = folder === '' ? '' : `${folder}/`
    return [...this.sources.ownFiles(folder)].flatMap((path) =>
      this.documents(path).map(({ node, own }) => {
        annotate(node, {
          folder,
          path: path.slice(prefix.length),
          index: String(node.source?.document ?? 0),
          indent: sequenceIndentOf(own),
        })
        this.checkResource(node, path)
        return node
      }),
    )
  }

  private checkResource(node: YamlMap, path: string): void {
    const problem = notKrm([node])
    if (problem === undefined) return
    const text = this.sources.textOf(path).replaceAll('\r\n', '\n')
    const { line } = new LineIndex(text).position(node.source?.start ?? 0)
    this.failures.push(
      notAnObject(
        `${this.sources.where(path)}:${line} (document ${(node.source?.document ?? 0) + 1})`,
        problem,
      ),
    )
  }

  /** As the files have them, by path in the package. */
  configs(folder: string, { pipeline }: Kptfile): ReadonlyMap<string, YamlMap> {
    const configs = new Map<string, YamlMap>()
    for (const { configPath } of [...pipeline.mutators, ...pipeline.validators]) {
      const path = cleanPath(configPath)
      if (configPath === '' || configs.has(path)) continue
      // A config that cannot be read is a failure of its function.
      const [only] = this.documents(folder === '' ? path : `${folder}/${path}`, [])
      if (only !== undefined) configs.set(path, only.node)
    }
    return configs
  }

  private documents(
    path: string,
    failures = this.failures,
  ): { readonly node: YamlMap; readonly own: string }[] {
    if (this.meter.isOver || this.sources.whyUnread(path) !== undefined) return []
    try {
      return this.documentsOf(
        this.sources.textOf(path).replaceAll('\r\n', '\n'),
        this.sources.where(path),
      )
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      failures.push(thrown)
      return []
    }
  }

  private documentsOf(
    text: string,
    where: string,
  ): { readonly node: YamlMap; readonly own: string }[] {
    const nodes = readYamlNodes(text, where, this.meter)
    return nodes.map((node, document) => {
      const target = resolved(node)
      const source = node.source ?? { path: where, document, start: 0, end: text.length }
      // From the end of the document before it, so that comments above count as in kyaml.
      const own = text.slice(nodes[document - 1]?.source?.end ?? 0, source.end)
      if (target.kind === 'map') return { node: target, own }
      if (target.kind === 'list')
        return { node: { ...yamlMap([[BARE_LIST_KEY, target]]), source }, own }
      throw notAnObject(where, 'it is a single value')
    })
  }
}

interface ReaderAnnotations {
  readonly folder: string
  readonly path: string
  readonly index: string
  readonly indent: string
}

/** Sets them like kyaml, in the order of their names. */
function annotate(item: YamlMap, { folder, path, index, indent }: ReaderAnnotations): void {
  copyLegacyAnnotations(item)
  setAnnotation(item, LEGACY_INDEX, index)
  setAnnotation(item, LEGACY_PATH, path)
  setAnnotation(item, INDEX, index)
  setAnnotation(item, PACKAGE_PATH, `/${folder}`)
  setAnnotation(item, PATH, path)
  setAnnotation(item, SEQUENCE_INDENT, indent)
}

/** From a value of `PACKAGE_PATH` to the folder within the outermost package. */
export function folderOf(packagePath: string): string {
  return packagePath.replace(/^\//, '')
}
