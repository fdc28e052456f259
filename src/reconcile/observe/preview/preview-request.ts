import type { ObjectId } from '@backporch/kyaml/files'
import type { PackageRenderer } from '../../../sources/kpt/render/package-renderer.ts'
import type { ObserveRequest } from '../turn-request.ts'

export interface PreviewHead {
  readonly name: string
  readonly commit: ObjectId
  /** The author may not push to this repository. */
  readonly fork: boolean
}

export interface PreviewRequest {
  readonly observe: ObserveRequest
  readonly head: PreviewHead
  /** Runs no program, image or module: for a fork's head. */
  readonly untrusted: PackageRenderer
}
