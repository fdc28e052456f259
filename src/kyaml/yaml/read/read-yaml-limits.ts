/** Limits the memory that one file may use, whatever its bytes are (ADR 74). */
import { YamlRefusal } from './read-yaml-refusal.ts'

/** Keys, values and comments. Each takes up to 300 bytes while the file is read. */
export const MAX_YAML_NODES = 500_000
export const MAX_YAML_DOCUMENTS = 10_000

/** Counts over all documents of a file, or all files of a package. */
export class NodeMeter {
  private readonly most: number
  private readonly of: string
  private nodes = 0

  constructor(most = MAX_YAML_NODES, of = 'the file') {
    this.most = most
    this.of = of
  }

  get isOver(): boolean {
    return this.nodes > this.most
  }

  /** @throws YamlRefusal BP1111 for the first node beyond the limit */
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

export const SPLIT = 'split the file, or keep it out of the package'

export function describeMost(most: number): string {
  return `more than ${most.toLocaleString('en')}`
}
