import { ensureProgram, type FindOptions, type Unavailable } from '../programs/build-programs.ts'
import { findPackaged } from '../programs/find-packaged.ts'

/** How to run SOPS and age. */
export interface SopsBinaries {
  readonly state: 'ready'
  /** Named `sops`. */
  readonly sops: string
  readonly ageKeygen: string
}

/** SOPS is built where it is not there (`ensureProgram`); `age-keygen` is on the `PATH`. */
export async function findSops(options: FindOptions = {}): Promise<SopsBinaries | Unavailable> {
  const packaged = await findPackaged('age', ['age-keygen'], options.environment)
  if (packaged.state === 'unavailable') return packaged
  const found = await ensureProgram('sops', options)
  if (found.state === 'unavailable') return found
  return { state: 'ready', sops: found.path, ageKeygen: packaged.paths['age-keygen'] }
}

/** @throws Error that says what is missing */
export async function sopsOrThrow(): Promise<SopsBinaries> {
  const found = await findSops()
  if (found.state === 'unavailable') throw new Error(found.why)
  return found
}
