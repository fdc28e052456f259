/** What GitHub does in the repository itself, where the repository is in memory. */
import { createGitObject } from '@backporch/git-store/objects'
import { parseObjectId } from '@backporch/kyaml/files'
import type { MemoryRepository } from '../../fakes/memory-repository.ts'
import { EmulatedGit, type MergeStyle, type TreeChange } from './emulated-git.ts'

const HEADS = 'refs/heads/'

export class MemoryGit extends EmulatedGit {
  readonly #repository: MemoryRepository

  constructor(repository: MemoryRepository) {
    super('', {})
    this.#repository = repository
  }

  override branches(): Map<string, string> {
    const { branches } = this.#repository
    return new Map(
      [...branches].flatMap(([ref, id]) =>
        ref.startsWith(HEADS) ? [[ref.slice(HEADS.length), id]] : [],
      ),
    )
  }

  override reaches(from: string, commit: string): boolean {
    return this.#repository.reaches(from, commit)
  }

  override delete(branch: string): void {
    this.#repository.branches.delete(`${HEADS}${branch}`)
  }

  override keepBlob(content: Buffer): string {
    return this.#repository.keepBlob(content)
  }

  override keepTree(base: string | undefined, files: readonly TreeChange[]): string {
    return this.#repository.keepTree(base, files)
  }

  /** GitHub has it; the repository takes it with the push. */
  override keepCommit(content: string): string {
    return createGitObject('commit', Buffer.from(content)).id
  }

  override pathsOf(tree: string): readonly string[] {
    return this.#repository.pathsOf(tree)
  }

  /** What the branch changed, on top of the base branch. */
  override merge(style: MergeStyle, base: string, head: string): string | undefined {
    const repository = this.#repository
    const name = [...this.branches()].find(([, id]) => id === head)?.[0]
    if (name === undefined) return undefined
    const changed = repository
      .paths(name)
      .filter((path) => repository.text(name, path) !== repository.text(base, path))
    const files = Object.fromEntries(
      changed.map((path) => [path, repository.text(name, path) ?? null]),
    )
    return repository.commitByHand(
      base,
      files,
      style === 'merge' ? { parents: [repository.head(base), parseObjectId(head)] } : {},
    )
  }
}
