/** As kustomize `api/types/generatorargs.go`. */
import { type FieldPath, valueAt } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { fields, index, type SourceDocument } from '../../build/adopt/source-document.ts'
import { textOf as fileText } from '../files/kustomize-build.ts'
import { type GeneratorLocation, generatorLocations } from '../locate/kustomize-fields.ts'
import { type BuiltIdentity, isIdentity, textOf } from './built-identity.ts'
import {
  type FieldHistory,
  type FieldValue,
  type TracedField,
  UNKNOWN,
  type WrittenAt,
} from './field-history.ts'
import { GENERATORS, isCreated } from './kustomize-stages.ts'

interface GeneratorRun {
  readonly identity: BuiltIdentity
  readonly field: TracedField
  readonly history: FieldHistory
  readonly isFirst: boolean
}

export function generatorWrites(
  kustomization: SourceDocument,
  { identity, field, history, isFirst }: GeneratorRun,
): void {
  const list = GENERATORS[identity.kind]
  if (list === undefined) return
  for (const { index: number, value: entry } of kustomization.entries(list)) {
    const creates = isCreated(entry)
    const name = textOf(entry, 'name')
    const isGenerated =
      isFirst && field.desired.location.step === list && identity.now.name === name
    if (creates ? !isGenerated : !identity.isCalled(name, textOf(entry, 'namespace'))) continue
    if (!creates && isIdentity(field.path)) continue
    const at = [...fields(list), index(number)]
    const [first, key, ...rest] = field.path
    if (first?.kind !== 'field' || rest.length > 1) continue
    if (
      (first.name === 'data' || first.name === 'binaryData') &&
      key?.kind === 'field' &&
      rest.length === 0
    ) {
      const [location] = generatorLocations(kustomization, field.files, at, key.name)
      if (location !== undefined)
        history.write(`${list} of`, valueIn(location, field), locationsOf(kustomization, location))
      else if (textOf(entry, 'behavior') === 'replace')
        history.remove(`${list} of`, kustomization.locationOf(at))
      continue
    }
    const [own, option] = [ownPath(field.path), optionPath(field.path)]
    const locations = [
      own.length === 0 ? [] : [[...at, ...own]],
      option.length === 0 ? [] : [[...fields('generatorOptions'), ...option]],
    ].flat()
    const set = locations.find((path) => kustomization.has(path))
    if (set !== undefined)
      history.write(`${list} of`, kustomization.valueAt(set), [
        { location: kustomization.locationOf(set) },
      ])
    else if (creates && isCreatedField(field.path))
      history.write(`${list} of`, UNKNOWN, [{ location: kustomization.locationOf(at) }])
  }
}

function ownPath(path: FieldPath): FieldPath {
  const [first, second] = path
  if (first?.kind !== 'field') return []
  const isName =
    first.name === 'metadata' &&
    second?.kind === 'field' &&
    (second.name === 'name' || second.name === 'namespace')
  if (isName) return path.slice(1)
  if (first.name === 'type') return path
  const option = optionPath(path)
  return option.length === 0 ? [] : [...fields('options'), ...option]
}

function optionPath(path: FieldPath): FieldPath {
  const [first, second] = path
  if (first?.kind !== 'field') return []
  if (first.name === 'immutable') return path
  const isMark =
    second?.kind === 'field' && (second.name === 'labels' || second.name === 'annotations')
  return first.name === 'metadata' && isMark && path.length === 3 ? path.slice(1) : []
}

function isCreatedField(path: FieldPath): boolean {
  const [first, ...rest] = path
  return (
    rest.length === 0 &&
    first?.kind === 'field' &&
    ['apiVersion', 'kind', 'type'].includes(first.name)
  )
}

/** Secrets hold base64 values, which are not compared. */
function valueIn(location: GeneratorLocation, { files, desired, path }: TracedField): FieldValue {
  const isText =
    desired.id.kind === 'ConfigMap' && path[0]?.kind === 'field' && path[0].name === 'data'
  if (!isText) return valueAt(desired.object, path) === undefined ? undefined : UNKNOWN
  if (location.is === 'literal')
    return unquoted(location.literal.slice(location.literal.indexOf('=') + 1))
  if (location.is === 'file') return fileText(location.file, files)
  return (fileText(location.file, files).split('\n')[location.row] ?? '')
    .replace(/\r$/, '')
    .slice(location.column)
}

function unquoted(text: string): string {
  return text.length > 1 && (text[0] === '"' || text[0] === "'") && text.at(-1) === text[0]
    ? text.slice(1, -1)
    : text
}

function locationsOf(
  kustomization: SourceDocument,
  location: GeneratorLocation,
): readonly WrittenAt[] {
  const at = kustomization.locationOf(location.at)
  if (location.is === 'literal') return [{ location: at }]
  if (location.is === 'file')
    return [
      { location: at },
      { location: { file: location.file, line: 1, column: 1 }, source: 'file' },
    ]
  return [
    { location: at },
    {
      location: { file: location.file, line: location.row + 1, column: location.column + 1 },
      source: 'line',
    },
  ]
}

export function generatedBy(
  kustomization: SourceDocument,
  list: string,
  rendered: string,
): ReturnType<SourceDocument['entries']>[number] | undefined {
  const nameOf = ({ value }: { readonly value: JsonObject }) => textOf(value, 'name')
  return kustomization
    .entries(list)
    .filter(
      (entry) => isCreated(entry.value) && nameOf(entry) !== '' && rendered.includes(nameOf(entry)),
    )
    .sort((one, other) => nameOf(other).length - nameOf(one).length)[0]
}
