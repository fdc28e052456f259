import { Failure } from '@backporch/kyaml/failure'
import type { Json } from '@backporch/kyaml/json'
import { isObjectList, LineIndex } from '@backporch/kyaml/read-yaml'
import {
  convertToKptJson,
  convertToKubectlJson,
  listItemsAt,
  resolveAlias,
  type YamlMap,
} from '@backporch/kyaml/yaml'
import type { SourceLocation } from '../desired/desired-set.ts'
import { isKustomization, isLocalConfig } from '../desired/not-applied.ts'
import { removeAnnotations } from '../desired/without-annotations.ts'
import { getItemFile, RENDER_ANNOTATIONS } from '../function/item-annotations.ts'
import { getFunctionName } from '../function/pipeline-step.ts'
import { isKptfile, type PackageSources } from '../package/package-sources.ts'
import type { PipelineRun } from './run-pipeline.ts'

interface RenderedObject {
  readonly object: Json
  readonly location: SourceLocation
  readonly path: string
  readonly node: YamlMap
  readonly local: boolean
}

/** In output order, without Kptfiles, kustomizations and local objects. */
export function buildRenderedObjects(
  sources: PackageSources,
  { items, runs }: PipelineRun,
): readonly RenderedObject[] {
  const lines = new Map<string, LineIndex>()
  const lineAt = (path: string, offset: number): number => {
    const within = sources.packagePath === '' ? path : path.slice(sources.packagePath.length + 1)
    const known =
      lines.get(path) ?? new LineIndex(sources.readText(within).replaceAll('\r\n', '\n'))
    lines.set(path, known)
    return known.getPosition(offset).line
  }
  const locationOf = (node: YamlMap, path: string): SourceLocation => {
    const { source } = node
    if (source !== undefined)
      return {
        path: source.path,
        document: source.document,
        item: undefined,
        line: lineAt(source.path, source.start),
      }
    const created = runs[node.writes?.[0] ?? -1]?.step
    return created === undefined
      ? { path: sources.resolveLocation(path), document: 0, item: undefined, line: 1 }
      : {
          path: created.kptfile,
          document: 0,
          item: undefined,
          line: created.function.line,
          step: getFunctionName(created.function),
        }
  }
  const inList = (node: YamlMap, item: number, list: SourceLocation): SourceLocation =>
    // After an external program, only the list is known.
    node.source?.path === list.path
      ? { ...list, item, line: lineAt(list.path, node.source.start) }
      : { ...list, item }
  const readValue = sources.isAppliedByKpt ? convertToKptJson : convertToKubectlJson
  return items.flatMap((node): RenderedObject[] => {
    const { path } = getItemFile(node)
    const object = removeAnnotations(
      readObject(node, readValue, locationOf(node, path)),
      RENDER_ANNOTATIONS,
    )
    if (isKptfile(path) || isKustomization(object, path)) return []
    if (!isObjectList(object))
      return [{ object, location: locationOf(node, path), path, node, local: false }]
    const local = isLocalConfig(object)
    return listItemsAt(node, 'items').flatMap((below, item) => {
      const target = resolveAlias(below)
      return target.kind === 'map'
        ? [
            {
              object: readValue(target),
              location: inList(target, item, locationOf(node, path)),
              path,
              node: target,
              local,
            },
          ]
        : []
    })
  })
}

/** @throws Failure BP1112 for a text with a number's tag, which only a function can create */
function readObject(
  node: YamlMap,
  readValue: (node: YamlMap) => Json,
  { path, line }: SourceLocation,
): Json {
  try {
    return readValue(node)
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown
    throw new Failure({
      code: 'BP1112',
      what: 'a rendered document is not a Kubernetes object',
      where: `${path}:${line}`,
      why: 'a function of the pipeline gave a field a value that has no form in JSON',
      remedy: 'give the function a value of the type that the field has',
      retry: 'on-change',
    })
  }
}
