import type { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { MovedField } from '../../edits/moved-fields.ts'
import type { FileEdit, ResolvedChange } from '../../edits/resolution-edits.ts'
import type { ChosenLocation } from '../../locate/adoption-failures.ts'
import type { Candidate } from '../../locate/candidate.ts'
import type { RenderedPackage } from '../render/render-package.ts'
import type { Proof } from './prove-renders.ts'
import type { RepeatedRenders } from './repeated-renders.ts'

/** By path from the repository root. */
export type EditedTexts = ReadonlyMap<string, string>

export interface Attempt {
  readonly change: ResolvedChange
  readonly edits: readonly FileEdit[]
  /** Their fields may have any value. */
  readonly pending: readonly ResolvedChange[]
}

export interface Trial extends Pick<Proof, 'lands' | 'others' | 'number' | 'rewritten'> {
  readonly candidate: Candidate
  /** Without their render's changes. */
  readonly texts: EditedTexts
  /** Set if the first render shows no problem. */
  readonly committed: Committed | undefined
  readonly applied: readonly MovedField[]
  /** To other values than the present and intended ones. */
  readonly movesPending: boolean
}

export interface Refused {
  readonly change: ResolvedChange
  readonly failure: Failure
}

export interface Solution {
  readonly chosen: readonly ChosenLocation[]
  readonly last: Committed | undefined
  readonly refused: Refused | undefined
}

export interface Committed {
  readonly texts: EditedTexts
  readonly applied: readonly MovedField[]
  readonly renders: RepeatedRenders
}

interface EarlierRender {
  /** Changed by the edited package's first render, and committed as it writes them. */
  readonly kptfiles: readonly string[]
  readonly where: (path: string) => string
}

/** Counts the render whose Kptfiles are in the commit. Paths are from the repository root. */
export function addEarlierRender(proof: Proof, { kptfiles, where }: EarlierRender): Proof {
  return {
    ...proof,
    number: proof.number + (kptfiles.length === 0 ? 0 : 1),
    rewritten: [...new Set([...kptfiles, ...proof.rewritten.map(where)])],
  }
}

export function isClean(trials: ReadonlyMap<string, Trial>): boolean {
  return [...trials.values()].some(
    ({ lands, others, movesPending }) => lands && others.length === 0 && !movesPending,
  )
}

export interface KnownRender {
  readonly files: PackageFiles
  readonly after: RenderedPackage
}
