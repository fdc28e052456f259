import type { FailureDetail } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Resource } from '@backporch/kyaml/resource'
import type { Drift } from '../compare/drift.ts'

export interface ObjectManifest {
  readonly manifest: JsonObject
  /** A clause; undefined if proven. */
  readonly unproven?: string | undefined
}

export type ManifestAnswer = ObjectManifest | { readonly failure: FailureDetail }

export interface ManifestLibrary {
  /** @param drift of a whole object. @throws Unanswered where the server has to be asked first */
  getManifest(drift: Drift): ManifestAnswer
}

export type AdoptionAnswer =
  | { readonly state: 'accepted' }
  | { readonly state: 'refused'; readonly why: string }
  /** The server cannot be asked, or refuses for an unrelated reason. */
  | { readonly state: 'not-checked'; readonly why: string }

export interface AdoptionLibrary {
  /**
   * @param live the object that the apply would change
   * @throws Unanswered where the server has to be asked first
   */
  answerTo(resource: Resource, live: JsonObject): AdoptionAnswer
}
