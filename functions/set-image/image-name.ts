/** kustomize api v0.11.0 `image/image.go`, `filters/imagetag/updater.go` */
import { RE2JS, RE2JSException } from 're2js'
import type { Image } from './image-config.ts'

/** Undefined if the name is not a valid regular expression. */
export function createImageMatcher(name: string): ((reference: string) => boolean) | undefined {
  try {
    const expression = RE2JS.compile(`^${name}(@sha256)?(:[a-zA-Z0-9_.{}-]*)?$`)
    return (reference) => expression.matcher(reference).find()
  } catch (thrown) {
    if (thrown instanceof RE2JSException) return undefined
    throw thrown
  }
}

/** A tag replaces a digest, and a digest a tag. A tag before a digest belongs to the name. */
export function buildImageReference(reference: string, { newName, newTag, digest }: Image): string {
  const end = nameEnd(reference)
  const name = newName ?? reference.slice(0, end)
  if (digest !== undefined) return `${name}@${digest}`
  return newTag === undefined ? name + reference.slice(end) : `${name}:${newTag}`
}

/** A colon before the first slash is a host's port. */
function nameEnd(reference: string): number {
  const digest = reference.lastIndexOf('@')
  if (digest > 0) return digest
  const slash = Math.max(0, reference.indexOf('/'))
  const colon = reference.slice(slash).lastIndexOf(':')
  return colon === -1 ? reference.length : slash + colon
}
