/**
 * Checked out (`spec.sparseCheckout`), not replaced by a file of another repository
 * (`spec.include`), and not excluded by a pattern (source-ignore.ts).
 */
import type { ArtifactContent } from './artifact-content.ts'
import { SourceIgnore } from './source-ignore.ts'

interface LeftOutOfArtifact {
  readonly why: string
  readonly remedy: string
}

export class ArtifactFiles {
  private readonly content: ArtifactContent
  private readonly patterns: SourceIgnore

  /** @param ignoreFiles `.sourceignore` texts by path from the repository root */
  constructor(ignoreFiles: ReadonlyMap<string, string>, content: ArtifactContent) {
    this.content = content
    this.patterns = new SourceIgnore(
      new Map([...ignoreFiles].filter(([path]) => this.findNeverFetched(path) === undefined)),
      content.ignore,
    )
  }

  /** @param path of a regular file: a link is never in an artifact */
  has(path: string): boolean {
    return this.findExcluded(path) === undefined
  }

  findExcluded(path: string): LeftOutOfArtifact | undefined {
    const pattern = this.patterns.findExcludingPattern(path)
    const remedy = `take it out of the kustomization, or add the line "!/${path}" to .sourceignore or spec.ignore`
    return (
      this.findNeverFetched(path) ?? (pattern === undefined ? undefined : { why: pattern, remedy })
    )
  }

  findReplaced(path: string): LeftOutOfArtifact | undefined {
    const other = this.content.included.find((each) => isWithin(path, each.path))
    if (other === undefined) return undefined
    const why = `${other.path || 'the whole of it'} has the files of ${other.title} (spec.include), which are not in this repository`
    return {
      why,
      remedy:
        'take it out of the kustomization, or name another renderer of the folder in a policy (spec.render)',
    }
  }

  private findNeverFetched(path: string): LeftOutOfArtifact | undefined {
    const { sparse } = this.content
    if (sparse.length === 0 || sparse.some((beginning) => path.startsWith(beginning)))
      return this.findReplaced(path)
    return {
      why: 'spec.sparseCheckout names no folder of it',
      remedy: 'take it out of the kustomization, or add its folder to spec.sparseCheckout',
    }
  }
}

export function isWithin(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`)
}
