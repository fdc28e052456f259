/** Go's `path.Clean`. */
export function goClean(path: string): string {
  const rooted = path.startsWith('/')
  const retained: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') retained.push(segment)
    else if (retained.length > 0 && retained.at(-1) !== '..') retained.pop()
    else if (!rooted) retained.push('..')
  }
  const joined = retained.join('/')
  return rooted ? `/${joined}` : joined === '' ? '.' : joined
}

/** `./a//b/../c` is `a/c`, the folder itself is empty, and a path outside begins with `..`. */
export function cleanPath(path: string): string {
  const clean = goClean(path.replace(/^\/+/, ''))
  return clean === '.' ? '' : clean
}
