export type { DesiredResource, DesiredSet, SourceLocation } from './desired/desired-set.ts'
export { DesiredSetBuilder, declaredTwice } from './desired/desired-set-builder.ts'
export { isKustomization, isLocalConfig } from './desired/not-applied.ts'
export { withoutAnnotations } from './desired/without-annotations.ts'
