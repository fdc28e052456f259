import type { Json } from '@backporch/kyaml/json'
import { convertToOneLine } from '@backporch/kyaml/text'
import { convertYamlToJson, findTextAt, type YamlMap } from '@backporch/kyaml/yaml'
import type { z } from 'zod'
import { API_VERSION } from './documents/document.ts'
import { type DriftRecord, driftRecordSchema } from './documents/drift-record.ts'
import { type DriftReport, driftReportSchema } from './documents/drift-report.ts'

export interface TreeProblem {
  /** As `spec.changes[0].risk`; undefined for the document itself. */
  readonly path: string | undefined
  readonly message: string
}

export type TreeReading<Value> =
  | { readonly value: Value }
  | { readonly problems: readonly [TreeProblem, ...TreeProblem[]] }

export function readTree<Schema extends z.ZodType>(
  node: YamlMap,
  schema: Schema,
): TreeReading<z.infer<Schema>> {
  let json: Json
  try {
    json = convertYamlToJson(node)
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown
    return { problems: [{ path: undefined, message: thrown.message }] }
  }
  const checked = schema.safeParse(json)
  if (checked.success) return { value: checked.data }
  const [first = { path: undefined, message: 'it has an unexpected structure' }, ...others] =
    checked.error.issues.map(({ path, message }) => ({
      path: formatLocation(path) || undefined,
      message: convertToOneLine(message, 200),
    }))
  return { problems: [first, ...others] }
}

function formatLocation(path: readonly PropertyKey[]): string {
  let text = ''
  for (const part of path)
    text += typeof part === 'number' ? `[${part}]` : `${text === '' ? '' : '.'}${String(part)}`
  return convertToOneLine(text, 200)
}

export function readDrift(
  node: YamlMap | undefined,
): TreeReading<DriftReport | DriftRecord> | undefined {
  if (findTextAt(node, 'apiVersion') !== API_VERSION || node === undefined) return undefined
  const kind = findTextAt(node, 'kind')
  if (kind === 'DriftReport') return readTree(node, driftReportSchema)
  return kind === 'DriftRecord' ? readTree(node, driftRecordSchema) : undefined
}
