import { getPartAt, getTextAt, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { decodeYaml, parseGoYaml } from '@backporch/kyaml/read-yaml'
import { getMetadataText, parseApiVersion } from '@backporch/kyaml/resource'
import type { SourceFiles } from '../kustomize/files/kustomize-build.ts'
import { mapVariablePlaces, type SyncerBuild } from './built-source.ts'

/**
 * An edited repository file counts.
 * @throws Failure BP111x of the file
 */
export function readSyncerObject(
  { object, declared }: Pick<SyncerBuild, 'object' | 'declared'>,
  files: SourceFiles,
): JsonObject {
  const file = declared === undefined ? undefined : files.get(declared.path)
  if (declared === undefined || file === undefined) return object
  const value = parseGoYaml(decodeYaml(file.content, declared.path), declared.path).documents[
    declared.document
  ]?.value
  const resource =
    isJsonObject(value) && declared.generator !== undefined
      ? declared.generator.resourceOf(value, files)
      : value
  return isJsonObject(resource) && isSameResource(resource, object) ? resource : object
}

/**
 * As edited repository files set them.
 * @throws Failure BP111x of the file
 */
export function applyFileVariables(build: SyncerBuild, files: SourceFiles): SyncerBuild {
  const { variables } = build
  const edited = [...mapVariablePlaces(build)].flatMap(([name, { path, document, at }]) => {
    const file = files.get(path)
    if (file === undefined) return []
    const value = parseGoYaml(decodeYaml(file.content, path), path).documents[document]?.value
    const text = getPartAt(value ?? null, ...at.map(String))
    return typeof text === 'string' ? [[name, removeLineBreaks(text)] as const] : []
  })
  return edited.length === 0 ? build : { ...build, variables: new Map([...variables, ...edited]) }
}

/** As in Flux for `substituteFrom`. */
export function removeLineBreaks(value: string): string {
  return value.replaceAll('\n', '')
}

export function formatValuesKey({
  kind,
  namespace,
  name,
}: { readonly [field in 'kind' | 'namespace' | 'name']: string }): string {
  return `${kind}/${namespace}/${name}`
}

/** In any version; a namespace that git omits is the cluster's. */
export function isSameResource(declared: JsonObject, live: JsonObject): boolean {
  const groupOf = (object: JsonObject): string =>
    parseApiVersion(getTextAt(object, 'apiVersion')).group
  return (
    getTextAt(declared, 'kind') === getTextAt(live, 'kind') &&
    groupOf(declared) === groupOf(live) &&
    getMetadataText(declared, 'name') === getMetadataText(live, 'name') &&
    ['', getMetadataText(live, 'namespace')].includes(getMetadataText(declared, 'namespace'))
  )
}
