/**
 * Argo CD writes the options of the Application into the kustomization with `kustomize edit`, and
 * builds (argo-cd 3.2.0 `util/kustomize/kustomize.go`, kustomize 5.7.0 `commands/edit`). Options of
 * the installation (`kustomize.buildOptions`) are not read.
 */
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  objectsIn,
  partOf,
  textOf,
  textsIn,
} from '@backporch/kyaml/json'
import { compareText } from '@backporch/kyaml/text'
import type { SyncerBuilder, WrittenKustomization } from '../build/built-source.ts'
import { PLAIN_BUILDER } from '../build/plain-builder.ts'
import { imageEntry } from '../kustomize/files/image-entry.ts'
import { resolvePath } from '../kustomize/files/kustomization-walk.ts'
import {
  kustomizationAt,
  kustomizationOf,
  type SourceFiles,
  withOrigins,
} from '../kustomize/files/kustomize-build.ts'
import { KUSTOMIZE_TOOL } from '../kustomize/kustomize-tool.ts'
import {
  type ArgoSource,
  inEnvironment,
  overrideNames,
  refused,
  sourceIn,
  sourceOf,
} from './argo-source.ts'

export function argoKustomize(of: ArgoSource): SyncerBuilder {
  return {
    ...PLAIN_BUILDER,
    fields: ['spec', ...of.at, 'kustomize'],
    overrides: { names: overrideNames(of), field: 'kustomize' },
    components: (object) => textsIn(partOf(sourceIn(object, of.at), 'kustomize', 'components')),
    tool: KUSTOMIZE_TOOL,
    way: { kustomization: (object, folder, files) => written(of, object, folder, files) },
    namespace: destinationNamespace,
  }
}

/** gitops-engine sets it on namespaced objects without a namespace. */
export function destinationNamespace(object: JsonObject): string | undefined {
  return textOf(object, 'spec', 'destination', 'namespace') || undefined
}

