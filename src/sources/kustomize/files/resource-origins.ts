import type { SourceLocation } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import { isJsonObject, type JsonObject, textOf } from '@backporch/kyaml/json'
import {
  LineIndex,
  objectsOfDocument,
  parseGoYaml,
  readYamlNodes,
} from '@backporch/kyaml/read-yaml'
import { parseApiVersion } from '@backporch/kyaml/resource'
import { itemsAt, textAt } from '@backporch/kyaml/yaml'
import { resolvePath } from './kustomization-walk.ts'
import { textOf as fileText, kustomizationOf, ORIGIN, type SourceFiles } from './kustomize-build.ts'

export const HELM_CHARTS = 'helmCharts'
const GENERATORS = new Map([
  ['SecretGenerator', 'secretGenerator'],
  ['HelmChartInflationGenerator', HELM_CHARTS],
])

interface Declared {
  readonly group: string
  readonly kind: string
  readonly name: string
  readonly location: SourceLocation
}

export class ResourceOrigins {
  private readonly folder: string
  private readonly files: SourceFiles
  private readonly declared = new Map<string, readonly Declared[]>()

  constructor(folder: string, files: SourceFiles) {
    this.folder = folder
    this.files = files
  }

  locationOf(object: JsonObject): SourceLocation {
    const origin = readOrigin(textOf(object, 'metadata', 'annotations', ORIGIN))
    const path = origin['path'] === undefined ? undefined : resolvePath(this.folder, origin['path'])
    if (path !== undefined && this.files.has(path))
      return this.inFile(path, object) ?? { path, document: 0, item: undefined, line: 1 }
    const created =
      origin['configuredIn'] === undefined
        ? undefined
        : resolvePath(this.folder, origin['configuredIn'])
    if (created !== undefined && this.files.has(created))
      return this.ofGenerator(created, object, origin['kind'] ?? '')
    return {
      path: kustomizationOf(this.folder, this.files) ?? this.folder,
      document: 0,
      item: undefined,
      line: 1,
      step: 'kustomize',
    }
  }

  /** Its name may lack the prefix, suffix or hash of the printed one. */
  private inFile(path: string, object: JsonObject): SourceLocation | undefined {
    const { group, kind, name } = identityOf(object)
    const same = this.declaredIn(path).filter((each) => each.kind === kind && each.group === group)
    const named = same
      .filter((each) => name.includes(each.name))
      .sort((one, other) => other.name.length - one.name.length)
    return (named[0] ?? (same.length === 1 ? same[0] : undefined))?.location
  }

  private declaredIn(path: string): readonly Declared[] {
    const known = this.declared.get(path)
    if (known !== undefined) return known
    const found = this.readDeclared(path)
    this.declared.set(path, found)
    return found
  }

  private readDeclared(path: string): readonly Declared[] {
    try {
      const text = fileText(path, this.files)
      return parseGoYaml(text, path).documents.flatMap((document) =>
        objectsOfDocument(document, text, path).flatMap(({ object, item, line }) =>
          isJsonObject(object)
            ? [{ ...identityOf(object), location: { path, document: document.index, item, line } }]
            : [],
        ),
      )
    } catch (thrown) {
      if (thrown instanceof Failure) return []
      throw thrown
    }
  }

  private ofGenerator(path: string, object: JsonObject, kind: string): SourceLocation {
    const step = GENERATORS.get(kind) ?? 'configMapGenerator'
    const text = fileText(path, this.files).replaceAll('\r\n', '\n')
    // Helm's own label contains the chart's name.
    const made =
      step === HELM_CHARTS
        ? textOf(object, 'metadata', 'labels', 'helm.sh/chart')
        : identityOf(object).name
    const [root] = readYamlNodes(text, path)
    const items = itemsAt(root, step)
    const entry =
      items
        .filter((item) => made.includes(textAt(item, 'name') ?? '\n'))
        .sort(
          (one, other) => (textAt(other, 'name') ?? '').length - (textAt(one, 'name') ?? '').length,
        )[0] ?? (items.length === 1 ? items[0] : undefined)
    const line =
      entry?.source === undefined ? 1 : new LineIndex(text).position(entry.source.start).line
    return { path, document: 0, item: undefined, line, step }
  }
}

export function readOrigin(text: string): { readonly [name: string]: string | undefined } {
  const entries = text.split('\n').flatMap((line) => {
    const [, name, value] = /^\s*(\w+): *(.*?)\s*$/.exec(line) ?? []
    return name === undefined || value === undefined
      ? []
      : [[name, value.replace(/^(["'])(.*)\1$/, '$2')] as const]
  })
  return Object.fromEntries(entries)
}

function identityOf(object: JsonObject): Omit<Declared, 'location'> {
  const { group } = parseApiVersion(textOf(object, 'apiVersion'))
  return { group, kind: textOf(object, 'kind'), name: textOf(object, 'metadata', 'name') }
}
