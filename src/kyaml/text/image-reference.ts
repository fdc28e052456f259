interface Reference {
  readonly name: string
  readonly tag: string
  readonly digest: string
}

/** A colon before the last slash is a host's port. */
export function splitReference(reference: string): Reference {
  const [whole = '', digest = ''] = reference.split('@', 2)
  const colon = whole.indexOf(':', Math.max(0, whole.lastIndexOf('/')))
  return colon === -1
    ? { name: whole, tag: '', digest }
    : { name: whole.slice(0, colon), tag: whole.slice(colon + 1), digest }
}
