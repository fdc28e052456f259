/** Where `set-annotations` sets annotations (kustomize `api/internal/konfig/builtinpluginconsts/commonannotations.go`). */
import type { FieldSpec } from '@backporch/kpt/field'

const IN_POD_TEMPLATE = { path: 'spec/template/metadata/annotations', create: true }

export const ANNOTATION_FIELDS: readonly FieldSpec[] = [
  { path: 'metadata/annotations', create: true },
  { ...IN_POD_TEMPLATE, version: 'v1', kind: 'ReplicationController' },
  { ...IN_POD_TEMPLATE, kind: 'Deployment' },
  { ...IN_POD_TEMPLATE, kind: 'ReplicaSet' },
  { ...IN_POD_TEMPLATE, kind: 'DaemonSet' },
  { ...IN_POD_TEMPLATE, kind: 'StatefulSet' },
  { ...IN_POD_TEMPLATE, group: 'batch', kind: 'Job' },
  { group: 'batch', kind: 'CronJob', path: 'spec/jobTemplate/metadata/annotations', create: true },
  { group: 'batch', kind: 'CronJob', path: 'spec/jobTemplate/spec/template/metadata/annotations', create: true },
]
