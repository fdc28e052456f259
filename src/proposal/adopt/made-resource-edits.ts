/** Edits of a resource that a controller makes of a template: where the template is filled from the document, the place there is edited. */
import type { PathStep } from '../../krm/field-path.ts'
import type { SourceFiles } from '../../render/kustomize/kustomize-build.ts'
import type { Declaration } from '../../render/syncer-build.ts'
import { isJsonObject } from '../../text/json.ts'
import type { FileEdit } from '../resolution-edits.ts'
import { editAt } from './candidate.ts'
import { typedAs } from './helm/text-parts.ts'
import { documentsOf, pathOf, type SourceDocument } from './kustomization-node.ts'
import type { SourceCandidate } from './source-edits.ts'

/** The candidate itself where no text of a template is edited. An expression is not replaced: it is of every resource that is made. */
export function inMaker(candidate: SourceCandidate, declared: Declaration | undefined, files: SourceFiles): readonly SourceCandidate[] {
  const { edits } = candidate
  const document = declared?.maker === undefined ? undefined : documentsOf(declared.path, files)[declared.document]
  if (declared === undefined || document === undefined) return [candidate]
  let found: readonly SourceCandidate[] = [{ ...candidate, edits: [] }]
  for (const edit of edits) {
    const instead = placesOf(edit, declared, document)
    found = found.flatMap((each) =>
      instead === undefined
        ? [{ ...each, edits: [...each.edits, edit] }]
        : instead.map((place) => ({ via: place.via, what: place.what, edits: [...each.edits, place.edit] })),
    )
  }
  return found
}

interface Place {
  readonly via: string
  readonly what: string
  readonly edit: FileEdit
}

/** Undefined for an edit of anything else than a template. */
function placesOf({ path, edit }: FileEdit, { path: file, document: number, maker }: Declaration, document: SourceDocument) {
  if (maker === undefined || path !== file || edit.kind !== 'set' || edit.document !== number) return undefined
  if (!isInside(edit.path, pathOf(maker.template))) return undefined
  const [now, wanted, whole] = [document.valueAt(edit.path), edit.value, document.valueAt([])]
  if (typeof now !== 'string' || !now.includes('{{') || !isJsonObject(whole)) return undefined
  if (wanted === null || typeof wanted === 'object') return []
  return maker.sourcesOf(whole, now, String(wanted)).map(({ name, at, value }): Place => {
    const place = pathOf(at)
    const what = `the value ${name} of the ${String(whole['kind'])} (${document.location(place)})`
    const edit = editAt(number, place, typedAs(value, document.valueAt(place)))
    return { via: `element:${name}`, what, edit: { path, edit } }
  })
}

function isInside(path: readonly PathStep[], above: readonly PathStep[]): boolean {
  return above.every((step, at) => {
    const own = path[at]
    return step.kind === 'field' && own?.kind === 'field' && own.name === step.name
  })
}
