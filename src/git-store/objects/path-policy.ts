/** Backporch checks nothing out, but users will (CVE-2014-9390 and related). */
import { Failure } from '@backporch/kyaml/failure'

/** In comparisons of names. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
const CONTROL = /[\x00-\x1f\x7f]/

/** A fast pre-check: each tree of a turn has hundreds of names. */
const MAY_BE_GIT = /g.*i.*t/is

/**
 * Some file system treats these as `.git`: `.GIT`, `git~1`, `.git.`, `.git::$INDEX_ALLOCATION`,
 * `.g<U+200C>it`.
 */
function isGitFolderAlias(segment: string): boolean {
  if (!MAY_BE_GIT.test(segment)) return false
  const plain = (segment.replace(IGNORED_BY_HFS, '').split(':')[0] ?? '')
    .replace(/[. ]+$/, '')
    .toLowerCase()
  return plain === '.git' || /^git~[0-9]+$/.test(plain)
}

/** `git fsck` reports each as an error. */
export function isHostileName(name: string): boolean {
  return (
    name === '' || name === '.' || name === '..' || name.includes('/') || isGitFolderAlias(name)
  )
}

/**
 * @throws Failure BP2007 for an empty path or segment, `.`, `..`, `.git` in any form, a backslash
 * or a control character
 */
export function parsePathSegments(path: string): readonly string[] {
  const segments = path.split('/')
  for (const segment of segments) {
    if (isHostileName(segment))
      refusePath(path, `${JSON.stringify(segment)} is not a name that git may hold`)
    if (segment.includes('\\')) refusePath(path, 'a backslash is a path separator on some machines')
    if (CONTROL.test(segment)) refusePath(path, 'it has control characters in it')
    if (!segment.isWellFormed()) refusePath(path, 'it is not valid Unicode')
  }
  return segments
}

export function refusePath(path: string, why: string): never {
  throw new Failure({
    code: 'BP2007',
    what: 'cannot write this path into the repository',
    where: JSON.stringify(path.slice(0, 300)),
    why,
    remedy: 'rename the file or folder',
  })
}
