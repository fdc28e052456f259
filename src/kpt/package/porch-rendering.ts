/**
 * As before Porch proposes a draft: kyaml's format, the condition `Rendered` and `renderStatus`
 * (docs/facts/porch-decisions.md).
 */
import {
  filterObjects,
  getPartAt,
  getTextAt,
  isJsonEqual,
  isJsonObject,
  type Json,
} from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { parseKptAnnotations } from './kpt-annotation.ts'

export function isRenderingMessage(
  message: string,
  of: { readonly packagePath: string; readonly workspace: string },
): boolean {
  return parseKptAnnotations(message).annotations.some(
    ({ packagePath, workspace, task }) =>
      packagePath === of.packagePath && workspace === of.workspace && task?.type === 'render',
  )
}

export function isSameRendered(
  path: string,
  before: Uint8Array | null,
  after: Uint8Array | null,
): boolean {
  if (before === null || after === null) return before === after
  const [left, right] = [before, after].map((bytes) => new TextDecoder().decode(bytes)) as [
    string,
    string,
  ]
  if (left === right) return true
  if (!/(?:^|\/)Kptfile$|\.(?:ya?ml|json)$/.test(path)) return false
  try {
    const [one, other] = [left, right].map((text) =>
      parseGoYaml(text, path).documents.map(({ value }) => omitRendering(value)),
    )
    return isJsonEqual(one as Json, other as Json)
  } catch {
    // An unreadable text counts as different.
    return false
  }
}

/** Porch writes its own condition last. */
function omitRendering(value: Json): Json {
  const status = getPartAt(value, 'status')
  if (!isJsonObject(value) || getTextAt(value, 'kind') !== 'Kptfile' || !isJsonObject(status))
    return value
  const { renderStatus: _, conditions, ...others } = status
  const retained = filterObjects(conditions).filter(
    (condition) => getTextAt(condition, 'type') !== 'Rendered',
  )
  const sorted = retained.toSorted((left, right) =>
    getTextAt(left, 'type') < getTextAt(right, 'type') ? -1 : 1,
  )
  return { ...value, status: { ...others, conditions: sorted } }
}
