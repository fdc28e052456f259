/** What `init` does with what it found: pure. A person's commit is never pushed over, and a closed proposal is not opened again unasked. */
import type { KnownProposal } from '@backporch/forge/hosted-forge'
import { CONFIGURE_BRANCH } from '@backporch/git-store/ref-name'
import type { ObjectId } from '@backporch/kyaml/files'
import type { OnboardingFile } from '../unit/commands/plan-onboarding-files.ts'

export const CONFIGURE_REF = `refs/heads/${CONFIGURE_BRANCH}`

/** The present branch. */
export interface ConfigureBranch {
  readonly commit: ObjectId
  /** Who made a commit that is not ours, as `Ada`; undefined where the branch is one commit of ours. */
  readonly editedBy: string | undefined
  /** The base branch has its commit: it was merged. */
  readonly landed: boolean
  /** Texts of the files that onboarding writes, by path, as far as they are there. */
  readonly texts: ReadonlyMap<string, string>
}

export interface OnboardingObservation {
  /** The forge has pages, so the branch alone is no proposal. */
  readonly hosted: boolean
  /** Where the policy of the base branch is, as `.drift/policy.yaml:4`; undefined where there is none. */
  readonly enrolled: string | undefined
  readonly branch: ConfigureBranch | undefined
  /** Undefined where there never was one, and where git is the forge. */
  readonly proposal: KnownProposal | undefined
  /** Wanted files: those that differ from the base. */
  readonly files: readonly OnboardingFile[]
}

export interface OnboardingRequest {
  /** Propose although the last proposal was closed. */
  readonly again: boolean
  /** Take back what is not merged. */
  readonly remove: boolean
}

export type OnboardingPlan =
  /** The base branch has a policy. `cleanUp`: the merged branch is still there. */
  | { readonly kind: 'enrolled'; readonly where: string; readonly cleanUp: ObjectId | undefined }
  /** A person declined. `cleanUp`: our branch is still there. */
  | {
      readonly kind: 'declined'
      readonly proposal: KnownProposal
      readonly cleanUp: ObjectId | undefined
      readonly editedBy: string | undefined
    }
  /** `push`: from what to our new commit; undefined leaves the branch as it is. `needsConfirmation`: a person has to confirm first. */
  | {
      readonly kind: 'propose'
      readonly push: { readonly from: ObjectId | null } | undefined
      readonly needsConfirmation: boolean
      readonly editedBy: string | undefined
    }
  | { readonly kind: 'remove'; readonly branch: ObjectId; readonly editedBy: string | undefined }
  | { readonly kind: 'nothing-to-remove' }

/** @returns what is to be done; for `declined` the caller may confirm, and plan again with `again` */
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
  // Requested once, when it is opened.
  const open = hosted ? proposal?.state === 'open' : branch !== undefined
  if (branch === undefined)
    return { kind: 'propose', push: { from: null }, needsConfirmation: !open, editedBy: undefined }
  // A leftover of a merge whose policy was taken out again since: what is in it is on the base branch.
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
