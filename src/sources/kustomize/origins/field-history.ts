/** The writers of one field during a build, in their order, and the value after the last one. */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { FieldPath } from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import type { FileLocation, SourceDocument } from '../../build/adopt/source-document.ts'
import type { SourceFiles } from '../files/kustomize-build.ts'
import type { Patch } from '../locate/kustomize-patches.ts'

export interface TracedField {
  readonly desired: DesiredResource
  readonly path: FieldPath
  /** The object in its file; undefined where no file has it. */
  readonly declared: JsonObject | undefined
  readonly files: SourceFiles
  /** The patches of a kustomization, read once. */
  readonly patchesOf: (kustomization: SourceDocument) => readonly Patch[]
}

/** A written value that only kustomize can compute. */
export const UNKNOWN: unique symbol = Symbol('unknown')

/** Undefined where the field is absent. */
export type FieldValue = Json | undefined | typeof UNKNOWN

export interface FieldWrite {
  readonly does: 'writes' | 'removes' | 'may write'
  /** Text before the location: `the patch`, `images of`. */
  readonly by: string
  readonly at: readonly WrittenAt[]
  /** The part of the value that it decides: `the tag`; empty for the whole. */
  readonly decides: string
  /** The value after it. */
  readonly value: FieldValue
}

export interface WrittenAt {
  readonly location: FileLocation
  /** Name of the entry, where it needs one: `newTag`. */
  readonly name?: string
  /** The source of the value that the location before names: a whole file, or a line of it. */
  readonly source?: 'file' | 'line'
}

/** A possible writer of a value that nothing else explains. */
interface Suspect {
  readonly by: string
  readonly location: FileLocation
}

export class FieldHistory {
  value: FieldValue
  readonly writes: FieldWrite[] = []
  readonly suspects: Suspect[] = []

  constructor(declared: FieldValue) {
    this.value = declared
  }

  write(by: string, value: FieldValue, at: readonly WrittenAt[], decides = ''): void {
    this.value = value
    this.writes.push({ does: 'writes', by, at, decides, value })
  }

  remove(by: string, location: FileLocation): void {
    if (this.value === undefined) return
    this.value = undefined
    this.writes.push({ does: 'removes', by, at: [{ location }], decides: '', value: undefined })
  }

  /** It is unknown whether it writes; the value stays. */
  mayWrite(by: string, location: FileLocation): void {
    this.writes.push({ does: 'may write', by, at: [{ location }], decides: '', value: UNKNOWN })
  }

  suspect(by: string, location: FileLocation): void {
    this.suspects.push({ by, location })
  }
}
