import type { FieldPath } from '@backporch/kyaml/field'
import type { PackageFiles } from '@backporch/kyaml/files'
import { LineIndex, readYamlNodes } from '@backporch/kyaml/read-yaml'
import { findNodeAtPath, findPathTo, type YamlNode } from '@backporch/kyaml/yaml'

export interface AuthoredLocation {
  readonly file: string
  readonly document: number
  /** List items by their index. */
  readonly path: FieldPath
}

export class AuthoredFiles {
  private readonly packagePath: string
  private readonly files: ReadonlyMap<string, Uint8Array>
  private readonly parsed = new Map<string, readonly YamlNode[]>()

  constructor(packagePath: string, files: PackageFiles) {
    this.packagePath = packagePath
    this.files = new Map(
      files.map(({ path, content }) => [
        packagePath === '' ? path : `${packagePath}/${path}`,
        content,
      ]),
    )
  }

  resolveLocation(path: string): string {
    return this.packagePath === '' ? path : `${this.packagePath}/${path}`
  }

  getRelativePath(file: string): string {
    return this.packagePath === '' ? file : file.slice(this.packagePath.length + 1)
  }

  has(file: string): boolean {
    return this.files.has(file)
  }

  getText(file: string): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      this.files.get(file) ?? new Uint8Array(),
    )
  }

  /** With a render's line ends, so that offsets match the nodes' sources. */
  parseDocuments(file: string): readonly YamlNode[] {
    const known = this.parsed.get(file)
    if (known !== undefined) return known
    const nodes = readYamlNodes(this.getText(file).replaceAll('\r\n', '\n'), file)
    this.parsed.set(file, nodes)
    return nodes
  }

  findLocation(node: YamlNode): AuthoredLocation | undefined {
    const { source } = node
    if (source === undefined || !this.files.has(source.path)) return undefined
    const root = this.parseDocuments(source.path)[source.document]
    const path =
      root === undefined
        ? undefined
        : findPathTo(root, (other) => other.source?.start === source.start)
    return path === undefined ? undefined : { file: source.path, document: source.document, path }
  }

  findNode({ file, document, path }: AuthoredLocation): YamlNode | undefined {
    const root = this.parseDocuments(file)[document]
    return root === undefined ? undefined : findNodeAtPath(root, path)?.node
  }

  /** As `apps/web/setters.yaml:7`; only the file if it has no value there. */
  describe(location: AuthoredLocation): string {
    const source = this.findNode(location)?.source
    if (source === undefined) return location.file
    return `${location.file}:${new LineIndex(this.getText(location.file).replaceAll('\r\n', '\n')).getPosition(source.start).line}`
  }
}
