import type { FunctionOutput } from '@backporch/kpt/function'
import { writeItems } from '@backporch/kpt/render'
import { builtInFunctions } from '../../functions/built-in-functions.ts'
import { adoptDrift } from '../../src/drift-functions/adopt-drift/adopt-drift.ts'
import type { DriftRecord } from '../../src/record/documents/drift-record.ts'
import type { DriftReport } from '../../src/record/documents/drift-report.ts'
import { changeOf, itemsOf, treeOf, WEB } from './drift-package.ts'

export const adopt = adoptDrift(builtInFunctions)

export type Texts = { readonly [path: string]: string }

export function run(
  document: DriftReport | DriftRecord,
  texts: Texts = WEB,
): FunctionOutput & { readonly texts: Texts } {
  const output = adopt({ items: itemsOf(texts), config: treeOf(document) })
  return { ...output, texts: Object.fromEntries(writeItems(output.items)) }
}

export const REPLICAS = changeOf('spec.replicas', { git: 3, live: 5 })
export const LEVEL = changeOf('spec.template.spec.containers[name=app].env[name=LEVEL].value', {
  git: 'info',
  live: 'debug',
})
