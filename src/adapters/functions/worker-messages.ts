import type { PipelineStep } from '@backporch/kpt/function'
import type { AllowedFunctions } from '@backporch/kpt/runtime'
import type { FailureDetail } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { RenderedForTurn } from '../../sources/kpt/render/package-renderer.ts'
import type { ForeignAnswer } from './foreign-output.ts'
import type { FunctionLimits } from './function-limits.ts'

export interface WorkerStart {
  readonly allowed: AllowedFunctions
  readonly limits: FunctionLimits
  readonly attributed: boolean
}

/** Only one rendering runs at a time. */
export type ToWorker =
  | { readonly is: 'render'; readonly packagePath: string; readonly files: PackageFiles }
  | { readonly is: 'answer'; readonly answer: ForeignAnswer }

export type FromWorker =
  /** `step` is the next built-in function. */
  | { readonly is: 'busy'; readonly step: PipelineStep | undefined }
  | { readonly is: 'call'; readonly step: PipelineStep; readonly input: string }
  /** A serialized `SentRendering`. */
  | { readonly is: 'done'; readonly rendering: Uint8Array }
  | { readonly is: 'fault'; readonly why: string }

export type SentRendering = RenderedForTurn | { readonly failures: readonly FailureDetail[] }
