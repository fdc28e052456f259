/** Records what generators write (kustomize `api/types/generatorargs.go`). */
import { type FieldPath, findValueAt } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { index, makePath, type SourceDocument } from '../../build/adopt/source-document.ts'
import { readSourceText as fileText } from '../files/kustomize-build.ts'
import { findGeneratorLocations, type GeneratorLocation } from '../locate/kustomize-fields.ts'
import {
  type BuiltIdentity,
  findIdentityText,
  getIdentityText,
  isIdentity,
} from './built-identity.ts'
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

export function recordGeneratorWrites(
  kustomization: SourceDocument,
  { identity, field, history, isFirst }: GeneratorRun,
): void {
  const list = GENERATORS[identity.kind]
  if (list === undefined) return
  for (const { index: number, value: entry } of kustomization.listEntries(list)) {
    const creates = isCreated(entry)
    const name = getIdentityText(entry, 'name')
    const isGenerated =
      isFirst && field.desired.location.step === list && identity.now.name === name
    if (creates ? !isGenerated : !identity.isCalled(name, getIdentityText(entry, 'namespace')))
      continue
    if (!creates && isIdentity(field.path)) continue
    const at = [...makePath(list), index(number)]
    const [first, key, ...rest] = field.path
    if (first?.kind !== 'field' || rest.length > 1) continue
    if (
      (first.name === 'data' || first.name === 'binaryData') &&
      key?.kind === 'field' &&
      rest.length === 0
    ) {
      const [location] = findGeneratorLocations(kustomization, field.files, at, key.name)
      if (location !== undefined)
        history.write(
          `${list} of`,
          computeValueIn(location, field),
          listGeneratorPlaces(kustomization, location),
        )
      else if (getIdentityText(entry, 'behavior') === 'replace')
        history.remove(`${list} of`, kustomization.findLocation(at))
      continue
    }
    const [own, option] = [getOwnPath(field.path), getOptionPath(field.path)]
    const locations = [
      own.length === 0 ? [] : [[...at, ...own]],
      option.length === 0 ? [] : [[...makePath('generatorOptions'), ...option]],
    ].flat()
    const set = locations.find((path) => kustomization.has(path))
    if (set !== undefined)
      history.write(`${list} of`, kustomization.getValueAt(set), [
        { location: kustomization.findLocation(set) },
      ])
    else if (creates && isCreatedField(field.path))
      history.write(`${list} of`, UNKNOWN, [{ location: kustomization.findLocation(at) }])
  }
}

function getOwnPath(path: FieldPath): FieldPath {
  const [first, second] = path
  if (first?.kind !== 'field') return []
  const isName =
    first.name === 'metadata' &&
    second?.kind === 'field' &&
    (second.name === 'name' || second.name === 'namespace')
  if (isName) return path.slice(1)
  if (first.name === 'type') return path
  const option = getOptionPath(path)
  return option.length === 0 ? [] : [...makePath('options'), ...option]
}

function getOptionPath(path: FieldPath): FieldPath {
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
function computeValueIn(
  location: GeneratorLocation,
  { files, desired, path }: TracedField,
): FieldValue {
  const isText =
    desired.id.kind === 'ConfigMap' && path[0]?.kind === 'field' && path[0].name === 'data'
  if (!isText) return findValueAt(desired.object, path) === undefined ? undefined : UNKNOWN
  if (location.is === 'literal')
    return unquoteText(location.literal.slice(location.literal.indexOf('=') + 1))
  if (location.is === 'file') return fileText(location.file, files)
  return (fileText(location.file, files).split('\n')[location.row] ?? '')
    .replace(/\r$/, '')
    .slice(location.column)
}

function unquoteText(text: string): string {
  return text.length > 1 && (text[0] === '"' || text[0] === "'") && text.at(-1) === text[0]
    ? text.slice(1, -1)
    : text
}

function listGeneratorPlaces(
  kustomization: SourceDocument,
  location: GeneratorLocation,
): readonly WrittenAt[] {
  const at = kustomization.findLocation(location.at)
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

export function findGeneratedBy(
  kustomization: SourceDocument,
  list: string,
  rendered: string,
): ReturnType<SourceDocument['listEntries']>[number] | undefined {
  const nameOf = ({ value }: { readonly value: JsonObject }) => findIdentityText(value, 'name')
  return kustomization
    .listEntries(list)
    .flatMap((entry) => {
      const name = nameOf(entry)
      return isCreated(entry.value) && name !== undefined && rendered.includes(name)
        ? [{ entry, name }]
        : []
    })
    .sort((one, other) => other.name.length - one.name.length)[0]?.entry
}
