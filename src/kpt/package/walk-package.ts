/**
 * Each folder's names sorted (kyaml `kio/pkgio_reader.go`). walk-package.kpt.test.ts compares it
 * with kpt.
 */
import { isIgnored, type KrmIgnore, parseKrmIgnore } from './krm-ignore.ts'

export const IGNORE_FILE = '.krmignore'
export const PACKAGE_FILE = 'Kptfile'

interface Folder {
  readonly files: Set<string>
  readonly folders: Map<string, Folder>
}

interface IgnoreScope {
  /** '' for the outermost package. */
  readonly base: string
  readonly rules: KrmIgnore
}

/** @param readIgnore the text of a listed `.krmignore` */
export function walkPackage(
  paths: Iterable<string>,
  readIgnore: (path: string) => string,
): readonly string[] {
  const root = buildFolderTree(paths)
  const retained: string[] = []
  const none = parseKrmIgnore('')
  const scopeOf = (folder: Folder, base: string): IgnoreScope => {
    const path = base === '' ? IGNORE_FILE : `${base}/${IGNORE_FILE}`
    return { base, rules: folder.files.has(IGNORE_FILE) ? parseKrmIgnore(readIgnore(path)) : none }
  }
  const scopes = [scopeOf(root, '')]
  const ignores = (path: string, isDirectory: boolean): boolean => {
    // kyaml's defect, kept because kpt applies what it reads: the innermost package whose path is a
    // text prefix, so `web-api/` falls under the rules of `web/`.
    while (scopes.length > 1 && !path.startsWith(scopes.at(-1)?.base ?? '')) scopes.pop()
    const scope = scopes.at(-1) as IgnoreScope
    return isIgnored(scope.rules, computeRelativePath(scope.base, path), isDirectory)
  }
  const walk = (folder: Folder, prefix: string): void => {
    for (const name of [...new Set([...folder.files, ...folder.folders.keys()])].sort()) {
      const path = prefix + name
      const below = folder.folders.get(name)
      if (below === undefined) {
        if (!ignores(path, false)) retained.push(path)
      } else if (!ignores(path, true)) {
        if (below.files.has(PACKAGE_FILE)) scopes.push(scopeOf(below, path))
        walk(below, `${path}/`)
      }
    }
  }
  walk(root, '')
  return retained
}

function buildFolderTree(paths: Iterable<string>): Folder {
  const root: Folder = { files: new Set(), folders: new Map() }
  for (const path of paths) {
    const segments = path.split('/')
    const name = segments.pop() as string
    let folder = root
    for (const segment of segments) {
      const next: Folder = folder.folders.get(segment) ?? { files: new Set(), folders: new Map() }
      folder.folders.set(segment, next)
      folder = next
    }
    folder.files.add(name)
  }
  return root
}

/** Go's `filepath.Rel`: `../web-api` outside the base. */
function computeRelativePath(base: string, path: string): string {
  if (base === '') return path
  if (path.startsWith(`${base}/`)) return path.slice(base.length + 1)
  const from = base.split('/')
  const to = path.split('/')
  let shared = 0
  while (shared < from.length && from[shared] === to[shared]) shared += 1
  return [...from.slice(shared).map(() => '..'), ...to.slice(shared)].join('/')
}
