/**
 * Lists the files that `kustomize build` reads, through bases and components. It reads only files
 * of the commit. It refuses other locations, and every field that could name a file or program in a
 * way that is not checked here: a repository must not get local files into a rendering.
 */
import { KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFile } from '@backporch/kyaml/files'
import { isJsonObject } from '@backporch/kyaml/json'
import { decodeYaml, LineIndex, readYamlNodes } from '@backporch/kyaml/read-yaml'
import {
  convertYamlToJson,
  findEntry,
  findTextAt,
  getYamlKey,
  listItemsAt,
  resolveAlias,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'
import { listChartEntries, pullCommand } from './helm-charts.ts'
import {
  type EntryFields,
  GENERATOR,
  HELM_GLOBALS,
  OPENAPI,
  PATCH,
  PLAIN,
  PROGRAMS,
  REPLACEMENT,
  TRANSFORMERS,
} from './known-fields.ts'

export interface KustomizationSource {
  /** From the repository root. */
  readonly folder: string
  /** By path from the repository root. */
  readonly files: ReadonlyMap<string, PackageFile>
  readonly charts: ReadonlySet<string>
  readonly failures: readonly Failure[]
}

export type PathAnswer = PackageFile | 'folder' | 'absent' | LeftOut

export interface LeftOut {
  readonly why: string
  readonly remedy: string
}

const MOST_FILES = 5000

/** Whether or not such a folder exists (kustomize `api/internal/git/repospec.go`). */
const ADDRESS = /:\/\/|^[a-z]+::|^[^/]*@[^/]*:|^(?:git@)?github\.com[:/]/i

/** Yields paths from the repository root. Never throws for bad input. */
export function* walkKustomization(
  folder: string,
): Generator<string, KustomizationSource, PathAnswer> {
  const walk = new KustomizationWalk()
  yield* walk.enter(folder, undefined)
  return { folder, files: walk.files, charts: walk.charts, failures: walk.failures }
}

interface Named {
  readonly text: string
  readonly where: string
}

class KustomizationWalk {
  readonly files = new Map<string, PackageFile>()
  readonly charts = new Set<string>()
  readonly failures: Failure[] = []
  private readonly entered = new Set<string>()

  private keep(file: PackageFile, from: Named): boolean {
    if (this.files.has(file.path)) return false
    const link =
      file.mode === '120000'
        ? 'a symbolic link'
        : file.mode === '160000'
          ? 'a submodule'
          : undefined
    if (link !== undefined) {
      this.refuse(from, `${file.path} is ${link}, which is not followed`, 'commit the file itself')
      return false
    }
    this.files.set(file.path, file)
    if (this.files.size === MOST_FILES)
      this.refuse(from, `the build reads more than ${MOST_FILES} files`, 'split the kustomization')
    return this.files.size < MOST_FILES
  }

  *enter(folder: string, from: Named | undefined): Generator<string, void, PathAnswer> {
    if (this.entered.has(folder)) return
    this.entered.add(folder)
    let found = false
    let leftOut: LeftOut | undefined
    for (const name of KUSTOMIZATION_NAMES) {
      const path = joinFolderPath(folder, name)
      const answer = yield path
      if (typeof answer === 'string') continue
      if (isLeftOut(answer)) {
        leftOut ??= answer
        continue
      }
      found = true
      if (this.keep(answer, { text: name, where: path })) yield* this.read(answer, folder)
    }
    if (!found)
      this.refuse(
        from ?? { text: folder, where: folder || '.' },
        leftOut?.why ?? `${folder || 'the root of the repository'} has no kustomization.yaml`,
        leftOut?.remedy ?? 'commit one there, or correct the path',
      )
  }

  private *read(
    { path, content }: PackageFile,
    folder: string,
  ): Generator<string, void, PathAnswer> {
    try {
      const text = decodeYaml(content, path).replaceAll('\r\n', '\n')
      const [root, second] = readYamlNodes(text, path)
      if (root === undefined) return
      const lines = new LineIndex(text)
      const at = (node: YamlNode): string =>
        `${path}:${node.source === undefined ? 1 : lines.getPosition(node.source.start).line}`
      if (second !== undefined || resolveAlias(root).kind !== 'map')
        this.refuse(
          { text: path, where: at(second ?? root) },
          'a kustomization is one document',
          'keep one of them',
        )
      else yield* this.walkFields(resolveAlias(root) as YamlMap, folder, at)
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      this.failures.push(thrown)
    }
  }

  private *walkFields(
    root: YamlMap,
    folder: string,
    at: (node: YamlNode) => string,
  ): Generator<string, void, PathAnswer> {
    for (const { key, value } of root.entries) {
      const name = getYamlKey(key)
      const where = at(key)
      if (PLAIN.has(name)) continue
      if (name === 'resources' || name === 'bases' || name === 'components')
        for (const named of listNamedTexts(value, at)) yield* this.walkResource(named, folder)
      else if (name === 'crds' || name === 'configurations')
        for (const named of listNamedTexts(value, at)) yield* this.walkFile(named, folder)
      else if (name === 'patchesStrategicMerge')
        for (const named of listNamedTexts(value, at)) {
          if (!isInline(named.text)) yield* this.walkFile(named, folder)
        }
      else if (name === 'patches' || name === 'patchesJson6902')
        yield* this.walkMaps(value, PATCH, folder, at)
      else if (name === 'replacements') yield* this.walkMaps(value, REPLACEMENT, folder, at)
      else if (name === 'configMapGenerator' || name === 'secretGenerator')
        yield* this.walkGenerators(value, folder, at)
      else if (name === 'openapi') yield* this.walkMaps(value, OPENAPI, folder, at)
      else if (name === 'transformers')
        for (const named of listNamedTexts(value, at)) yield* this.walkTransformer(named, folder)
      else if (name === 'helmGlobals') yield* this.walkMaps(value, HELM_GLOBALS, folder, at)
      else if (name === 'helmCharts') yield* this.walkHelmCharts(root, folder, at)
      else if (PROGRAMS.has(name))
        this.refuse(
          { text: name, where },
          `${name} runs programs or reads from elsewhere`,
          'commit its output as files instead',
        )
      else
        this.refuse(
          { text: name, where },
          `${name} is not a known field of a kustomization`,
          'leave it out',
        )
    }
  }

  private *walkResource(named: Named, folder: string): Generator<string, void, PathAnswer> {
    const path = this.resolveInside(named, folder)
    if (path === undefined) return
    const answer = yield path
    if (answer === 'folder') yield* this.enter(path, named)
    else this.takeAnswer(answer, named, path)
  }

  private *walkFile(
    named: Named,
    folder: string,
  ): Generator<string, PackageFile | undefined, PathAnswer> {
    const path = this.resolveInside(named, folder)
    return path === undefined ? undefined : this.takeAnswer(yield path, named, path)
  }

  private takeAnswer(answer: PathAnswer, named: Named, path: string): PackageFile | undefined {
    if (typeof answer === 'string') this.refuseMissing(named, path)
    else if (isLeftOut(answer)) this.refuse(named, answer.why, answer.remedy)
    else {
      this.keep(answer, named)
      return answer
    }
    return undefined
  }

  private *walkMaps(
    value: YamlNode,
    { known, file }: EntryFields,
    folder: string,
    at: (node: YamlNode) => string,
  ): Generator<string, void, PathAnswer> {
    const target = resolveAlias(value)
    for (const item of target.kind === 'list' ? target.items : [target]) {
      const map = resolveAlias(item)
      if (map.kind !== 'map') {
        this.refuse(
          { text: '', where: at(item) },
          'the entry is not a map',
          'write it in the current form of kustomize',
        )
        continue
      }
      for (const { key } of map.entries)
        if (!known.has(getYamlKey(key)))
          this.refuse(
            { text: getYamlKey(key), where: at(key) },
            `${getYamlKey(key)} is not known here`,
            'leave it out',
          )
      const entry = findEntry(map, file)
      const text = findTextAt(map, file)
      if (entry !== undefined && text !== undefined && text !== '')
        yield* this.walkFile({ text, where: at(entry.value) }, folder)
    }
  }

  private *walkGenerators(
    value: YamlNode,
    folder: string,
    at: (node: YamlNode) => string,
  ): Generator<string, void, PathAnswer> {
    yield* this.walkMaps(value, GENERATOR, folder, at)
    const target = resolveAlias(value)
    for (const item of target.kind === 'list' ? target.items : []) {
      for (const name of ['files', 'envs'])
        for (const entry of listItemsAt(item, name))
          for (const { text, where } of listNamedTexts(entry, at))
            yield* this.walkFile(
              { text: name === 'files' ? text.replace(/^[^=]*=/, '') : text, where },
              folder,
            )
    }
  }

  private *walkHelmCharts(
    root: YamlMap,
    folder: string,
    at: (node: YamlNode) => string,
  ): Generator<string, void, PathAnswer> {
    const kustomization = convertYamlToJson(root)
    const items = listItemsAt(root, 'helmCharts')
    for (const [index, chart] of listChartEntries(
      isJsonObject(kustomization) ? kustomization : {},
    ).entries()) {
      const named = { text: chart.path, where: at(items[index] ?? root) }
      if (chart.problem !== undefined) {
        this.refuse(named, chart.problem.why, chart.problem.remedy)
        continue
      }
      const path = this.resolveInside(named, folder)
      if (path === undefined) continue
      const answer = yield joinFolderPath(path, 'Chart.yaml')
      if (typeof answer === 'string' || isLeftOut(answer))
        this.refuse(
          named,
          `the chart ${chart.name} is not in the folder ${path}, and nothing is fetched`,
          `commit what "${pullCommand(chart)}" fetches there`,
        )
      else this.charts.add(path)
      for (const text of chart.values) yield* this.walkFile({ ...named, text }, folder)
    }
  }

  private *walkTransformer(named: Named, folder: string): Generator<string, void, PathAnswer> {
    const inline = isInline(named.text)
    const file = inline ? undefined : yield* this.walkFile(named, folder)
    if (file === undefined && !inline) return
    const text = file === undefined ? named.text : decodeYaml(file.content, file.path)
    for (const node of readYamlNodes(text.replaceAll('\r\n', '\n'), file?.path ?? named.where)) {
      const kind = findTextAt(node, 'kind') ?? ''
      if (findTextAt(node, 'apiVersion') !== 'builtin' || !TRANSFORMERS.has(kind))
        this.refuse(
          named,
          `the transformer ${JSON.stringify(kind)} runs a program, or may read files`,
          'use a field of the kustomization',
        )
    }
  }

  /** Undefined outside of the repository. */
  private resolveInside(named: Named, folder: string): string | undefined {
    const { text } = named
    const path = resolvePath(folder, text)
    if (!ADDRESS.test(text) && path !== undefined) return path
    this.refuse(
      named,
      ADDRESS.test(text)
        ? `${JSON.stringify(text.slice(0, 200))} is elsewhere, and only this commit is read`
        : `${JSON.stringify(text.slice(0, 200))} leaves the repository`,
      'commit the files to this repository and name their folder',
    )
    return undefined
  }

  private refuseMissing(named: Named, path: string): void {
    const elsewhere = /[?]|^[a-z0-9-]+\.[a-z]+\//i.test(named.text)
    this.refuse(
      named,
      elsewhere
        ? `${JSON.stringify(named.text.slice(0, 200))} is elsewhere, and only this commit is read`
        : `${path} is not in the commit`,
      elsewhere
        ? 'commit the files to this repository and name their folder'
        : 'commit it, or correct the path',
    )
  }

  private refuse({ where }: Named, why: string, remedy: string): void {
    this.failures.push(
      new Failure({
        code: 'BP1210',
        what: 'the kustomization cannot be built from the repository alone',
        where,
        why,
        remedy,
        retry: 'on-change',
      }),
    )
  }
}

function isLeftOut(answer: PackageFile | LeftOut): answer is LeftOut {
  return 'why' in answer
}

function listNamedTexts(value: YamlNode, at: (node: YamlNode) => string): readonly Named[] {
  const target = resolveAlias(value)
  const items = target.kind === 'list' ? target.items : [target]
  return items.flatMap((item) => {
    const node = resolveAlias(item)
    const text = node.kind === 'scalar' ? convertYamlToJson(node) : undefined
    return typeof text === 'string' && text !== '' ? [{ text, where: at(item) }] : []
  })
}

/** From the repository root; undefined if the path is absolute or leaves it. */
export function resolvePath(folder: string, path: string): string | undefined {
  if (path.startsWith('/') || /[\\\0\n]/.test(path)) return undefined
  const segments = folder === '' ? [] : folder.split('/')
  for (const segment of path.split('/')) {
    if (segment === '..') {
      if (segments.pop() === undefined) return undefined
    } else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return segments.join('/')
}

export function joinFolderPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

export function getParentFolder(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** As in kustomize, a text that parses as objects is inline, and every other text is a path. */
export function isInline(text: string): boolean {
  if (!/[\n:{]/.test(text)) return false
  try {
    const documents = readYamlNodes(text.replaceAll('\r\n', '\n'), 'patch')
    return (
      documents.length > 0 &&
      documents.every((node) => findTextAt(node, 'kind') && findTextAt(node, 'metadata', 'name'))
    )
  } catch (thrown) {
    if (thrown instanceof Failure) return false
    throw thrown
  }
}
