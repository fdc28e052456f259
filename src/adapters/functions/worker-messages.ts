/** Messages between the thread that renders and the one that waits for it. */
import type { PipelineStep } from '@backporch/kpt/function'
import type { AllowedFunctions } from '@backporch/kpt/runtime'
import type { FailureDetail } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { RenderedForTurn } from '../../sources/kpt/render/package-renderer.ts'
import type { ForeignAnswer } from './foreign-output.ts'
import type { FunctionLimits } from './function-limits.ts'

/** Data of a worker at its start. */
export interface WorkerStart {
  readonly allowed: AllowedFunctions
  readonly limits: FunctionLimits
  /** As of the renderer. */
  readonly attributed: boolean
}

/** One rendering at a time. */
export type ToWorker =
  | { readonly is: 'render'; readonly packagePath: string; readonly files: PackageFiles }
  | { readonly is: 'answer'; readonly answer: ForeignAnswer }

export type FromWorker =
  /** It renders; `step` is the built-in function that runs next. */
  | { readonly is: 'busy'; readonly step: PipelineStep | undefined }
  /** It waits for a program or an image. */
  | { readonly is: 'call'; readonly step: PipelineStep; readonly input: string }
  /** A `SentRendering`, serialised. */
  | { readonly is: 'done'; readonly rendering: Uint8Array }
  | { readonly is: 'fault'; readonly why: string }

export type SentRendering = RenderedForTurn | { readonly failures: readonly FailureDetail[] }
