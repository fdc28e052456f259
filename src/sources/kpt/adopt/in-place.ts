/**
 * Most packages are stored rendered in git. The render then belongs in the same commit, for a
 * syncer that applies files unchanged. A file that a render does not change becomes its rendered
 * text; in other files only values are updated that were equal to the rendered ones.
 */
import { writeItems } from '@backporch/kpt/render'
import { editYaml, type YamlEdit } from '@backporch/kyaml/edit-yaml'
import { findValueAt, isWithin } from '@backporch/kyaml/field'
import { isJsonEqual } from '@backporch/kyaml/json'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { getResourceKey } from '@backporch/kyaml/resource'
import { convertYamlToJson } from '@backporch/kyaml/yaml'
import type { AuthoredFiles } from '../../edits/authored-files.ts'
import { leaves } from '../../edits/prove-edit.ts'
import { createEditAt } from '../../locate/candidate.ts'
import type { RenderedPackage } from '../render/render-package.ts'

interface InPlaceInput {
  readonly authored: AuthoredFiles
  /** By path from the repository root. */
  readonly texts: ReadonlyMap<string, string>
  readonly before: RenderedPackage
  readonly after: RenderedPackage
}

/** By path from the repository root. */
export function computeInPlaceEdits(input: InPlaceInput): ReadonlyMap<string, string> {
  const whole = computeRenderedTexts(input)
  return new Map([...whole.changed, ...computeValueEdits(input, whole.retained)])
}

/** Files that a render does not change, byte by byte. */
function computeRenderedTexts({ authored, texts, before, after }: InPlaceInput): {
  readonly retained: ReadonlySet<string>
  readonly changed: ReadonlyMap<string, string>
} {
  const written = writeItems(after.run?.items ?? [])
  const retained = new Set<string>()
  const changed = new Map<string, string>()
  for (const [path, text] of writeItems(before.run?.items ?? [])) {
    const file = authored.resolveLocation(path)
    const now = written.get(path)
    if (now === undefined || text !== authored.getText(file)) continue
    retained.add(file)
    if (now !== (texts.get(file) ?? text)) changed.set(file, now)
  }
  return { retained, changed }
}

function computeValueEdits(
  { authored, texts, before, after }: InPlaceInput,
  retained: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const was = new Map(
    before.desired.resources.map((resource) => [getResourceKey(resource.id), resource]),
  )
  const edits = new Map<string, YamlEdit[]>()
  for (const { id, object, location } of after.desired.resources) {
    const earlier = was.get(getResourceKey(id))
    if (
      earlier === undefined ||
      location.step !== undefined ||
      location.item !== undefined ||
      retained.has(location.path)
    )
      continue
    const text = texts.get(location.path) ?? authored.getText(location.path)
    const root = readYamlNodes(text.replaceAll('\r\n', '\n'), location.path)[location.document]
    if (root === undefined) continue
    const written = convertYamlToJson(root)
    for (const path of leaves(earlier.object, object, [])) {
      const value = findValueAt(object, path)
      const now = findValueAt(written, path)
      if (
        now === undefined ||
        isJsonEqual(now, value) ||
        !isJsonEqual(now, findValueAt(earlier.object, path))
      )
        continue
      const list = edits.get(location.path) ?? []
      if (list.some((edit) => 'path' in edit && isWithin(path, edit.path))) continue
      list.push(createEditAt(location.document, path, value))
      edits.set(location.path, list)
    }
  }
  return new Map(
    [...edits].map(([path, list]) => [
      path,
      editYaml(texts.get(path) ?? authored.getText(path), list, path),
    ]),
  )
}
