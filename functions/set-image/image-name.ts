/** Image references: `[[host[:port]/]component/]component[:tag][@digest]` (kustomize `api/internal/image/image.go`). */
import { RE2JS, RE2JSException } from 're2js'

export interface Image {
  /** Without tag and digest. The original takes it as it is for a part of a regular expression: `.` is any character. */
  readonly name: string
  /** Empty where nothing is to change; so are the other two. */
  readonly newName: string
  readonly newTag: string
  readonly digest: string
}

/** A test for references of the image, with or without tag and digest; undefined where the name is no regular expression. */
export function imageMatcher(name: string): ((reference: string) => boolean) | undefined {
  try {
    const expression = RE2JS.compile(`^${name}(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$`)
    return (reference) => expression.matcher(reference).find()
  } catch (thrown) {
    if (thrown instanceof RE2JSException) return undefined
    throw thrown
  }
}

interface Reference {
  readonly name: string
  readonly tag: string
  readonly digest: string
}

/** Parts of a reference; a colon before the first slash is the port of a host. */
function splitReference(reference: string): Reference {
  const slash = Math.max(0, reference.indexOf('/'))
  const at = reference.indexOf('@', slash)
  const colon = reference.indexOf(':', slash)
  const hasTag = colon !== -1 && (at === -1 || colon < at)
  const end = at === -1 ? reference.length : at
  return {
    name: reference.slice(0, hasTag ? colon : end),
    tag: hasTag ? reference.slice(colon + 1, end) : '',
    digest: reference.slice(end + 1),
  }
}

/**
 * The reference of a container with the new parts. A new digest replaces a tag, also one that is set with it. Of a reference with both, the
 * digest is not retained (the original's `getNewImageName`).
 */
export function containerReference(reference: string, image: Image): string {
  const old = splitReference(reference)
  const name = image.newName === '' ? old.name : image.newName
  if (image.digest !== '') return `${name}@${image.digest}`
  const tag = image.newTag === '' ? old.tag : image.newTag
  if (tag !== '') return `${name}:${tag}`
  return old.digest === '' ? name : `${name}@${old.digest}`
}

/** The reference at an additional field, by kustomize's own rule: tag and digest can be set together, and both are retained. */
export function fieldReference(reference: string, image: Image): string {
  const old = splitReference(reference)
  const isNew = image.newTag !== '' || image.digest !== ''
  const [tag, digest] = isNew ? [image.newTag, image.digest] : [old.tag, old.digest]
  return (image.newName === '' ? old.name : image.newName) + (tag === '' ? '' : `:${tag}`) + (digest === '' ? '' : `@${digest}`)
}
