/**
 * A person marked the live object so that the tool retains it. A syncer's rule holds only if that
 * syncer applied the object.
 */
import type { JsonObject } from '@backporch/kyaml/json'
import { getAnnotations, getLabels } from '@backporch/kyaml/resource'
import { getApplierKind } from '../../syncers/registry.ts'
import type { BuiltInRule, KeepQuestion } from '../../syncers/syncer.ts'

export interface RetentionQuestion extends Pick<KeepQuestion, 'inventoryId' | 'idIsWritten'> {
  readonly live: JsonObject
  readonly tool: string
}

export function findRetentionRule({
  live,
  tool,
  ...id
}: RetentionQuestion): BuiltInRule | undefined {
  const annotations = getAnnotations(live)
  const local = annotations.get('config.kubernetes.io/local-config')
  // kustomize and kpt's library obey it; Argo CD applies the object.
  if (local !== undefined && local !== 'false') {
    const why =
      'the object is marked as one for tools only (config.kubernetes.io/local-config), which a package may hold without declaring it for a cluster'
    return { rule: 'local-config', why }
  }
  const question = { annotations, labels: getLabels(live), live, ...id }
  for (const rule of getApplierKind(tool).keeps) {
    const retained = rule(question)
    if (retained !== undefined) return retained
  }
  return undefined
}
