import { editYaml, type YamlEdit } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import { type FieldPath, findValueAt, indexOfStep } from '@backporch/kyaml/field'
import { getKey, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { LineIndex, readYamlNodes } from '@backporch/kyaml/read-yaml'
import { findNodeAtPath } from '@backporch/kyaml/yaml'
import {
  type FileLocation,
  index,
  makePath,
  readSourceDocuments,
  SourceDocument,
  type TextLocations,
} from '../../build/adopt/source-document.ts'
import type { FileEdit } from '../../edits/resolution-edits.ts'
import { isInline, resolvePath } from '../files/kustomization-walk.ts'
import { readSourceText, type SourceFiles } from '../files/kustomize-build.ts'

export type PatchField = 'patches' | 'patchesJson6902' | 'patchesStrategicMerge' | 'transformers'

export interface Patch {
  readonly field: PatchField
  readonly via: string
  readonly where: string
  readonly documents: readonly SourceDocument[]
  readonly target: JsonObject | undefined
  readonly inline: string | undefined
  readonly edits: (edits: readonly YamlEdit[]) => readonly FileEdit[]
}

interface PatchLocation {
  readonly field: PatchField
  readonly at: FieldPath
  readonly position: number
  readonly target: JsonObject | undefined
}

/**
 * In order.
 * @throws Failure BP1110 if a file cannot be read
 */
export function listPatches(kustomization: SourceDocument, files: SourceFiles): readonly Patch[] {
  const named = (['patches', 'patchesJson6902'] as const).flatMap((name) =>
    kustomization.listEntries(name).flatMap(({ index: position, value }) => {
      const target = getKey(value, 'target')
      const at = {
        field: name,
        at: [...makePath(name), index(position)],
        position,
        target: isJsonObject(target) ? target : undefined,
      }
      const [file, inline] = [getKey(value, 'path'), getKey(value, 'patch')]
      if (typeof file === 'string' && file !== '')
        return readFilePatch(kustomization, files, file, at)
      return typeof inline === 'string'
        ? readInlinePatch(kustomization, files, inline, {
            ...at,
            at: [...at.at, ...makePath('patch')],
          })
        : []
    }),
  )
  return [...named, ...readListed(kustomization, files, 'patchesStrategicMerge')]
}

/**
 * As patches without a target.
 * @throws Failure BP1110 if a file cannot be read
 */
export function listTransformers(
  kustomization: SourceDocument,
  files: SourceFiles,
): readonly Patch[] {
  return readListed(kustomization, files, 'transformers')
}

function readListed(
  kustomization: SourceDocument,
  files: SourceFiles,
  name: 'patchesStrategicMerge' | 'transformers',
): readonly Patch[] {
  return kustomization.listTexts(name).flatMap(({ index: position, text }) => {
    const at = {
      field: name,
      at: [...makePath(name), index(position)],
      position,
      target: undefined,
    }
    return isInline(text)
      ? readInlinePatch(kustomization, files, text, at)
      : readFilePatch(kustomization, files, text, at)
  })
}

function formatVia({ field }: PatchLocation, name: string | number): string {
  return `${field === 'transformers' ? 'transformer' : 'patch'}:${name}`
}

function readFilePatch(
  kustomization: SourceDocument,
  files: SourceFiles,
  file: string,
  location: PatchLocation,
): readonly Patch[] {
  const { field, target } = location
  const path = resolvePath(kustomization.folder, file)
  if (path === undefined || !files.has(path)) return []
  const documents = readSourceDocuments(path, files)
  return [
    {
      field,
      via: formatVia(location, file),
      where: path,
      documents,
      target,
      inline: undefined,
      edits: (all) => all.map((edit) => ({ path, edit })),
    },
  ]
}

function readInlinePatch(
  kustomization: SourceDocument,
  files: SourceFiles,
  text: string,
  location: PatchLocation,
): readonly Patch[] {
  const { field, at, position, target } = location
  const { path } = kustomization
  const lines = new InlineLines(kustomization, files, at, text)
  let documents: readonly SourceDocument[]
  try {
    documents = readYamlNodes(text, path).map(
      (root, number) => new SourceDocument(path, number, root, lines),
    )
  } catch (thrown) {
    if (thrown instanceof Failure) return []
    throw thrown
  }
  const edits = (all: readonly YamlEdit[]): readonly FileEdit[] => [
    kustomization.edit(at, editYaml(text, all, path)),
  ]
  return [
    {
      field,
      via: formatVia(location, position + 1),
      where: kustomization.formatLocation(at),
      documents,
      target,
      inline: text,
      edits,
    },
  ]
}

/** Only a block (`|`) has known locations within the text. */
class InlineLines implements TextLocations {
  private readonly inner: LineIndex
  private readonly innerRows: readonly string[]
  private readonly outerRows: readonly string[]
  private readonly whole: FileLocation
  private readonly isBlock: boolean

  constructor(kustomization: SourceDocument, files: SourceFiles, at: FieldPath, text: string) {
    this.inner = new LineIndex(text)
    this.innerRows = text.split('\n')
    const outer = files.has(kustomization.path) ? readSourceText(kustomization.path, files) : ''
    this.outerRows = outer.replaceAll('\r\n', '\n').split('\n')
    this.whole = kustomization.findLocation(at)
    const node = findNodeAtPath(kustomization.root, at)?.node
    this.isBlock = node?.kind === 'scalar' && node.style === 'literal'
  }

  getPosition(offset: number): Pick<FileLocation, 'line' | 'column'> {
    const { line, column } = this.inner.getPosition(offset)
    const [row, whole] = [
      this.innerRows[line - 1] ?? '',
      this.outerRows[this.whole.line + line - 1] ?? '',
    ]
    if (!this.isBlock || !whole.endsWith(row))
      return { line: this.whole.line, column: this.whole.column }
    return { line: this.whole.line + line, column: whole.length - row.length + column }
  }
}

export function parseOperationPointer(operation: JsonObject): readonly string[] {
  return String(getKey(operation, 'path') ?? '')
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export function buildPointer(object: Json, path: FieldPath): readonly string[] | undefined {
  const parts: string[] = []
  let value: Json | undefined = object
  for (const step of path) {
    if (value === undefined) return undefined
    if (step.kind === 'field') parts.push(step.name)
    else {
      const position = indexOfStep(value, step)
      if (position === -1) return undefined
      parts.push(String(position))
    }
    value = findValueAt(value, [step])
  }
  return parts
}
