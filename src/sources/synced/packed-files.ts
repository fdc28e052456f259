/**
 * Limits a commit to the files that a Flux artifact contains (docs/facts/flux-source-ignore.md).
 */

import { ArtifactFiles } from '../../syncers/flux-artifact/artifact-files.ts'
import type { SourceArtifact } from '../build/built-source.ts'
import type { CommitFiles } from '../commit/commit-files.ts'
import type { LeftOut } from '../kustomize/files/kustomization-walk.ts'

interface PackedFiles {
  readonly commit: CommitFiles
  /** By path from the repository root. */
  readonly isPacked: (path: string) => boolean
  readonly isInAny: (path: string) => boolean
}

/** @throws Failure BP40xx if git fails */
export async function packFiles(
  commit: CommitFiles,
  artifact: SourceArtifact,
  signal: AbortSignal,
): Promise<PackedFiles> {
  const texts = await commit.ignoreTexts(signal)
  const own = new ArtifactFiles(texts, artifact)
  const all = artifact.all.map((each) => new ArtifactFiles(texts, each))
  const left = new Map<string, LeftOut>()
  return {
    commit: {
      ...commit,
      at: async (path) => {
        const found = await commit.at(path)
        const excluded = typeof found === 'string' ? own.findReplaced(path) : own.findExcluded(path)
        if (excluded === undefined) return found
        const { why, remedy } = excluded
        left.set(path, {
          why: `${path} is not in the artifact of ${artifact.title}: ${why}`,
          remedy,
        })
        return 'absent'
      },
      leftOut: (path) => left.get(path),
    },
    isPacked: (path) => own.has(path),
    isInAny: (path) => all.some((each) => each.has(path)),
  }
}
