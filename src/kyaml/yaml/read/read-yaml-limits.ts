/** What one file may become in memory, whatever its bytes are (ADR 74). */
import { YamlRefusal } from './read-yaml-refusal.ts'

/** Keys, values and comments. Each takes up to 300 bytes while the file is read. */
export const MAX_YAML_NODES = 500_000
export const MAX_YAML_DOCUMENTS = 10_000

/** Counts what all documents of a file become, or all files of a package. */
export class NodeMeter {
  private readonly most: number
  private readonly of: string
  private nodes = 0

  /** @param of whose limit it is, as failures name it */
  constructor(most = MAX_YAML_NODES, of = 'the file') {
    this.most = most
    this.of = of
  }

  get isOver(): boolean {
    return this.nodes > this.most
  }

  /** @throws YamlRefusal BP1111 for the first one that is too many */
  count(offset: number): void {
    this.nodes += 1
    if (this.isOver)
      throw new YamlRefusal(
        offset,
        `${this.of} has ${describeMost(this.most)} keys, values and comments up to here`,
        SPLIT,
        'BP1111',
      )
  }
}

/** What helps where a file has too much of something. */
export const SPLIT = 'split the file, or keep it out of the package'

/** `more than 500,000`, the same in every locale. */
export function describeMost(most: number): string {
  return `more than ${most.toLocaleString('en')}`
}
