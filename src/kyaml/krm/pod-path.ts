import { createFieldStep, type FieldPath } from './field-path.ts'
import type { ResourceId } from './resource-id.ts'

const TEMPLATE = ['spec', 'template', 'spec'].map(createFieldStep)
const PATHS = new Map<string, FieldPath>([
  ['/Pod', [createFieldStep('spec')]],
  ...['apps/Deployment', 'apps/StatefulSet', 'apps/DaemonSet', 'apps/ReplicaSet', 'batch/Job'].map(
    (kind) => [kind, TEMPLATE] as const,
  ),
  ['batch/CronJob', [createFieldStep('spec'), createFieldStep('jobTemplate'), ...TEMPLATE]],
])

export function findPodPath({
  group,
  kind,
}: Pick<ResourceId, 'group' | 'kind'>): FieldPath | undefined {
  return PATHS.get(`${group}/${kind}`)
}
