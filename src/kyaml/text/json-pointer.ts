/** The names and indexes of a JSON Pointer (RFC 6901), which begins with `/`. */
export function parsePointer(pointer: string): string[] {
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}
