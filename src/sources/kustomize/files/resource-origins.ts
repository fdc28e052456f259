import type { SourceLocation } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import { getTextAt, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import {
  LineIndex,
  listDocumentObjects,
  parseGoYaml,
  readYamlNodes,
} from '@backporch/kyaml/read-yaml'
import { parseApiVersion } from '@backporch/kyaml/resource'
import { findTextAt, listItemsAt } from '@backporch/kyaml/yaml'
import { resolvePath } from './kustomization-walk.ts'
import {
  readSourceText as fileText,
  findKustomizationPath,
  ORIGIN,
  type SourceFiles,
} from './kustomize-build.ts'

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

  findLocation(object: JsonObject): SourceLocation {
    const origin = readOrigin(getTextAt(object, 'metadata', 'annotations', ORIGIN))
    const path = origin['path'] === undefined ? undefined : resolvePath(this.folder, origin['path'])
    if (path !== undefined && this.files.has(path))
      return this.findInFile(path, object) ?? { path, document: 0, item: undefined, line: 1 }
    const created =
      origin['configuredIn'] === undefined
        ? undefined
        : resolvePath(this.folder, origin['configuredIn'])
    if (created !== undefined && this.files.has(created))
      return this.locateGenerator(created, object, origin['kind'] ?? '')
    return {
      path: findKustomizationPath(this.folder, this.files) ?? this.folder,
      document: 0,
      item: undefined,
      line: 1,
      step: 'kustomize',
    }
  }

  /** Its name may lack the prefix, suffix or hash of the printed one. */
  private findInFile(path: string, object: JsonObject): SourceLocation | undefined {
    const { group, kind, name } = readIdentity(object)
    const same = this.listDeclaredIn(path).filter(
      (each) => each.kind === kind && each.group === group,
    )
    const named = same
      .filter((each) => name.includes(each.name))
      .sort((one, other) => other.name.length - one.name.length)
    return (named[0] ?? (same.length === 1 ? same[0] : undefined))?.location
  }

  private listDeclaredIn(path: string): readonly Declared[] {
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
        listDocumentObjects(document, text, path).flatMap(({ object, item, line }) =>
          isJsonObject(object)
            ? [
                {
                  ...readIdentity(object),
                  location: { path, document: document.index, item, line },
                },
              ]
            : [],
        ),
      )
    } catch (thrown) {
      if (thrown instanceof Failure) return []
      throw thrown
    }
  }

  private locateGenerator(path: string, object: JsonObject, kind: string): SourceLocation {
    const step = GENERATORS.get(kind) ?? 'configMapGenerator'
    const text = fileText(path, this.files).replaceAll('\r\n', '\n')
    // Helm's own label contains the chart's name.
    const made =
      step === HELM_CHARTS
        ? getTextAt(object, 'metadata', 'labels', 'helm.sh/chart')
        : readIdentity(object).name
    const [root] = readYamlNodes(text, path)
    const items = listItemsAt(root, step)
    const entry =
      items
        .filter((item) => made.includes(findTextAt(item, 'name') ?? '\n'))
        .sort(
          (one, other) =>
            (findTextAt(other, 'name') ?? '').length - (findTextAt(one, 'name') ?? '').length,
        )[0] ?? (items.length === 1 ? items[0] : undefined)
    const line =
      entry?.source === undefined ? 1 : new LineIndex(text).getPosition(entry.source.start).line
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

function readIdentity(object: JsonObject): Omit<Declared, 'location'> {
  const { group } = parseApiVersion(getTextAt(object, 'apiVersion'))
  return { group, kind: getTextAt(object, 'kind'), name: getTextAt(object, 'metadata', 'name') }
}
