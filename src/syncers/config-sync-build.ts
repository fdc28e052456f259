/** What Config Sync applies of a folder in the unstructured format (docs/facts/config-sync-sources.md). */
import { Failure } from '../failure.ts'
import { annotationsOf, metadataText } from '../krm/resource.ts'
import { describeResourceId, parseApiVersion } from '../krm/resource-id.ts'
import { kustomizationAt, kustomizationOf, type SourceFiles } from '../render/kustomize/kustomize-build.ts'
import { printFiles } from '../render/print-files.ts'
import type { SyncerBuilder } from '../render/syncer-build.ts'
import { formatJson, getKey, isJsonArray, isJsonObject, type Json, type JsonObject, textOf } from '../text/json.ts'
import { parseGoYaml } from '../yaml/read/go-yaml.ts'

/** Of a RepoSync, every object is in its namespace. */
export function configSyncBuilder(isBuilt: boolean): SyncerBuilder {
  return {
    fields: [],
    overrides: { names: [], field: '' },
    components: () => [],
    way: isBuilt
      ? { kustomization: (_own, folder, files) => asAuthored(folder, files) }
      : {
          print: (own, folder, files) =>
            printFiles(files, folder, {
              chosen: ({ path, isLink }) => !path.endsWith('.jsonnet') && !isLink,
              reads: (each) => isApplied(each, own),
            }),
        },
    namespace: (own) => (isRepoSync(own) ? metadataText(own, 'namespace') : 'default'),
    documents: (_build, own, text) =>
      text
        .split(/^---\n/m)
        .filter((document) => document.trim() !== '' && isApplied(parseGoYaml(document, 'the output').documents[0]?.value ?? null, own))
        .map((document) => ({ text: document })),
    finished: (built) => built,
  }
}

function asAuthored(folder: string, files: SourceFiles) {
  const path = kustomizationOf(folder, files) ?? ''
  const authored = kustomizationAt(path, files)
  const requested = getKey(authored, 'buildMetadata')
  const metadata = isJsonArray(requested) ? requested : []
  const keepsOrigins = metadata.includes('originAnnotations')
  const buildMetadata = keepsOrigins ? metadata : [...metadata, 'originAnnotations']
  return { path, text: `${formatJson({ ...authored, buildMetadata })}\n`, keepsOrigins }
}

/** Objects that choose clusters and namespaces. */
const SELECTING = new Set(['configmanagement.gke.io', 'clusterregistry.k8s.io'])
const SELECTORS = [
  'configsync.gke.io/cluster-name-selector',
  'configmanagement.gke.io/cluster-selector',
  'configmanagement.gke.io/namespace-selector',
]

/** @throws Failure BP1210 where Config Sync applies nothing, or the name of the cluster decides */
function isApplied(object: Json, own: JsonObject): boolean {
  if (!isJsonObject(object)) return true
  const { group } = parseApiVersion(textOf(object, 'apiVersion'))
  if (SELECTING.has(group)) return false
  const annotations = annotationsOf(object)
  const id = { group, kind: textOf(object, 'kind'), namespace: metadataText(object, 'namespace'), name: metadataText(object, 'name') }
  const selector = SELECTORS.find((name) => annotations.has(name))
  if (selector !== undefined)
    throw refused(`${describeResourceId(id)} has ${selector}, and which clusters and namespaces it selects is not known here`)
  if (isRepoSync(own) && id.namespace !== '' && id.namespace !== metadataText(own, 'namespace'))
    throw refused(`${describeResourceId(id)} is in another namespace than the RepoSync, which then applies nothing (KNV1058)`)
  return annotations.get('configmanagement.gke.io/managed') !== 'disabled'
}

function isRepoSync(own: JsonObject): boolean {
  return textOf(own, 'kind') === 'RepoSync'
}

function refused(why: string): Failure {
  return new Failure({
    code: 'BP1210',
    what: 'the folder cannot be compared as Config Sync applies it',
    why,
    remedy: 'move the object to a folder of its own, or name another renderer of the folder in a policy (spec.render)',
    retry: 'on-change',
  })
}
