/** Paths without `.`, `..` and doubled slashes. */

/** As Go's `path.Clean`. */
export function goClean(path: string): string {
  const rooted = path.startsWith('/')
  const kept: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') kept.push(segment)
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop()
    else if (!rooted) kept.push('..')
  }
  const joined = kept.join('/')
  return rooted ? `/${joined}` : joined === '' ? '.' : joined
}

/** The same below a folder: `./a//b/../c` is `a/c`, the folder itself is empty, and what leaves it begins with `..`. */
export function cleanPath(path: string): string {
  const clean = goClean(path.replace(/^\/+/, ''))
  return clean === '.' ? '' : clean
}
