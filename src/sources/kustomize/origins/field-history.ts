import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { FieldPath } from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import type { FileLocation, SourceDocument } from '../../build/adopt/source-document.ts'
import type { SourceFiles } from '../files/kustomize-build.ts'
import type { Patch } from '../locate/kustomize-patches.ts'

export interface TracedField {
  readonly desired: DesiredResource
  readonly path: FieldPath
  /** In its file; undefined if no file has it. */
  readonly declared: JsonObject | undefined
  readonly files: SourceFiles
  readonly patchesOf: (kustomization: SourceDocument) => readonly Patch[]
}

/** Only kustomize can compute it. */
export const UNKNOWN: unique symbol = Symbol('unknown')

export type FieldValue = Json | undefined | typeof UNKNOWN

export interface FieldWrite {
  readonly does: 'writes' | 'removes' | 'may write'
  readonly by: string
  readonly at: readonly WrittenAt[]
  readonly decides: string | undefined
  readonly value: FieldValue
}

export interface WrittenAt {
  readonly location: FileLocation
  readonly name?: string
  /** A whole file that the previous location names, or a line of it. */
  readonly source?: 'file' | 'line'
}

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

  write(by: string, value: FieldValue, at: readonly WrittenAt[], decides?: string): void {
    this.value = value
    this.writes.push({ does: 'writes', by, at, decides, value })
  }

  remove(by: string, location: FileLocation): void {
    if (this.value === undefined) return
    this.value = undefined
    this.writes.push({
      does: 'removes',
      by,
      at: [{ location }],
      decides: undefined,
      value: undefined,
    })
  }

  mayWrite(by: string, location: FileLocation): void {
    this.writes.push({
      does: 'may write',
      by,
      at: [{ location }],
      decides: undefined,
      value: UNKNOWN,
    })
  }

  suspect(by: string, location: FileLocation): void {
    this.suspects.push({ by, location })
  }
}
