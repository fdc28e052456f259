import type { PathStep } from '@backporch/kyaml/field'
import { isJsonObject } from '@backporch/kyaml/json'
import type { FileEdit } from '../../edits/resolution-edits.ts'
import type { SourceFiles } from '../../kustomize/files/kustomize-build.ts'
import type { SourceCandidate } from '../../locate/candidate.ts'
import { createEditAt } from '../../locate/candidate.ts'
import { convertToTypeOf } from '../../locate/text-parts.ts'
import type { Declaration } from '../built-source.ts'
import { convertToFieldPath, readSourceDocuments, type SourceDocument } from './source-document.ts'

/**
 * Unchanged if no template text is edited. An expression is not replaced, because it applies to
 * every created resource.
 */
export function moveEditsToMaker(
  candidate: SourceCandidate,
  declared: Declaration | undefined,
  files: SourceFiles,
): readonly SourceCandidate[] {
  const { edits } = candidate
  const document =
    declared?.generator === undefined
      ? undefined
      : readSourceDocuments(declared.path, files)[declared.document]
  if (declared === undefined || document === undefined) return [candidate]
  let found: readonly SourceCandidate[] = [{ ...candidate, edits: [] }]
  for (const edit of edits) {
    const instead = findPlaces(edit, declared, document, files)
    found = found.flatMap((each) =>
      instead === undefined
        ? [{ ...each, edits: [...each.edits, edit] }]
        : instead.map((place) => ({
            via: place.via,
            what: place.what,
            edits: [...each.edits, place.edit],
          })),
    )
  }
  return found
}

interface Place {
  readonly via: string
  readonly what: string
  readonly edit: FileEdit
}

/** Undefined unless a template is edited. */
function findPlaces(
  { path, edit }: FileEdit,
  declared: Declaration,
  document: SourceDocument,
  files: SourceFiles,
) {
  const { generator } = declared
  if (
    generator === undefined ||
    path !== declared.path ||
    edit.kind !== 'set' ||
    edit.document !== declared.document
  )
    return undefined
  if (!isInside(edit.path, convertToFieldPath(generator.template))) return undefined
  const [text, wanted, whole] = [
    document.getValueAt(edit.path),
    edit.value,
    document.getValueAt([]),
  ]
  if (typeof text !== 'string' || !text.includes('{{') || !isJsonObject(whole)) return undefined
  if (wanted === null || typeof wanted === 'object') return []
  if (typeof wanted === 'string' && wanted.includes('{{')) return undefined
  return generator
    .sourcesOf(whole, files, { text, wanted: String(wanted) })
    .flatMap(({ name, file, at, value }): readonly Place[] => {
      const place = convertToFieldPath(at)
      const there = file === undefined ? document : readSourceDocuments(file, files)[0]
      if (there === undefined) return []
      const what = `the value ${name} (${there.formatLocation(place)})`
      return [
        {
          via: `element:${name}`,
          what,
          edit: {
            path: there.path,
            edit: createEditAt(
              there.number,
              place,
              convertToTypeOf(value, there.getValueAt(place)),
            ),
          },
        },
      ]
    })
}

function isInside(path: readonly PathStep[], above: readonly PathStep[]): boolean {
  return above.every((step, at) => {
    const own = path[at]
    return step.kind === 'field' && own?.kind === 'field' && own.name === step.name
  })
}
