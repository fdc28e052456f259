/** Locates the sources of replacements (kustomize `api/filters/replacement/replacement.go`). */
import { Failure } from '@backporch/kyaml/failure'
import type { FieldPath, PathStep } from '@backporch/kyaml/field'
import {
  filterObjects,
  getKey,
  getPartAt,
  isJsonArray,
  isJsonObject,
  type Json,
} from '@backporch/kyaml/json'
import {
  type FileLocation,
  index,
  makePath,
  readSourceDocuments,
  type SourceDocument,
} from '../../build/adopt/source-document.ts'
import { resolvePath } from '../files/kustomization-walk.ts'
import type { BuiltIdentity } from './built-identity.ts'
import type { TracedField } from './field-history.ts'

export function listReplacementLocations(
  kustomization: SourceDocument,
  identity: BuiltIdentity,
  { path, files }: Pick<TracedField, 'path' | 'files'>,
): readonly FileLocation[] {
  return kustomization.listEntries('replacements').flatMap(({ index: number, value }) => {
    const at = [...makePath('replacements'), index(number)]
    const named = getKey(value, 'path')
    if (typeof named !== 'string')
      return coversField(value, identity, path) ? [kustomization.findLocation(at)] : []
    const file = resolvePath(kustomization.folder, named)
    return file === undefined || !files.has(file)
      ? []
      : listFileLocations(readDocuments(file, files), identity, path)
  })
}

function readDocuments(file: string, files: TracedField['files']): readonly SourceDocument[] {
  try {
    return readSourceDocuments(file, files)
  } catch (thrown) {
    if (thrown instanceof Failure) return []
    throw thrown
  }
}

function listFileLocations(
  all: readonly SourceDocument[],
  identity: BuiltIdentity,
  path: FieldPath,
): readonly FileLocation[] {
  return all.flatMap((document) => {
    const value = document.getValueAt([])
    if (!isJsonArray(value))
      return coversField(value, identity, path) ? [document.findLocation([])] : []
    return value.flatMap((each, number) =>
      coversField(each, identity, path) ? [document.findLocation([index(number)])] : [],
    )
  })
}

function coversField(
  replacement: Json | undefined,
  identity: BuiltIdentity,
  path: FieldPath,
): boolean {
  return filterObjects(getPartAt(replacement, 'targets')).some((target) => {
    const select = getKey(target, 'select')
    const paths = getKey(target, 'fieldPaths') ?? ['metadata.name']
    if (!isJsonObject(select) || identity.evaluateTarget(select) === 'no') return false
    return (
      isJsonArray(paths) && paths.some((each) => typeof each === 'string' && covers(each, path))
    )
  })
}

function covers(text: string, path: FieldPath): boolean {
  const parts = text.match(/\[[^\]]*\]|(?:\\.|[^.[])+/g) ?? []
  return (
    parts.length <= path.length &&
    parts.every((part, at) => matches(part.replaceAll('\\.', '.'), path[at]))
  )
}

function matches(part: string, step: PathStep | undefined): boolean {
  if (step === undefined) return false
  if (step.kind === 'field') return part === step.name || part === `[${step.name}]`
  if (part === '*') return true
  if (step.kind === 'index') return part === String(step.index)
  const [, key = '', value = ''] = /^\[([^=]*)=(.*)\]$/.exec(part) ?? []
  if (step.kind === 'member') return key === '' && value === step.value
  return /^[0-9]+$|^-$/.test(part) || String(getKey(step.keys, key)) === value
}
