import { type JsonObject, textOf } from '@backporch/kyaml/json'
import { metadataText } from '@backporch/kyaml/resource'
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
    if (before !== undefined) this.characters -= charactersOf(before)
    this.releases.delete(key)
    if (this.characters + charactersOf(release) > this.most) return
    this.releases.set(key, release)
    this.characters += charactersOf(release)
  }

  /** Undefined if a revision or its version changed. @param listed its metadata */
  whole(store: string, name: string, listed: StoredRelease): StoredRelease | undefined {
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

function charactersOf({ current, later }: StoredRelease): number {
  return [current, later].reduce(
    (sum, revision) => sum + textOf(revision?.object, 'data', 'release').length,
    0,
  )
}

function isSame(known: JsonObject, listed: JsonObject): boolean {
  const [uid, version] = [metadataText(known, 'uid'), metadataText(known, 'resourceVersion')]
  return (
    version !== '' &&
    uid === metadataText(listed, 'uid') &&
    version === metadataText(listed, 'resourceVersion')
  )
}
