/** krm-functions-catalog, `search-replace/pathparser.go` */

/**
 * `*` is one field, `**` zero or more, `name[1]` and `name[*]` list items. Splits at every dot,
 * also within a key.
 */
export function matchesFieldPattern(pattern: string, location: string): boolean {
  const steps = location.replace(/^\./, '').split('.')
  let reached = [true]
  const parts = pattern.split('.')
  for (const [index, part] of parts.entries())
    reached[index + 1] = part === '**' && reached[index] === true
  for (const step of steps) {
    const next = [false]
    for (const [index, part] of parts.entries()) {
      next[index + 1] =
        part === '**'
          ? next[index] === true || reached[index + 1] === true
          : reached[index] === true && fitsStep(part, step)
    }
    reached = next
  }
  return reached.at(-1) === true
}

export function isPlainPath(pattern: string): boolean {
  return pattern.split('.').every((part) => part !== '' && !/[*[]/.test(part))
}

/** Of a nested list, `a[0][1]`, only the first index counts. */
function fitsStep(part: string, step: string): boolean {
  if (part === '*' || part === step) return true
  const [name, index] = step.split('[')
  if (index === undefined) return false
  const [wantedName, wantedIndex] = part.split('[')
  return (
    (wantedName === '*' || wantedName === name) && (wantedIndex === '*]' || wantedIndex === index)
  )
}
