interface Reference {
  readonly name: string
  readonly tag: string | undefined
  readonly digest: string | undefined
}

/** A colon before the last slash is a host's port. */
export function splitReference(reference: string): Reference {
  const [whole = '', after] = reference.split('@', 2)
  const digest = after || undefined
  const colon = whole.indexOf(':', Math.max(0, whole.lastIndexOf('/')))
  return colon === -1
    ? { name: whole, tag: undefined, digest }
    : { name: whole.slice(0, colon), tag: whole.slice(colon + 1) || undefined, digest }
}
