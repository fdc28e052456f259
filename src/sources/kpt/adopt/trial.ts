/** What an adoption tries, and what came of it. */
import type { Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { MovedField } from '../../edits/moved-fields.ts'
import type { FileEdit, ResolvedChange } from '../../edits/resolution-edits.ts'
import type { ChosenLocation } from '../../locate/adoption-failures.ts'
import type { Candidate } from '../../locate/candidate.ts'
import type { RenderedPackage } from '../render/render-package.ts'
import type { Proof } from './prove-renders.ts'
import type { RepeatedRenders } from './repeated-renders.ts'

/** Changed texts by path from the root of the repository. */
export type EditedTexts = ReadonlyMap<string, string>

/** What one change is tried with. */
export interface Attempt {
  readonly change: ResolvedChange
  /** Edits for the changes before it. */
  readonly edits: readonly FileEdit[]
  /** Changes that come later: their fields may have any value yet. */
  readonly pending: readonly ResolvedChange[]
}

/** The rendered result of a candidate. */
export interface Trial extends Pick<Proof, 'lands' | 'others' | 'number' | 'rewritten'> {
  readonly candidate: Candidate
  /** The edited files, without what the render of them changes. */
  readonly texts: EditedTexts
  /** Where the first render has nothing against it: what is to be committed. */
  readonly committed: Committed | undefined
  /** Entries of applied configs that it moves. */
  readonly applied: readonly MovedField[]
  /** Whether it gives fields of later changes other values than they have and are to have. */
  readonly movesPending: boolean
}

export interface Refused {
  readonly change: ResolvedChange
  readonly failure: Failure
}

export interface Solution {
  readonly chosen: readonly ChosenLocation[]
  /** Undefined without changes. */
  readonly last: Committed | undefined
  readonly refused: Refused | undefined
}

export interface Committed {
  readonly texts: EditedTexts
  /** Entries of applied configs that it moves. */
  readonly applied: readonly MovedField[]
  readonly renders: RepeatedRenders
}

interface EarlierRender {
  /** Kptfiles that the first render of the edited package changes, and that are in the commit as it writes them. */
  readonly kptfiles: readonly string[]
  readonly where: (path: string) => string
}

/** Counts the render whose Kptfiles are in the commit. The paths of the result are from the root of the repository. */
export function withEarlier(proof: Proof, { kptfiles, where }: EarlierRender): Proof {
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

/** The render of files that are to be committed as they are. */
export interface KnownRender {
  readonly files: PackageFiles
  readonly after: RenderedPackage
}
