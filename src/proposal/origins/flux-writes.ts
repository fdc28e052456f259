/** What Flux writes into a field after the build of kustomize: variables of `postBuild`, and `commonMetadata`. */
import { type FieldPath, valueAt } from '../../krm/field-path.ts'
import type { DesiredResource } from '../../render/desired-set.ts'
import { fluxVariables } from '../../render/flux/flux-kustomization.ts'
import { BadSubstitution, substituteVariables, variablesIn } from '../../render/flux/shell-variables.ts'
import type { SourceFiles } from '../../render/kustomize/kustomize-build.ts'
import { syncerObject } from '../../render/syncer-build.ts'
import { partOf } from '../../text/json.ts'
import { fields, type SyncedFolder, syncerFields } from '../adopt/kustomization-node.ts'
import type { FieldHistory } from './field-history.ts'

/** @returns what writes the field and is in no file of the repository */
export function fluxWrites(
  history: FieldHistory,
  { object }: DesiredResource,
  path: FieldPath,
  files: SourceFiles,
  synced: SyncedFolder,
): readonly string[] {
  const rendered = valueAt(object, path)
  const resource = syncerObject(synced.build, files)
  if (rendered === undefined || rendered === null || typeof rendered === 'object') return []
  const spec = syncerFields(files, synced)
  const { title } = synced.build
  const [metadata, marks, name] = path
  if (
    metadata?.kind === 'field' &&
    metadata.name === 'metadata' &&
    marks?.kind === 'field' &&
    name?.kind === 'field' &&
    path.length === 3
  ) {
    const at = fields('commonMetadata', marks.name, name.name)
    if (partOf(resource, 'spec', 'commonMetadata', marks.name, name.name) === rendered) {
      if (spec?.has(at) !== true) {
        history.value = rendered
        return [`written by commonMetadata of ${title}`]
      }
      history.write('commonMetadata of', rendered, [{ location: spec.locationOf(at) }])
      return []
    }
  }
  const text = history.value
  const hasVariables = typeof text === 'string' && text.includes('${') && partOf(resource, 'spec', 'postBuild') !== undefined
  if (!hasVariables) return []
  const variables = fluxVariables(synced.build, resource)
  const [made, names] = substituted(text, variables)
  if (made !== String(rendered)) return []
  const ofFile = names.filter((each) => spec?.has(fields('postBuild', 'substitute', each)) === true)
  const elsewhere = names.filter((each) => !ofFile.includes(each) && variables.has(each))
  const locations = spec === undefined ? [] : ofFile.map((each) => ({ location: spec.locationOf(fields('postBuild', 'substitute', each)) }))
  if (locations.length > 0) history.write('the variable of', rendered, locations)
  else history.value = rendered
  return elsewhere.map((each) => `the variable ${each} is set by ${title}, in no file that is known here`)
}

function substituted(text: string, variables: ReadonlyMap<string, string>): readonly [made: string | undefined, names: readonly string[]] {
  try {
    return [substituteVariables(text, (name) => variables.get(name)), [...variablesIn(text)]]
  } catch (thrown) {
    if (thrown instanceof BadSubstitution) return [undefined, []]
    throw thrown
  }
}
