/** What Flux writes into a field that kustomize built: the variables of its text, then common labels and annotations. */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { type FieldPath, valueAt } from '@backporch/kyaml/field'
import { type Json, jsonEquals, partOf } from '@backporch/kyaml/json'
import { describeResourceId } from '@backporch/kyaml/resource'
import { resolveGoScalar } from '@backporch/kyaml/yaml'
import { fluxVariables, isSubstituted } from '../../render/flux/flux-kustomization.ts'
import { substituteVariables } from '../../render/flux/shell-variables.ts'
import { type SyncerBuild, syncerObject } from '../../render/syncer/syncer-build.ts'
import { namesIn } from '../adopt/kustomize/flux-variables.ts'
import { fields, inCluster, type SourceDocument } from '../adopt/kustomize/kustomization-node.ts'
import type { FieldHistory, TracedField, WrittenAt } from './field-history.ts'

export class SyncerWrites {
  private readonly build: SyncerBuild
  private readonly resource: SourceDocument
  private readonly variables: ReadonlyMap<string, string>

  /** @param resource the fields of the syncer's resource. @throws Failure BP111x of its file */
  constructor(build: SyncerBuild, resource: SourceDocument, files: TracedField['files']) {
    const object = syncerObject(build, files)
    this.build = build
    this.resource = resource
    this.variables = partOf(object, 'spec', 'postBuild') === undefined ? new Map() : fluxVariables(build, object)
  }

  addTo(history: FieldHistory, { desired, path }: Pick<TracedField, 'desired' | 'path'>): void {
    this.substitute(history, desired, path)
    const [metadata, marks, key, ...rest] = path
    if (metadata?.kind !== 'field' || metadata.name !== 'metadata' || marks === undefined || key === undefined || rest.length > 0) return
    const at = [...fields('commonMetadata'), marks, key]
    const value = this.resource.valueAt(at)
    if (typeof value === 'string') history.write('commonMetadata of', value, [{ location: this.resource.locationOf(at) }])
  }

  private substitute(history: FieldHistory, { object }: DesiredResource, path: FieldPath): void {
    const text = history.value
    if (this.variables.size === 0 || typeof text !== 'string' || !text.includes('${') || !isSubstituted(object)) return
    const at = namesIn(text).flatMap((name) => this.placeOf(name) ?? [])
    const value = asRead(
      substituteVariables(text, (name) => this.variables.get(name)),
      valueAt(object, path),
    )
    // What the text says for a variable that nobody sets is of the text.
    if (at.length === 0) history.value = value
    else history.write(at.length === 1 ? 'the variable' : 'the variables', value, at, isOneVariable(text) ? '' : 'a part of it')
  }

  /** Undefined where nobody sets it. */
  private placeOf(name: string): WrittenAt | undefined {
    const at = fields('postBuild', 'substitute', name)
    if (typeof this.resource.valueAt(at) === 'string') return { location: this.resource.locationOf(at), name }
    const source = this.build.variableSources?.get(name)
    return source === undefined ? undefined : { location: inCluster(describeResourceId(source)), name }
  }
}

/** A text that no manifest has. */
const PLACE = '\u0000'

function isOneVariable(text: string): boolean {
  return substituteVariables(text, () => PLACE) === PLACE
}

/** Flux substitutes in the text of the object and reads that again: the text may be a number. */
function asRead(text: string, rendered: Json | undefined): Json {
  const read = resolveGoScalar(text, true)
  return read.is === 'value' && jsonEquals(read.value, rendered) ? read.value : text
}
