/** The functions that are built in, each with its inverse for Adopt. Undefined: its config is searched for the value that it wrote. */
import type { Inverse } from '../src/proposal/adopt/find-locations.ts'
import { invertAdoptDrift } from './adopt-drift/inverse.ts'
import { invertReplacement } from './apply-replacements/inverse.ts'
import { invertSetters } from './apply-setters/inverse.ts'
import { invertNames } from './ensure-name-substring/inverse.ts'
import { invertSearchReplace } from './search-replace/inverse.ts'
import { invertAnnotations } from './set-annotations/inverse.ts'
import { invertImage } from './set-image/inverse.ts'
import { invertLabel } from './set-label/inverse.ts'
import { invertLabels } from './set-labels/inverse.ts'
import { invertNamespace } from './set-namespace/inverse.ts'
import { invertUpsert } from './upsert-resource/inverse.ts'

export const FUNCTION_INVERSES = {
  'adopt-drift': invertAdoptDrift,
  'apply-replacements': invertReplacement,
  'apply-setters': invertSetters,
  'create-setters': undefined,
  'enable-gcp-services': undefined,
  'ensure-name-substring': invertNames,
  'gate-drift': undefined,
  'generate-folders': undefined,
  kubeconform: undefined,
  'search-replace': invertSearchReplace,
  'set-annotations': invertAnnotations,
  'set-image': invertImage,
  'set-label': invertLabel,
  'set-labels': invertLabels,
  'set-namespace': invertNamespace,
  'upsert-resource': invertUpsert,
  'verify-drift-records': undefined,
} as const satisfies Readonly<Record<string, Inverse | undefined>>

export type FunctionName = keyof typeof FUNCTION_INVERSES
