import type { DesiredResource } from '@backporch/kpt/desired-set'
import { type FieldPath, findValueAt } from '@backporch/kyaml/field'
import { isJsonEqual, type Json } from '@backporch/kyaml/json'
import { describeResourceId } from '@backporch/kyaml/resource'
import { resolveGoScalar } from '@backporch/kyaml/yaml'
import {
  createClusterLocation,
  makePath,
  type SourceDocument,
} from '../../build/adopt/source-document.ts'
import type { Substitution, SyncerBuild } from '../../build/built-source.ts'
import { applyFileVariables, readSyncerObject } from '../../build/syncer-object.ts'
import { locateVariable } from '../locate/variable-locations.ts'
import type { FieldHistory, TracedField, WrittenAt } from './field-history.ts'

export class SyncerWrites {
  private readonly build: SyncerBuild
  private readonly substitution: Substitution | undefined
  private readonly resource: SourceDocument
  private readonly files: TracedField['files']
  private readonly variables: ReadonlyMap<string, string>

  /**
   * @param resource its fields
   * @throws Failure BP111x of its file
   */
  constructor(build: SyncerBuild, resource: SourceDocument, files: TracedField['files']) {
    this.build = build
    this.substitution =
      build.builder.substitution === 'none' ? undefined : build.builder.substitution
    this.resource = resource
    this.files = files
    this.variables =
      this.substitution === undefined
        ? new Map()
        : this.substitution.variables(
            applyFileVariables(build, files),
            readSyncerObject(build, files),
          )
  }

  addTo(history: FieldHistory, { desired, path }: Pick<TracedField, 'desired' | 'path'>): void {
    this.substitute(history, desired, path)
    const [metadata, marks, key, ...rest] = path
    if (
      metadata?.kind !== 'field' ||
      metadata.name !== 'metadata' ||
      marks === undefined ||
      key === undefined ||
      rest.length > 0
    )
      return
    const at = [...makePath('commonMetadata'), marks, key]
    const value = this.resource.getValueAt(at)
    if (typeof value === 'string')
      history.write('commonMetadata of', value, [{ location: this.resource.findLocation(at) }])
  }

  private substitute(history: FieldHistory, { object }: DesiredResource, path: FieldPath): void {
    const text = history.value
    const { substitution } = this
    if (substitution === undefined || this.variables.size === 0 || typeof text !== 'string') return
    if (!text.includes('${') || !substitution.isIn(object)) return
    const at = substitution.namesIn(text).flatMap((name) => this.getPlace(name, substitution) ?? [])
    const value = convertAsRead(
      substitution.fill(text, (name) => this.variables.get(name)),
      findValueAt(object, path),
    )
    // The default in the text for an unset variable belongs to the text.
    if (at.length === 0) history.value = value
    else
      history.write(
        at.length === 1 ? 'the variable' : 'the variables',
        value,
        at,
        isOneVariable(substitution, text) ? undefined : 'a part of it',
      )
  }

  /** Undefined if nobody sets it. */
  private getPlace(name: string, substitution: Substitution): WrittenAt | undefined {
    const at = makePath(...substitution.at, name)
    if (typeof this.resource.getValueAt(at) === 'string')
      return { location: this.resource.findLocation(at), name }
    const place = locateVariable(name, this.build, this.files)
    if (place !== undefined) return { location: place.document.findLocation(place.path), name }
    const source = this.build.variableSources?.get(name)
    return source === undefined
      ? undefined
      : { location: createClusterLocation(describeResourceId(source)), name }
  }
}

const PLACE = '\u0000'

function isOneVariable(substitution: Substitution, text: string): boolean {
  return substitution.fill(text, () => PLACE) === PLACE
}

/** Flux rereads the substituted text, which may be a number. */
function convertAsRead(text: string, rendered: Json | undefined): Json {
  const read = resolveGoScalar(text, true)
  return read.is === 'value' && isJsonEqual(read.value, rendered) ? read.value : text
}
