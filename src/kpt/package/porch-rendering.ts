/**
 * What a Porch server does to a package when it renders it, as it does before it proposes a draft: kyaml's format, the condition `Rendered`
 * and `renderStatus` in the Kptfile (docs/facts/porch-decisions.md).
 */
import {
  isJsonObject,
  type Json,
  jsonEquals,
  objectsIn,
  partOf,
  textOf,
} from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { parseKptAnnotations } from './kpt-annotation.ts'

/** Whether the message is that of the commit in which Porch renders this workspace. */
export function isRenderingMessage(
  message: string,
  of: { readonly packagePath: string; readonly workspace: string },
): boolean {
  return parseKptAnnotations(message).annotations.some(
    ({ packagePath, workspace, task }) =>
      packagePath === of.packagePath && workspace === of.workspace && task?.type === 'render',
  )
}

/** Whether a file says the same after Porch rendered it. Null is a file that is not there. */
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
      parseGoYaml(text, path).documents.map(({ value }) => withoutRendering(value)),
    )
    return jsonEquals(one as Json, other as Json)
  } catch {
    // A text that cannot be read says nothing, so it is another one.
    return false
  }
}

/** The conditions in the order of their types: Porch writes its own one last. */
function withoutRendering(value: Json): Json {
  const status = partOf(value, 'status')
  if (!isJsonObject(value) || textOf(value, 'kind') !== 'Kptfile' || !isJsonObject(status))
    return value
  const { renderStatus: _, conditions, ...others } = status
  const retained = objectsIn(conditions).filter(
    (condition) => textOf(condition, 'type') !== 'Rendered',
  )
  const sorted = retained.toSorted((left, right) =>
    textOf(left, 'type') < textOf(right, 'type') ? -1 : 1,
  )
  return { ...value, status: { ...others, conditions: sorted } }
}
