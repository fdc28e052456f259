/** The resource of a syncer, as files of the repository declare it. */
import { isJsonObject, type JsonObject, textOf } from '@backporch/kyaml/json'
import { decodeYaml, parseGoYaml } from '@backporch/kyaml/read-yaml'
import { metadataText, parseApiVersion } from '@backporch/kyaml/resource'
import type { SourceFiles } from '../kustomize/files/kustomize-build.ts'
import type { SyncerBuild } from './built-source.ts'

/** The resource of a build: an edited file of the repository counts. @throws Failure BP111x of the file */
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

/** Key of a ConfigMap or Secret in what the repository declares. */
export function valuesKey({
  kind,
  namespace,
  name,
}: { readonly [field in 'kind' | 'namespace' | 'name']: string }): string {
  return `${kind}/${namespace}/${name}`
}

/** Whether git declares the resource, in whatever version; a namespace that git does not say is that of the cluster. */
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
