/** The files of a package as people wrote them, and where in them a rendered node was written. */
import type { FieldPath } from '../../krm/field-path.ts'
import type { PackageFiles } from '../../package/package-files.ts'
import { LineIndex } from '../../yaml/read/go-yaml-text.ts'
import { readYamlNodes } from '../../yaml/read/read-yaml-node.ts'
import type { YamlNode } from '../../yaml/yaml-node.ts'
import { nodeAtPath, pathTo } from '../../yaml/yaml-path.ts'

/** A place in a file: where an edit goes. */
export interface AuthoredLocation {
  /** From the root of the repository. */
  readonly file: string
  /** Place of the document in the file, from 0. */
  readonly document: number
  /** From the root of the document; items of lists by their place. */
  readonly path: FieldPath
}

export class AuthoredFiles {
  private readonly packagePath: string
  private readonly files: ReadonlyMap<string, Uint8Array>
  private readonly parsed = new Map<string, readonly YamlNode[]>()

  constructor(packagePath: string, files: PackageFiles) {
    this.packagePath = packagePath
    this.files = new Map(files.map(({ path, content }) => [packagePath === '' ? path : `${packagePath}/${path}`, content]))
  }

  /** From the root of the repository. */
  where(path: string): string {
    return this.packagePath === '' ? path : `${this.packagePath}/${path}`
  }

  /** The way back from `where`. */
  within(file: string): string {
    return this.packagePath === '' ? file : file.slice(this.packagePath.length + 1)
  }

  has(file: string): boolean {
    return this.files.has(file)
  }

  text(file: string): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.files.get(file) ?? new Uint8Array())
  }

  /** Line ends as a render has them, so that places in the text are those of the nodes' sources. */
  documents(file: string): readonly YamlNode[] {
    const known = this.parsed.get(file)
    if (known !== undefined) return known
    const nodes = readYamlNodes(this.text(file).replaceAll('\r\n', '\n'), file)
    this.parsed.set(file, nodes)
    return nodes
  }

  /** Where a rendered node was written; undefined where no file has it. */
  locationOf(node: YamlNode): AuthoredLocation | undefined {
    const { source } = node
    if (source === undefined || !this.files.has(source.path)) return undefined
    const root = this.documents(source.path)[source.document]
    const path = root === undefined ? undefined : pathTo(root, (other) => other.source?.start === source.start)
    return path === undefined ? undefined : { file: source.path, document: source.document, path }
  }

  nodeAt({ file, document, path }: AuthoredLocation): YamlNode | undefined {
    const root = this.documents(file)[document]
    return root === undefined ? undefined : nodeAtPath(root, path)?.node
  }

  /** `apps/web/setters.yaml:7`, of the value at the place; of the file alone where nothing is there. */
  describe(location: AuthoredLocation): string {
    const source = this.nodeAt(location)?.source
    if (source === undefined) return location.file
    return `${location.file}:${new LineIndex(this.text(location.file).replaceAll('\r\n', '\n')).position(source.start).line}`
  }
}
