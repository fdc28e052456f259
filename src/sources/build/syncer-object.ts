import { isJsonObject, type JsonObject, partOf, textOf } from '@backporch/kyaml/json'
import { decodeYaml, parseGoYaml } from '@backporch/kyaml/read-yaml'
import { metadataText, parseApiVersion } from '@backporch/kyaml/resource'
import type { SourceFiles } from '../kustomize/files/kustomize-build.ts'
import { type SyncerBuild, variablePlaces } from './built-source.ts'

/**
 * An edited repository file counts.
 * @throws Failure BP111x of the file
 */
export function syncerObject(
  { object, declared }: Pick<SyncerBuild, 'object' | 'declared'>,
  files: SourceFiles,
): JsonObject {
  const file = declared === undefined ? undefined : files.get(declared.path)
  if (declared === undefined || file === undefined) return object
  const value = parseGoYaml(decodeYaml(file.content, declared.path), declared.path).documents[
    declared.document
  ]?.value
  const resource =
    isJsonObject(value) && declared.maker !== undefined
      ? declared.maker.resourceOf(value, files)
      : value
  return isJsonObject(resource) && isSameResource(resource, object) ? resource : object
}

/**
 * As edited repository files set them.
 * @throws Failure BP111x of the file
 */
export function withFileVariables(build: SyncerBuild, files: SourceFiles): SyncerBuild {
  const { variables } = build
  const edited = [...variablePlaces(build)].flatMap(([name, { path, document, at }]) => {
    const file = files.get(path)
    if (file === undefined) return []
    const value = parseGoYaml(decodeYaml(file.content, path), path).documents[document]?.value
    const text = partOf(value ?? null, ...at.map(String))
    return typeof text === 'string' ? [[name, oneLine(text)] as const] : []
  })
  return edited.length === 0 ? build : { ...build, variables: new Map([...variables, ...edited]) }
}

/** As in Flux for `substituteFrom`. */
export function oneLine(value: string): string {
  return value.replaceAll('\n', '')
}

export function valuesKey({
  kind,
  namespace,
  name,
}: { readonly [field in 'kind' | 'namespace' | 'name']: string }): string {
  return `${kind}/${namespace}/${name}`
}

/** In any version; a namespace that git omits is the cluster's. */
export function isSameResource(declared: JsonObject, live: JsonObject): boolean {
  const groupOf = (object: JsonObject): string =>
    parseApiVersion(textOf(object, 'apiVersion')).group
  return (
    textOf(declared, 'kind') === textOf(live, 'kind') &&
    groupOf(declared) === groupOf(live) &&
    metadataText(declared, 'name') === metadataText(live, 'name') &&
    ['', metadataText(live, 'namespace')].includes(metadataText(declared, 'namespace'))
  )
}
