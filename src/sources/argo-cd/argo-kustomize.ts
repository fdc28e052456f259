/**
 * Argo CD writes the options of the Application into the kustomization with `kustomize edit`, and
 * builds (argo-cd 3.2.0 `util/kustomize/kustomize.go`, kustomize 5.7.0 `commands/edit`). Options of
 * the installation (`kustomize.buildOptions`) are not read.
 */
import {
  filterObjects,
  filterTexts,
  findNonEmptyText,
  getKey,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { compareText, omitUndefined } from '@backporch/kyaml/text'
import type { SyncerBuilder, WrittenKustomization } from '../build/built-source.ts'
import { PLAIN_BUILDER } from '../build/plain-builder.ts'
import { parseImageEntry } from '../kustomize/files/image-entry.ts'
import { resolvePath } from '../kustomize/files/kustomization-walk.ts'
import {
  findKustomizationPath,
  readKustomizationAt,
  requestOrigins,
  type SourceFiles,
} from '../kustomize/files/kustomize-build.ts'
import { KUSTOMIZE_TOOL } from '../kustomize/kustomize-tool.ts'
import {
  type ArgoSource,
  createArgoRefusal,
  getArgoSource,
  overrideNames,
  resolveArgoSource,
  substituteEnvironment,
} from './argo-source.ts'

export function createArgoKustomize(of: ArgoSource): SyncerBuilder {
  return {
    ...PLAIN_BUILDER,
    fields: ['spec', ...of.at, 'kustomize'],
    overrides: { names: overrideNames(of), field: 'kustomize' },
    components: (object) =>
      filterTexts(getPartAt(getArgoSource(object, of.at), 'kustomize', 'components')),
    tool: KUSTOMIZE_TOOL,
    way: {
      kustomization: (object, folder, files) => writeKustomization(of, object, folder, files),
    },
    namespace: getDestinationNamespace,
  }
}

/** gitops-engine sets it on namespaced objects without a namespace. */
export function getDestinationNamespace(object: JsonObject): string | undefined {
  return getTextAt(object, 'spec', 'destination', 'namespace') || undefined
}

function writeKustomization(
  of: ArgoSource,
  object: JsonObject,
  folder: string,
  files: SourceFiles,
): WrittenKustomization {
  const source = resolveArgoSource({ ...of, tool: 'kustomize' }, object, folder, files)
  const path = findKustomizationPath(folder, files)
  if (path === undefined)
    throw createArgoRefusal(
      source,
      'it has options for kustomize, and the folder has no kustomization',
    )
  const authored = readKustomizationAt(path, files)
  const filled = (text: string): string => substituteEnvironment(text, of, object, source)
  const edited = new Options(source, files, folder, filled).applyOver(authored)
  return { path, ...requestOrigins(edited) }
}

class Options {
  private readonly source: JsonObject
  private readonly given: JsonObject
  private readonly files: SourceFiles
  private readonly folder: string
  private readonly filled: (text: string) => string

  constructor(
    source: JsonObject,
    files: SourceFiles,
    folder: string,
    filled: (text: string) => string,
  ) {
    const given = getPartAt(source, 'kustomize')
    this.source = source
    this.given = isJsonObject(given) ? given : {}
    this.files = files
    this.folder = folder
    this.filled = filled
  }

  applyOver(authored: JsonObject): JsonObject {
    const value: { [key: string]: Json } = { ...authored }
    for (const name of ['namePrefix', 'nameSuffix', 'namespace'])
      Object.assign(value, omitUndefined({ [name]: findNonEmptyText(this.given, name) }))
    const add = (name: string, list: readonly Json[] | undefined): void => {
      if (list !== undefined) value[name] = list
    }
    add('images', this.overrideImages(filterObjects(authored['images'])))
    add('replicas', this.overrideReplicas(filterObjects(authored['replicas'])))
    Object.assign(value, this.overrideLabels(authored), this.overrideAnnotations(authored))
    const patches = filterObjects(getKey(this.given, 'patches'))
    if (
      patches.length > 0 &&
      authored['patches'] !== undefined &&
      !isJsonArray(authored['patches'])
    )
      throw createArgoRefusal(
        this.source,
        'patches of the kustomization is not a list, and Argo CD adds nothing to it',
      )
    if (patches.length > 0) value['patches'] = [...filterObjects(authored['patches']), ...patches]
    const has = filterTexts(authored['components'])
    const components = this.listComponents().filter((each) => !has.includes(each))
    if (components.length > 0) value['components'] = [...has, ...components]
    return value
  }

  private overrideImages(authored: readonly JsonObject[]): readonly Json[] | undefined {
    const given = filterTexts(getKey(this.given, 'images'))
    if (given.length === 0) return undefined
    const all = new Map(authored.map((each) => [getTextAt(each, 'name'), each]))
    for (const text of given) {
      const image = this.parseImage(this.filled(text))
      const before = all.get(getTextAt(image, 'name'))
      // An asterisk keeps the value of the kustomization.
      const kept = Object.entries(image).map(
        ([key, value]) => [key, value === '*' ? (getTextAt(before, key) as Json) : value] as const,
      )
      all.set(
        getTextAt(image, 'name'),
        Object.fromEntries(kept.filter(([, value]) => value !== '')),
      )
    }
    return sortByName([...all.values()])
  }

  private parseImage(text: string): JsonObject {
    const image = parseImageEntry(text)
    if (image['name'] === text)
      throw createArgoRefusal(
        this.source,
        `kustomize accepts no image ${JSON.stringify(text)} in spec.source.kustomize.images`,
      )
    return image
  }

  private overrideReplicas(authored: readonly JsonObject[]): readonly Json[] | undefined {
    const given = filterObjects(getKey(this.given, 'replicas'))
    if (given.length === 0) return undefined
    const all = new Map(authored.map((each) => [getTextAt(each, 'name'), each]))
    for (const each of given) {
      const count = getKey(each, 'count') ?? 0
      if (!/^-?\d+$/.test(String(count)))
        throw createArgoRefusal(
          this.source,
          `the count of the replicas of ${getTextAt(each, 'name')} is not a number`,
        )
      all.set(getTextAt(each, 'name'), { name: getTextAt(each, 'name'), count: Number(count) })
    }
    return sortByName([...all.values()])
  }

  private overrideLabels(authored: JsonObject): { [key: string]: Json } {
    const given = listPairs(getKey(this.given, 'commonLabels')).map(
      ([name, text]) => [name, this.filled(text)] as const,
    )
    if (given.length === 0) return {}
    const [plain, templates] = ['labelWithoutSelector', 'labelIncludeTemplates'].map(
      (name) => getKey(this.given, name) === true,
    )
    const force = getKey(this.given, 'forceCommonLabels') === true
    if (plain !== true) {
      if (templates === true)
        throw createArgoRefusal(this.source, 'labelIncludeTemplates needs labelWithoutSelector')
      return {
        commonLabels: this.addPairs(getPartAt(authored, 'commonLabels'), given, force, 'label'),
      }
    }
    const entries = filterObjects(authored['labels'])
    const at = entries.findIndex(
      (each) =>
        (getKey(each, 'includeSelectors') === true) === false &&
        (getKey(each, 'includeTemplates') === true) === (templates === true),
    )
    // kustomize adds all of them with the first one, and then finds the second one already present.
    if (at === -1 && given.length > 1 && !force)
      throw createArgoRefusal(
        this.source,
        'kustomize edit adds several labels without selectors only with force (forceCommonLabels)',
      )
    const entry = entries[at] ?? {
      includeSelectors: false,
      ...(templates === true ? { includeTemplates: true } : {}),
    }
    const pairs = this.addPairs(getKey(entry, 'pairs'), given, force, 'label')
    return {
      labels: at === -1 ? [...entries, { ...entry, pairs }] : entries.with(at, { ...entry, pairs }),
    }
  }

  private overrideAnnotations(authored: JsonObject): { [key: string]: Json } {
    const substituted = getKey(this.given, 'commonAnnotationsEnvsubst') === true
    const given = listPairs(getKey(this.given, 'commonAnnotations')).map(
      ([name, text]) => [name, substituted ? this.filled(text) : text] as const,
    )
    if (given.length === 0) return {}
    const force = getKey(this.given, 'forceCommonAnnotations') === true
    return {
      commonAnnotations: this.addPairs(
        getPartAt(authored, 'commonAnnotations'),
        given,
        force,
        'annotation',
      ),
    }
  }

  private addPairs(
    authored: Json | undefined,
    given: readonly (readonly [string, string])[],
    force: boolean,
    what: string,
  ): JsonObject {
    const all = new Map<string, Json>(isJsonObject(authored) ? Object.entries(authored) : [])
    for (const [name, text] of given) {
      if (all.has(name) && !force)
        throw createArgoRefusal(
          this.source,
          `the kustomization has the ${what} ${name} already, and Argo CD replaces it only with force (forceCommon${what === 'label' ? 'Labels' : 'Annotations'})`,
        )
      all.set(name, unquoteText(text))
    }
    return Object.fromEntries(all)
  }

  private listComponents(): readonly string[] {
    const given = filterTexts(getKey(this.given, 'components'))
    if (getKey(this.given, 'ignoreMissingComponents') !== true) return given
    return given.filter((each) => {
      const path = resolvePath(this.folder, each)
      return (
        path !== undefined &&
        [...this.files.keys()].some((file) => file === path || file.startsWith(`${path}/`))
      )
    })
  }
}

function sortByName(entries: readonly JsonObject[]): readonly Json[] {
  return entries.toSorted((one, other) =>
    compareText(getTextAt(one, 'name'), getTextAt(other, 'name')),
  )
}

function listPairs(value: Json | undefined): readonly (readonly [string, string])[] {
  return isJsonObject(value)
    ? Object.entries(value).map(([name, text]) => [name, String(text ?? '')] as const)
    : []
}

function unquoteText(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
}
