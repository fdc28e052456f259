/**
 * The upstream of a Kptfile. Nothing is fetched here. `kpt pkg update` passes it to git, so a text that git takes for an option or a program
 * is refused before (reliability.md, C15 and C16).
 */

/** Why the ref must not be passed to git; undefined for a valid ref (git-check-ref-format(1), options and revision syntax of git). */
export function upstreamRefProblem(ref: string): string | undefined {
  if (ref.startsWith('-')) return 'it begins with "-", which git takes for an option'
  if (ref.includes('..')) return 'it has ".." in it'
  if (ref.includes('@{')) return 'it has "@{" in it, which names no branch or tag'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses them in names
  return /[\u0000-\u0020\u007f~^:?*[\\]/.test(ref) ? 'it has a character that no ref has' : undefined
}

const SCHEMES = new Set(['https', 'http', 'ssh', 'git'])

/**
 * Why the address must not be passed to git; undefined for a valid one. Never contains the address, which may have a password. A local path
 * is accepted: `kpt pkg get` writes it for a copy from a local clone, and git runs nothing for it. A `file://` address is refused, because
 * nobody writes it by accident (reliability.md, C16).
 */
export function upstreamRepositoryProblem(address: string): string | undefined {
  if (address.startsWith('-')) return 'it begins with "-", which git takes for an option'
  const helper = /^([A-Za-z0-9+.-]*)::/.exec(address)
  if (helper !== null) return `it has git run the helper ${JSON.stringify(helper[1])}`
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(address)?.[1]?.toLowerCase()
  if (scheme === undefined) return scpProblem(address)
  if (!SCHEMES.has(scheme)) return `its scheme ${scheme} is none of ${[...SCHEMES].join(', ')}`
  const authority = address.slice(scheme.length + 3).split('/')[0] ?? ''
  const at = authority.lastIndexOf('@')
  if (at !== -1 && (scheme !== 'ssh' || authority.slice(0, at).includes(':'))) return 'it has a user name or a password in it'
  return authority.slice(at + 1).startsWith('-') ? 'its host begins with "-", which ssh takes for an option' : undefined
}

/** `git@host:path`; anything else without a scheme is a path of the machine. */
function scpProblem(address: string): string | undefined {
  const scp = /^(?:[^@/:]+@)?([^/:]+):(.*)$/s.exec(address)
  if (scp === null) return undefined
  const [, host = '', path = ''] = scp
  return host.startsWith('-') || path.startsWith('-') ? 'its host or path begins with "-", which ssh takes for an option' : undefined
}
