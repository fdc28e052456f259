/** The manifests of live objects that git does not declare, as far as they are known. */
import type { FailureDetail } from '../../failure.ts'
import type { JsonObject } from '../../text/json.ts'
import type { Drift } from '../drift.ts'

export interface ObjectManifest {
  readonly manifest: JsonObject
  /** Why the server did not prove it, as a clause; undefined where it did. */
  readonly unproven?: string | undefined
}

export type ManifestAnswer = ObjectManifest | { readonly failure: FailureDetail }

export interface ManifestLibrary {
  /** @param drift of a whole object. @throws MissingManifest where the server has to be asked first */
  manifestOf(drift: Drift): ManifestAnswer
}

/** Thrown within a computation, which is repeated once the server was asked. */
export class MissingManifest extends Error {
  readonly ask: (signal: AbortSignal) => Promise<void>

  constructor(ask: (signal: AbortSignal) => Promise<void>) {
    super('the server has to be asked first')
    this.name = 'MissingManifest'
    this.ask = ask
  }
}