function written(
  of: ArgoSource,
  object: JsonObject,
  folder: string,
  files: SourceFiles,
): WrittenKustomization {
  const source = sourceOf({ ...of, tool: 'kustomize' }, object, folder, files)
  const path = kustomizationOf(folder, files)
  if (path === undefined)
    throw refused(source, 'it has options for kustomize, and the folder has no kustomization')
  const authored = kustomizationAt(path, files)
  const filled = (text: string): string => inEnvironment(text, of, object, source)
  const edited = new Options(source, files, folder, filled).over(authored)
  return { path, ...withOrigins(edited) }
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
    const given = partOf(source, 'kustomize')
    this.source = source
    this.given = isJsonObject(given) ? given : {}
    this.files = files
    this.folder = folder
    this.filled = filled
  }

  over(authored: JsonObject): JsonObject {
    const value: { [key: string]: Json } = { ...authored }
    for (const name of ['namePrefix', 'nameSuffix', 'namespace'])
      if (textOf(this.given, name) !== '') value[name] = textOf(this.given, name)
    const add = (name: string, list: readonly Json[] | undefined): void => {
      if (list !== undefined) value[name] = list
    }
    add('images', this.images(objectsIn(authored['images'])))
    add('replicas', this.replicas(objectsIn(authored['replicas'])))
    Object.assign(value, this.labels(authored), this.annotations(authored))
    const patches = objectsIn(getKey(this.given, 'patches'))
    if (
      patches.length > 0 &&
      authored['patches'] !== undefined &&
      !isJsonArray(authored['patches'])
    )
      throw refused(
        this.source,
        'patches of the kustomization is no list, and Argo CD adds nothing to it',
      )
    if (patches.length > 0) value['patches'] = [...objectsIn(authored['patches']), ...patches]
    const has = textsIn(authored['components'])
    const components = this.components().filter((each) => !has.includes(each))
    if (components.length > 0) value['components'] = [...has, ...components]
    return value
  }

  private images(authored: readonly JsonObject[]): readonly Json[] | undefined {
    const given = textsIn(getKey(this.given, 'images'))
    if (given.length === 0) return undefined
    const all = new Map(authored.map((each) => [textOf(each, 'name'), each]))
    for (const text of given) {
      const image = this.image(this.filled(text))
      const before = all.get(textOf(image, 'name'))
      // An asterisk keeps the value of the kustomization.
      const kept = Object.entries(image).map(
        ([key, value]) => [key, value === '*' ? (textOf(before, key) as Json) : value] as const,
      )
      all.set(textOf(image, 'name'), Object.fromEntries(kept.filter(([, value]) => value !== '')))
    }
    return byName([...all.values()])
  }

  private image(text: string): JsonObject {
    const image = imageEntry(text)
    if (image['name'] === text)
      throw refused(
        this.source,
        `kustomize accepts no image ${JSON.stringify(text)} in spec.source.kustomize.images`,
      )
    return image
  }

  private replicas(authored: readonly JsonObject[]): readonly Json[] | undefined {
    const given = objectsIn(getKey(this.given, 'replicas'))
    if (given.length === 0) return undefined
    const all = new Map(authored.map((each) => [textOf(each, 'name'), each]))
    for (const each of given) {
      const count = getKey(each, 'count') ?? 0
      if (!/^-?\d+$/.test(String(count)))
        throw refused(
          this.source,
          `the count of the replicas of ${textOf(each, 'name')} is no number`,
        )
      all.set(textOf(each, 'name'), { name: textOf(each, 'name'), count: Number(count) })
    }
    return byName([...all.values()])
  }

  private labels(authored: JsonObject): { [key: string]: Json } {
    const given = pairsIn(getKey(this.given, 'commonLabels')).map(
      ([name, text]) => [name, this.filled(text)] as const,
    )
    if (given.length === 0) return {}
    const [plain, templates] = ['labelWithoutSelector', 'labelIncludeTemplates'].map(
      (name) => getKey(this.given, name) === true,
    )
    const force = getKey(this.given, 'forceCommonLabels') === true
    if (plain !== true) {
      if (templates === true)
        throw refused(this.source, 'labelIncludeTemplates needs labelWithoutSelector')
      return { commonLabels: this.added(partOf(authored, 'commonLabels'), given, force, 'label') }
    }
    const entries = objectsIn(authored['labels'])
    const at = entries.findIndex(
      (each) =>
        (getKey(each, 'includeSelectors') === true) === false &&
        (getKey(each, 'includeTemplates') === true) === (templates === true),
    )
    // kustomize adds all of them with the first one, and then finds the second one already present.
    if (at === -1 && given.length > 1 && !force)
      throw refused(
        this.source,
        'kustomize edit adds several labels without selectors only with force (forceCommonLabels)',
      )
    const entry = entries[at] ?? {
      includeSelectors: false,
      ...(templates === true ? { includeTemplates: true } : {}),
    }
    const pairs = this.added(getKey(entry, 'pairs'), given, force, 'label')
    return {
      labels: at === -1 ? [...entries, { ...entry, pairs }] : entries.with(at, { ...entry, pairs }),
    }
  }

  private annotations(authored: JsonObject): { [key: string]: Json } {
    const substituted = getKey(this.given, 'commonAnnotationsEnvsubst') === true
    const given = pairsIn(getKey(this.given, 'commonAnnotations')).map(
      ([name, text]) => [name, substituted ? this.filled(text) : text] as const,
    )
    if (given.length === 0) return {}
    const force = getKey(this.given, 'forceCommonAnnotations') === true
    return {
      commonAnnotations: this.added(
        partOf(authored, 'commonAnnotations'),
        given,
        force,
        'annotation',
      ),
    }
  }

  private added(
    authored: Json | undefined,
    given: readonly (readonly [string, string])[],
    force: boolean,
    what: string,
  ): JsonObject {
    const all = new Map<string, Json>(isJsonObject(authored) ? Object.entries(authored) : [])
    for (const [name, text] of given) {
      if (all.has(name) && !force)
        throw refused(
          this.source,
          `the kustomization has the ${what} ${name} already, and Argo CD replaces it only with force (forceCommon${what === 'label' ? 'Labels' : 'Annotations'})`,
        )
      all.set(name, unquoted(text))
    }
    return Object.fromEntries(all)
  }

  private components(): readonly string[] {
    const given = textsIn(getKey(this.given, 'components'))
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

function byName(entries: readonly JsonObject[]): readonly Json[] {
  return entries.toSorted((one, other) => compareText(textOf(one, 'name'), textOf(other, 'name')))
}

function pairsIn(value: Json | undefined): readonly (readonly [string, string])[] {
  return isJsonObject(value)
    ? Object.entries(value).map(([name, text]) => [name, String(text ?? '')] as const)
    : []
}

function unquoted(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
}
