/** The request for a preview. */
import type { ObjectId } from '@backporch/kyaml/files'
import type { PackageRenderer } from '../../../sources/kpt/render/package-renderer.ts'
import type { ObserveRequest } from '../turn-request.ts'

export interface PreviewHead {
  /** For people: the name of a branch, `#12`. */
  readonly name: string
  readonly commit: ObjectId
  /** Of somebody who may not push here. */
  readonly fork: boolean
}

export interface PreviewRequest {
  /** Its renderer runs what the operator allows. */
  readonly observe: ObserveRequest
  readonly head: PreviewHead
  /** Runs no program, image or module: for the head of a fork. */
  readonly untrusted: PackageRenderer
}
