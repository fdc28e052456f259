import type { FunctionResult } from '@backporch/kpt/function'
import { parseFieldPath } from '@backporch/kyaml/field'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { Change } from './documents/change.ts'

const NAME_LIMIT = 253

export function changeResult(
  { ref, ...change }: Change,
  severity: FunctionResult['severity'],
  message: string,
): FunctionResult {
  const path = changePath(change)
  const given = Object.entries({ kind: ref.kind, name: ref.name, namespace: ref.namespace }).filter(
    ([, text]) => text !== '',
  )
  return {
    message,
    severity,
    resourceRef: Object.fromEntries(
      given.map(([key, text]) => [key, convertToOneLine(text, NAME_LIMIT)]),
    ),
    ...(path === undefined ? {} : { field: { path } }),
  }
}

/** Undefined for a whole object, and for an invalid path. */
function changePath({ path }: Pick<Change, 'path'>): string | undefined {
  const read = path === undefined ? undefined : parseFieldPath(path)
  return read === undefined || 'problem' in read
    ? undefined
    : convertToOneLine(formatRedactedPath(read.path, undefined), NAME_LIMIT) || undefined
}
