import type { YamlEdit } from '@backporch/kyaml/edit-yaml'
import {
  type FieldPath,
  field,
  formatFieldPath,
  indexOfStep,
  type PathStep,
  valueAt,
} from '@backporch/kyaml/field'
import { type Json, jsonEquals } from '@backporch/kyaml/json'
import { anchorUses, jsonOf, type YamlNode } from '@backporch/kyaml/yaml'

interface AnchoredEdit {
  readonly name: string
  readonly edit: YamlEdit & { readonly kind: 'set' }
}

/** Changes every use; undefined if the path has no anchor with an alias. */
export function anchoredEdit(
  root: YamlNode,
  document: number,
  path: FieldPath,
  value: Json,
): AnchoredEdit | undefined {
  const uses = anchorUses(root, path)
  if (uses === undefined) return undefined
  const { name, at, aliases } = uses
  return { name, edit: { document, item: undefined, kind: 'set', path: at, value, aliases } }
}

export function joinAnchored(
  edits: readonly YamlEdit[],
  documents: readonly YamlNode[],
): readonly YamlEdit[] {
  const joined = new Map<YamlEdit, YamlEdit | undefined>()
  for (const edit of edits) {
    const root = edit.kind === 'set' ? documents[edit.document] : undefined
    if (edit.kind !== 'set' || root === undefined || joined.has(edit)) continue
    const anchored = anchoredEdit(root, edit.document, wholePath(edit), edit.value)?.edit
    if (anchored === undefined) continue
    const value = jsonOf(root)
    const alike = edits.filter(
      (each) =>
        each.kind === 'set' &&
        each.document === edit.document &&
        !joined.has(each) &&
        jsonEquals(each.value, edit.value),
    ) as readonly SetEdit[]
    const byPlace = new Map(alike.map((each) => [placeOf(value, wholePath(each)), each]))
    const uses = [anchored.path, ...(anchored.aliases ?? [])].map((path) =>
      byPlace.get(placeOf(value, path)),
    )
    if (uses.includes(undefined)) continue
    for (const each of uses) if (each !== undefined) joined.set(each, undefined)
    joined.set(edit, anchored)
  }
  return edits.flatMap((edit) => (joined.has(edit) ? (joined.get(edit) ?? []) : edit))
}

type SetEdit = AnchoredEdit['edit']

function wholePath({ item, path }: SetEdit): FieldPath {
  return item === undefined ? path : [field('items'), { kind: 'index', index: item }, ...path]
}

function placeOf(root: Json, path: FieldPath): string {
  let value: Json | undefined = root
  const steps = path.map((step): PathStep => {
    const index = step.kind === 'field' || value === undefined ? -1 : indexOfStep(value, step)
    value = value === undefined ? undefined : valueAt(value, [step])
    return index === -1 ? step : { kind: 'index', index }
  })
  return formatFieldPath(steps)
}
