/** What the server says of objects as git would declare them, as far as that is known. */
import type { FailureDetail } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Resource } from '@backporch/kyaml/resource'
import type { Drift } from '../compare/drift.ts'

export interface ObjectManifest {
  readonly manifest: JsonObject
  /** Why the server did not prove it, as a clause; undefined where it did. */
  readonly unproven?: string | undefined
}

export type ManifestAnswer = ObjectManifest | { readonly failure: FailureDetail }

export interface ManifestLibrary {
  /** @param drift of a whole object. @throws Unanswered where the server has to be asked first */
  manifestOf(drift: Drift): ManifestAnswer
}

/** The answer of the server to a dry-run apply of an object as git would declare it after an edit. */
export type AdoptionAnswer =
  | { readonly state: 'accepted' }
  | { readonly state: 'refused'; readonly why: string }
  /** Nothing is known of the object: the server cannot be asked, or refuses it for what is not of the object. */
  | { readonly state: 'not-checked'; readonly why: string }

export interface AdoptionLibrary {
  /**
   * @param live the object that the apply would change
   * @throws Unanswered where the server has to be asked first
   */
  answerTo(resource: Resource, live: JsonObject): AdoptionAnswer
}
