import type { PackageRepository } from '@backporch/git-store/package-repository'
import type { Note } from '@backporch/kyaml/note'
import { convertToOneLine } from '@backporch/kyaml/text'
import type {
  RefusedSource,
  SourcedRepository,
  UnitSource,
} from '../../../sources/build/unit-source.ts'
import { isSameRepository, normalizeRepositoryLocation } from '../../../syncers/sync-path.ts'

const MOST_TOLD = 5

export async function listKnownAddresses(
  repository: PackageRepository,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return [repository.remote, ...((await repository.listCloneOrigins?.(signal)) ?? [])]
}

/**
 * Another address with an equal last segment, with the first resource that has it.
 * @param read `isHere`: the address belongs to this repository
 */
export async function findOtherAddresses(
  read: (isHere: SourcedRepository['isHere']) => Promise<readonly (UnitSource | RefusedSource)[]>,
  remotes: readonly string[],
): Promise<readonly Note[]> {
  const names = new Set(remotes.map(getLastSegment).filter((name) => name !== ''))
  const seen = new Map<string, string>()
  await read((address) => {
    if (names.has(getLastSegment(address))) seen.set(normalizeRepositoryLocation(address), address)
    return false
  })
  const notes = [...seen.values()]
    .slice(0, MOST_TOLD)
    .map(async (address): Promise<readonly Note[]> => {
      const [first] = await read((other) => isSameRepository(other, address))
      if (first === undefined) return []
      const text = `it applies ${removeUser(address)}; if that is this repository, name the address in alsoKnownAs of a DriftPolicy`
      return [{ cause: 'source-not-compared', subject: first.title, text }]
    })
  return (await Promise.all(notes)).flat()
}

function getLastSegment(address: string): string {
  return normalizeRepositoryLocation(address).split('/').at(-1) ?? ''
}

function removeUser(address: string): string {
  return convertToOneLine(address.replace(/^([a-z+]+:\/\/)[^@/]*@/i, '$1'), 200)
}
