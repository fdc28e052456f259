/** What became of one field on the way through a build: who wrote it, in their order, and the value after the last one. */
import type { FieldPath } from '../../krm/field-path.ts'
import type { DesiredResource } from '../../render/desired-set.ts'
import type { SourceFiles } from '../../render/kustomize/kustomize-build.ts'
import type { Json, JsonObject } from '../../text/json.ts'
import type { FileLocation, SourceDocument } from '../adopt/kustomization-node.ts'
import type { Patch } from '../adopt/kustomize-patches.ts'

export interface TracedField {
  readonly desired: DesiredResource
  readonly path: FieldPath
  /** As the object's file has it; undefined where no file does. */
  readonly declared: JsonObject | undefined
  readonly files: SourceFiles
  /** Of a kustomization, read once. */
  readonly patchesOf: (kustomization: SourceDocument) => readonly Patch[]
}

/** A value that is written, and that only the tool itself could compute. */
export const UNKNOWN: unique symbol = Symbol('unknown')

/** Undefined where the field is not there. */
export type FieldValue = Json | undefined | typeof UNKNOWN

export interface FieldWrite {
  readonly does: 'writes' | 'removes' | 'may write'
  /** The text before the location: `the patch`, `images of`. */
  readonly by: string
  readonly at: readonly WrittenAt[]
  /** What of the value it decides, where it leaves the rest: `the tag`; empty where it is the whole. */
  readonly decides: string
  /** After it. */
  readonly value: FieldValue
}

export interface WrittenAt {
  readonly location: FileLocation
  /** The name of the entry, where it needs one: `newTag`. */
  readonly name?: string
  /** Where the value is read from, that the place before names: a whole file, or a line of it. */
  readonly source?: 'file' | 'line'
}

/** Something that may have written the field where nothing else explains its value. */
export interface Suspect {
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

  /** Whether it does is not known; the value stays. */
  mayWrite(by: string, location: FileLocation): void {
    this.writes.push({ does: 'may write', by, at: [{ location }], decides: '', value: UNKNOWN })
  }

  suspect(by: string, location: FileLocation): void {
    this.suspects.push({ by, location })
  }
}
