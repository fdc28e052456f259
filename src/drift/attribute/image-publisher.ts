/** github.com/distribution/reference, `ParseNormalizedNamed` */

/** The account is the first part of the image name. */
const PUBLIC = new Set([
  'docker.io',
  'gcr.io',
  'ghcr.io',
  'public.ecr.aws',
  'quay.io',
  'registry.gitlab.com',
])
const ALIASES: Readonly<Record<string, string>> = {
  'index.docker.io': 'docker.io',
  'registry-1.docker.io': 'docker.io',
}

/**
 * Registry, plus the account for a public one: `docker.io/library` for `nginx:1`.
 * @param path `.image.registry` has only a registry; `.image.tag` has no publisher
 */
export function getImagePublisher(path: string, text: string): string {
  if (/\.(tag|digest)$/.test(path)) return ''
  if (path.endsWith('.registry')) return ALIASES[text] ?? text
  const slash = text.indexOf('/')
  const first = slash === -1 ? '' : text.slice(0, slash)
  const named = first.includes('.') || first.includes(':') || first === 'localhost'
  const registry = named ? (ALIASES[first] ?? first) : 'docker.io'
  if (!PUBLIC.has(registry)) return registry
  const rest = named ? text.slice(slash + 1) : text
  const account = rest.includes('/')
    ? rest.slice(0, rest.indexOf('/'))
    : registry === 'docker.io'
      ? 'library'
      : ''
  return `${registry}/${account}`
}
