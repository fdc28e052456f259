/**
 * Plans the branch and proposal of `init`. It never pushes over a person's commit, and reopens a
 * closed proposal only on request.
 */
import type { KnownProposal } from '@backporch/forge/hosted-forge'
import { CONFIGURE_BRANCH } from '@backporch/git-store/ref-name'
import type { ObjectId } from '@backporch/kyaml/files'
import type { OnboardingFile } from '../unit/commands/plan-onboarding-files.ts'

export const CONFIGURE_REF = `refs/heads/${CONFIGURE_BRANCH}`

export interface ConfigureBranch {
  readonly commit: ObjectId
  /** Undefined if the branch is one Backporch commit. */
  readonly editedBy: string | undefined
  readonly landed: boolean
  /** By path. */
  readonly texts: ReadonlyMap<string, string>
}

export interface OnboardingObservation {
  /** The branch alone is not a proposal. */
  readonly hosted: boolean
  /** Such as `.drift/policy.yaml:4`; undefined without a policy. */
  readonly enrolled: string | undefined
  readonly branch: ConfigureBranch | undefined
  /** Undefined if there never was one, and if git is the forge. */
  readonly proposal: KnownProposal | undefined
  readonly files: readonly OnboardingFile[]
}

export interface OnboardingRequest {
  readonly again: boolean
  readonly remove: boolean
}

export type OnboardingPlan =
  /** `cleanUp`: the merged branch still exists. */
  | { readonly kind: 'enrolled'; readonly where: string; readonly cleanUp: ObjectId | undefined }
  /** A person declined. `cleanUp`: Backporch's branch still exists. */
  | {
      readonly kind: 'declined'
      readonly proposal: KnownProposal
      readonly cleanUp: ObjectId | undefined
      readonly editedBy: string | undefined
    }
  /**
   * `push`: old and new commit; undefined leaves the branch unchanged. `needsConfirmation`: by a
   * person.
   */
  | {
      readonly kind: 'propose'
      readonly push: { readonly from: ObjectId | null } | undefined
      readonly needsConfirmation: boolean
      readonly editedBy: string | undefined
    }
  | { readonly kind: 'remove'; readonly branch: ObjectId; readonly editedBy: string | undefined }
  | { readonly kind: 'nothing-to-remove' }

/** @returns for `declined` the caller may confirm, and plan again with `again` */
export function planOnboarding(
  { hosted, enrolled, branch, proposal, files }: OnboardingObservation,
  request: OnboardingRequest,
): OnboardingPlan {
  const landed =
    branch?.landed === true || (proposal?.state === 'merged' && proposal.commit === branch?.commit)
  if (enrolled !== undefined)
    return { kind: 'enrolled', where: enrolled, cleanUp: landed ? branch?.commit : undefined }
  if (request.remove) {
    return branch === undefined
      ? { kind: 'nothing-to-remove' }
      : { kind: 'remove', branch: branch.commit, editedBy: branch.editedBy }
  }
  if (proposal?.state === 'closed' && !request.again) {
    const ours = branch !== undefined && branch.editedBy === undefined
    return {
      kind: 'declined',
      proposal,
      cleanUp: ours ? branch.commit : undefined,
      editedBy: branch?.editedBy,
    }
  }
  const open = hosted ? proposal?.state === 'open' : branch !== undefined
  if (branch === undefined)
    return { kind: 'propose', push: { from: null }, needsConfirmation: !open, editedBy: undefined }
  // A leftover of a merge whose policy was removed since.
  if (landed)
    return {
      kind: 'propose',
      push: { from: branch.commit },
      needsConfirmation: true,
      editedBy: undefined,
    }
  if (branch.editedBy !== undefined)
    return { kind: 'propose', push: undefined, needsConfirmation: !open, editedBy: branch.editedBy }
  const same = files.every(({ path, text }) => branch.texts.get(path) === text)
  return {
    kind: 'propose',
    push: same ? undefined : { from: branch.commit },
    needsConfirmation: !open,
    editedBy: undefined,
  }
}
