/**
 * Where a Kptfile says a package comes from. Nothing of it is fetched here; whoever runs `kpt pkg update` hands it to git, and
 * a text that git takes for an option or a program is refused before somebody does (reliability.md, C15 and C16).
 */

/** Why git must not be asked for the ref, or undefined (git-check-ref-format(1), and what git reads as an option or a revision). */
export function upstreamRefProblem(ref: string): string | undefined {
  if (ref.startsWith('-')) return 'it begins with "-", which git takes for an option'
  if (ref.includes('..')) return 'it has ".." in it'
  if (ref.includes('@{')) return 'it has "@{" in it, which names no branch or tag'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses them in names
  return /[\u0000-\u0020\u007f~^:?*[\\]/.test(ref) ? 'it has a character that no ref has' : undefined
}

const SCHEMES = new Set(['https', 'http', 'ssh', 'git'])

/**
 * Why git must not be asked for the repository, or undefined. Never says the address: it may have a password in it.
 * A path of the machine is let through: `kpt pkg get` writes it where somebody copies from a clone beside, and git runs nothing for
 * it. That only his machine has it is between him and `kpt pkg update`. A `file://` nobody writes by chance (reliability.md, C16).
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
