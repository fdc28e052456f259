export type { DesiredResource, DesiredSet, SourceLocation } from './desired/desired-set.ts'
export { createDeclaredTwiceFailure, DesiredSetBuilder } from './desired/desired-set-builder.ts'
export { isKustomization, isLocalConfig } from './desired/not-applied.ts'
export { removeAnnotations } from './desired/without-annotations.ts'
