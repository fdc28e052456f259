/** The files of a commit that the artifact of a syncer's source has (docs/facts/flux-source-ignore.md). */

import type { SourceArtifact } from '../../../sources/build/syncer-build.ts'
import type { LeftOut } from '../../../sources/kustomize/files/kustomization-walk.ts'
import { ArtifactFiles } from '../../../syncers/flux-artifact/artifact-files.ts'
import { isIgnoreFile } from '../../../syncers/flux-artifact/source-ignore.ts'
import { readTexts } from '../repository-view.ts'
import type { CommitFiles } from './read-kustomization.ts'

interface PackedFiles {
  /** Without those that are left out. */
  readonly commit: CommitFiles
  /** By path from the root of the repository. */
  readonly isPacked: (path: string) => boolean
  /** Whether some artifact of the repository has the file. */
  readonly isInAny: (path: string) => boolean
}

/** @throws Failure BP40xx when git fails */
export async function packedFiles(commit: CommitFiles, artifact: SourceArtifact, signal: AbortSignal): Promise<PackedFiles> {
  const texts = await ignoreTexts(commit, signal)
  const own = new ArtifactFiles(texts, artifact)
  const all = artifact.all.map((each) => new ArtifactFiles(texts, each))
  const left = new Map<string, LeftOut>()
  return {
    commit: {
      ...commit,
      at: async (path) => {
        const found = await commit.at(path)
        const excluded = typeof found === 'string' ? own.replaced(path) : own.excluded(path)
        if (excluded === undefined) return found
        const { why, remedy } = excluded
        left.set(path, { why: `${path} is not in the artifact of ${artifact.title}: ${why}`, remedy })
        return 'absent'
      },
      leftOut: (path) => left.get(path),
    },
    isPacked: (path) => own.has(path),
    isInAny: (path) => all.some((each) => each.has(path)),
  }
}

const known = new WeakMap<CommitFiles, Promise<ReadonlyMap<string, string>>>()

/** Of every `.sourceignore`, by path; a link is none. Read once for a commit. */
async function ignoreTexts(commit: CommitFiles, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const reading = known.get(commit) ?? read(commit, signal)
  known.set(commit, reading)
  try {
    return await reading
  } catch (thrown) {
    known.delete(commit)
    throw thrown
  }
}

async function read(commit: CommitFiles, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const files = await commit.below('')
  return readTexts(
    commit.repository,
    files.filter(({ path, mode }) => isIgnoreFile(path) && (mode === '100644' || mode === '100755')),
    signal,
  )
}
