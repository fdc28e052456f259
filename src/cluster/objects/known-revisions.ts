import { getTextAt, type JsonObject } from '@backporch/kyaml/json'
import { getMetadataText } from '@backporch/kyaml/resource'
import type { StoredRelease } from './helm-storage.ts'

/** Characters. Beyond this, releases are read in every turn. */
const MOST_CHARACTERS = 16 * 1024 * 1024

export class KnownRevisions {
  private readonly releases = new Map<string, StoredRelease>()
  private readonly most: number
  private characters = 0

  constructor(most = MOST_CHARACTERS) {
    this.most = most
  }

  has(store: string, name: string): boolean {
    return this.releases.has(`${store}/${name}`)
  }

  keep(store: string, name: string, release: StoredRelease): void {
    const key = `${store}/${name}`
    const before = this.releases.get(key)
    if (before !== undefined) this.characters -= countCharacters(before)
    this.releases.delete(key)
    if (this.characters + countCharacters(release) > this.most) return
    this.releases.set(key, release)
    this.characters += countCharacters(release)
  }

  /** Undefined if a revision or its version changed. @param listed its metadata */
  findWholeRelease(store: string, name: string, listed: StoredRelease): StoredRelease | undefined {
    const known = this.releases.get(`${store}/${name}`)
    if (known === undefined || !isSame(known.current.object, listed.current.object))
      return undefined
    const isLaterSame =
      known.later === undefined || listed.later === undefined
        ? known.later === listed.later
        : isSame(known.later.object, listed.later.object)
    return isLaterSame ? known : undefined
  }
}

function countCharacters({ current, later }: StoredRelease): number {
  return [current, later].reduce(
    (sum, revision) => sum + getTextAt(revision?.object, 'data', 'release').length,
    0,
  )
}

function isSame(known: JsonObject, listed: JsonObject): boolean {
  const uid = getMetadataText(known, 'uid')
  const version = getMetadataText(known, 'resourceVersion') || undefined
  return (
    version !== undefined &&
    uid === getMetadataText(listed, 'uid') &&
    version === getMetadataText(listed, 'resourceVersion')
  )
}
