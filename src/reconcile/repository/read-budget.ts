import { Failure } from '@backporch/kyaml/failure'

const MOST_TURN_BYTES = 128 * 1024 * 1024

export class ReadBudget {
  private readonly most: number
  private readonly bytes = new Map<string, number>()
  private taken = 0

  constructor(most = MOST_TURN_BYTES) {
    this.most = most
  }

  take(packagePath: string, bytes: number): void {
    if (this.bytes.has(packagePath)) return
    const fits = this.taken + bytes <= this.most
    this.bytes.set(packagePath, fits ? bytes : Number.POSITIVE_INFINITY)
    if (fits) this.taken += bytes
  }

  /** @throws Failure BP1111 if the package found no room */
  assertRoom(packagePath: string): void {
    if (this.bytes.get(packagePath) !== Number.POSITIVE_INFINITY) return
    throw new Failure({
      code: 'BP1111',
      what: 'the package is not read in this turn',
      where: packagePath || '.',
      why: `with it, the files of all packages would be larger than ${this.most / 1024 / 1024} MiB, which is what one turn reads`,
      remedy:
        'observe fewer packages at once: name them on the command line, or divide them among controllers',
      retry: 'on-change',
    })
  }
}
