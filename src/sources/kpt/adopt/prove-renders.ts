/**
 * Proves an edit at the fixed point (docs/adr/0052): each render of the edited package is compared
 * with the same render of the unedited one, until neither changes a file.
 */
import { isKptfile } from '@backporch/kpt/package'
import { describeMoved, type MovedField, RenderedBefore } from '../../edits/moved-fields.ts'
import type { ResolvedChange } from '../../edits/resolution-edits.ts'
import { listDifferingFiles, MOST_RENDERS, type RepeatedRenders } from './repeated-renders.ts'

/** Its render is the first with another result than chosen, or for a proven edit the last. */
export interface Proof {
  readonly lands: boolean
  readonly others: readonly MovedField[]
  /** From 1. */
  readonly number: number
  /** Earlier renders wrote them differently than without the edit. */
  readonly rewritten: readonly string[]
  /** Moves in each render, if the edited package does not settle. */
  readonly unsettled: string | undefined
}

interface ProofInput {
  readonly before: RenderedBefore
  readonly unedited: RepeatedRenders
  readonly edited: RepeatedRenders
  readonly change: ResolvedChange
  /** Their fields may have any value. */
  readonly pending: readonly ResolvedChange[]
  readonly isEntry: (moved: MovedField) => boolean
}

/** @throws Failure of a package that does not render */
export function proveRenders({
  before,
  unedited,
  edited,
  change,
  pending,
  isEntry,
}: ProofInput): Proof {
  for (let number = 1; number <= MOST_RENDERS; number += 1) {
    const [was, is] = [unedited.renderAt(number), edited.renderAt(number)]
    const now = before.renderAgain(was.objects)
    const others = now.listOtherMoves(is.objects, pending).filter((moved) => !isEntry(moved))
    const lands = now.hasLanded(change, is.objects)
    const rewritten = number === 1 ? [] : listRewrittenKptfiles(unedited, edited, number)
    const proof = { lands, others, number, rewritten, unsettled: undefined }
    if (!lands || others.length > 0 || (unedited.isSettledAt(number) && edited.isSettledAt(number)))
      return proof
  }
  return {
    lands: true,
    others: [],
    number: MOST_RENDERS,
    rewritten: [],
    unsettled: movesOn(edited),
  }
}

function listRewrittenKptfiles(
  unedited: RepeatedRenders,
  edited: RepeatedRenders,
  number: number,
): readonly string[] {
  const is = edited.renderAt(number).files
  const byEdit = new Set(listDifferingFiles(unedited.renderAt(number).files, is))
  return listDifferingFiles(edited.first.files, is).filter(
    (path) => isKptfile(path) && byEdit.has(path),
  )
}

/**
 * Undefined if the package settles.
 * @throws Failure of a package that does not render
 */
export function movesOn(renders: RepeatedRenders): string | undefined {
  if (renders.isSettledAt(MOST_RENDERS)) return undefined
  const [one, other] = [renders.renderAt(MOST_RENDERS - 1), renders.renderAt(MOST_RENDERS)]
  const [moved] = new RenderedBefore(one.objects, []).listOtherMoves(other.objects)
  return moved === undefined
    ? `the file ${listDifferingFiles(one.files, other.files)[0] ?? ''}`
    : describeMoved(moved)
}
