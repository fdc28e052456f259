import { shortBranch } from '@backporch/git-store/ref-name'
import type { Note } from '@backporch/kyaml/note'
import type { Observation, OpenBranch } from './observation.ts'

export function leftAlone(what: string): Note {
  return { cause: 'branch-left-alone', subject: '', text: `${what}: it is left alone` }
}

export function withdrawnNote(
  { incomplete, unit }: Observation,
  { ref }: OpenBranch,
  resolvedByGit: boolean,
): Note {
  const why = resolvedByGit
    ? 'git now says what the cluster runs'
    : incomplete.length > 0
      ? 'nothing differs any more that the package covers'
      : 'the cluster went back by itself'
  return {
    cause: 'withdrawn',
    subject: `${unit.packageName} in ${unit.cluster}`,
    text: `${shortBranch(ref)} is withdrawn: ${why}`,
  }
}

export function withheldNotes(
  { policy }: Observation,
  open: OpenBranch | undefined,
): readonly Note[] {
  const why = policy.lastGood?.withheld
  return open === undefined || why === undefined
    ? []
    : [leftAlone(`${shortBranch(open.ref)}: ${why}`)]
}
