/** The publisher of a container image, from its name (github.com/distribution/reference, `ParseNormalizedNamed`). */

/** Registries in which anybody may have an account, which is the first part of the name. */
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
 * The registry, with the account of a public one: `docker.io/library` for `nginx:1`, `ghcr.io/acme`, `registry.example.com`.
 * @param path `.image.registry` has only a registry; `.image.tag` has no publisher
 */
export function publisherOf(path: string, text: string): string {
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
