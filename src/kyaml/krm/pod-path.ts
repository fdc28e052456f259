import { type FieldPath, field } from './field-path.ts'
import type { ResourceId } from './resource-id.ts'

const TEMPLATE = ['spec', 'template', 'spec'].map(field)
const PATHS = new Map<string, FieldPath>([
  ['/Pod', [field('spec')]],
  ...['apps/Deployment', 'apps/StatefulSet', 'apps/DaemonSet', 'apps/ReplicaSet', 'batch/Job'].map(
    (kind) => [kind, TEMPLATE] as const,
  ),
  ['batch/CronJob', [field('spec'), field('jobTemplate'), ...TEMPLATE]],
])

export function podPathOf({
  group,
  kind,
}: Pick<ResourceId, 'group' | 'kind'>): FieldPath | undefined {
  return PATHS.get(`${group}/${kind}`)
}
