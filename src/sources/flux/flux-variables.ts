/**
 * Reads the variables of `substituteFrom` and the files that set them (kustomize-controller
 * `docs/spec/v1/kustomizations.md`).
 */
import {
  filterObjects,
  getPartAt,
  getTextAt,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import { getMetadataText, type ResourceId } from '@backporch/kyaml/resource'
import type { SyncerBuild, VariableSource } from '../build/built-source.ts'
import { removeLineBreaks } from '../build/syncer-object.ts'
import type { DeclaredSyncer, SourceAnswers, VariablesRef } from '../build/unit-source.ts'

export function listVariablesRefs(own: JsonObject, namespace: string): readonly VariablesRef[] {
  return filterObjects(getPartAt(own, 'spec', 'postBuild', 'substituteFrom')).flatMap(
    (one): VariablesRef[] => {
      const kind = getTextAt(one, 'kind')
      if (kind !== 'ConfigMap' && kind !== 'Secret') return []
      return [
        {
          kind,
          namespace,
          name: getTextAt(one, 'name'),
          optional: getPartAt(one, 'optional') === true,
        },
      ]
    },
  )
}

interface VariableFiles {
  readonly refs: readonly VariablesRef[]
  readonly configMaps: readonly DeclaredSyncer[]
  readonly applied: readonly string[]
}

type Variables = Pick<SyncerBuild, 'variables' | 'variableSources' | 'inputs'>

/** The cluster must have the file's value and apply it: then merging an edit changes the value. */
export function createFluxVariables(
  given: SourceAnswers['variables'],
  { refs, configMaps, applied }: VariableFiles,
): Variables {
  const values = new Map(given?.values ?? [])
  const sources = new Map<string, VariableSource>(given?.sources ?? [])
  for (const ref of refs) {
    const declared =
      ref.kind === 'ConfigMap' ? findVariablesFile(ref, configMaps, applied) : undefined
    if (declared === undefined) continue
    const { path, document } = declared
    for (const [name, value] of listEntries(declared.object)) {
      const source = given?.sources.get(name)
      const isOfFile =
        given === undefined ||
        (source?.kind === 'ConfigMap' &&
          source.name === ref.name &&
          given.values.get(name) === value)
      if (!isOfFile) continue
      values.set(name, value)
      sources.set(name, { ...getResourceId(ref), place: { path, document, at: ['data', name] } })
    }
  }
  const inputs = refs.filter(({ kind }) => kind === 'ConfigMap').map(getResourceId)
  return { variables: values, variableSources: sources, inputs }
}

function getResourceId({ kind, namespace, name }: VariablesRef): ResourceId {
  return { group: '', kind, namespace, name }
}

/** A ConfigMap without a namespace gets that of its kustomization. */
function findVariablesFile(
  { namespace, name }: VariablesRef,
  configMaps: readonly DeclaredSyncer[],
  applied: readonly string[],
): DeclaredSyncer | undefined {
  const named = configMaps.filter(
    ({ object }) =>
      getMetadataText(object, 'name') === name &&
      ['', namespace].includes(getMetadataText(object, 'namespace')),
  )
  const inFolders = named.filter(({ path }) =>
    applied.some((folder) => folder !== '' && path.startsWith(`${folder}/`)),
  )
  const found = inFolders.length === 0 && applied.includes('') ? named : inFolders
  return found.length === 1 ? found[0] : undefined
}

function listEntries(object: JsonObject): readonly (readonly [string, string])[] {
  const data = getPartAt(object, 'data')
  return Object.entries(isJsonObject(data) ? data : {}).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, removeLineBreaks(value)] as const] : [],
  )
}
