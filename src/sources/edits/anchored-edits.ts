import type { YamlEdit } from '@backporch/kyaml/edit-yaml'
import {
  createFieldStep,
  type FieldPath,
  findValueAt,
  formatFieldPath,
  indexOfStep,
  type PathStep,
} from '@backporch/kyaml/field'
import { isJsonEqual, type Json } from '@backporch/kyaml/json'
import { convertYamlToJson, findAnchorUses, type YamlNode } from '@backporch/kyaml/yaml'

interface AnchoredEdit {
  readonly name: string
  readonly edit: YamlEdit & { readonly kind: 'set' }
}

/** Changes every use; undefined if the path has no anchor with an alias. */
export function findAnchoredEdit(
  root: YamlNode,
  document: number,
  path: FieldPath,
  value: Json,
): AnchoredEdit | undefined {
  const uses = findAnchorUses(root, path)
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
    const anchored = findAnchoredEdit(root, edit.document, getWholePath(edit), edit.value)?.edit
    if (anchored === undefined) continue
    const value = convertYamlToJson(root)
    const alike = edits.filter(
      (each) =>
        each.kind === 'set' &&
        each.document === edit.document &&
        !joined.has(each) &&
        isJsonEqual(each.value, edit.value),
    ) as readonly SetEdit[]
    const byPlace = new Map(alike.map((each) => [getPlace(value, getWholePath(each)), each]))
    const uses = [anchored.path, ...(anchored.aliases ?? [])].map((path) =>
      byPlace.get(getPlace(value, path)),
    )
    if (uses.includes(undefined)) continue
    for (const each of uses) if (each !== undefined) joined.set(each, undefined)
    joined.set(edit, anchored)
  }
  return edits.flatMap((edit) => (joined.has(edit) ? (joined.get(edit) ?? []) : edit))
}

type SetEdit = AnchoredEdit['edit']

function getWholePath({ item, path }: SetEdit): FieldPath {
  return item === undefined
    ? path
    : [createFieldStep('items'), { kind: 'index', index: item }, ...path]
}

function getPlace(root: Json, path: FieldPath): string {
  let value: Json | undefined = root
  const steps = path.map((step): PathStep => {
    const index = step.kind === 'field' || value === undefined ? -1 : indexOfStep(value, step)
    value = value === undefined ? undefined : findValueAt(value, [step])
    return index === -1 ? step : { kind: 'index', index }
  })
  return formatFieldPath(steps)
}
