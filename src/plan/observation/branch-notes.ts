import { shortenBranch } from '@backporch/git-store/ref-name'
import type { Note } from '@backporch/kyaml/note'
import type { Observation, OpenBranch } from './observation.ts'

export function createLeftAloneNote(what: string): Note {
  return { cause: 'branch-left-alone', subject: '', text: `${what}: it is left alone` }
}

export function createWithdrawnNote(
  { incomplete, unit }: Observation,
  { ref }: OpenBranch,
  resolvedByGit: boolean,
): Note {
  const why = resolvedByGit
    ? 'git now matches the cluster'
    : incomplete.length > 0
      ? 'nothing that the package covers differs any more'
      : 'the cluster returned to git by itself'
  return {
    cause: 'withdrawn',
    subject: `${unit.packageName} in ${unit.cluster}`,
    text: `${shortenBranch(ref)} is withdrawn: ${why}`,
  }
}

export function createWithheldNotes(
  { policy }: Observation,
  open: OpenBranch | undefined,
): readonly Note[] {
  const why = policy.lastGood?.withheld
  return open === undefined || why === undefined
    ? []
    : [createLeftAloneNote(`${shortenBranch(open.ref)}: ${why}`)]
}
