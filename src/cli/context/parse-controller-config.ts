/** Reports all problems at once. */
import { Failure } from '@backporch/kyaml/failure'
import { isJsonArray, isJsonObject, type Json } from '@backporch/kyaml/json'
import { hasSecretText } from '@backporch/kyaml/redaction'
import {
  type Locations,
  listSchemaProblems,
  type Problem,
  readLocated,
} from '../../policy/located-documents.ts'
import { isSameRepository } from '../../syncers/sync-path.ts'
import {
  type ConfiguredRepository,
  controllerConfigSchema,
  getWebPort,
  listConfiguredClusters,
} from './controller-config.ts'

interface ConfigFile {
  readonly path: string
  readonly text: string
}

/** @throws Failure BP1005 with every problem, without a value of the file */
export function parseControllerConfig(file: ConfigFile): readonly ConfiguredRepository[] {
  const problems: Problem[] = []
  const documents = [...readLocated(file, problems)]
  const [document, second] = documents
  if (document === undefined && problems.length === 0)
    problems.push({
      where: file.path,
      why: 'it is empty; wanted one document of the kind ControllerConfig',
    })
  if (second !== undefined)
    problems.push({
      where: second.location.formatLocation([]),
      why: 'a second document; wanted one ControllerConfig',
    })
  const repositories =
    document === undefined ? [] : parseRepositories(document.value, document.location, problems)
  if (problems.length === 0) return repositories
  throw new Failure({
    code: 'BP1005',
    what: `the configuration of the controller has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}`,
    where: file.path,
    why: problems.map(({ where, why }) => `${where}: ${why}`).join('\n       '),
    remedy: 'correct the lines named above',
    retry: 'on-change',
  })
}

function parseRepositories(
  value: Json,
  location: Locations,
  problems: Problem[],
): readonly ConfiguredRepository[] {
  const secrets = findCredentialPlaces(value, [])
  for (const place of secrets)
    problems.push({
      where: location.formatLocation(place),
      why: `${place.join('.')}: ${CREDENTIAL}`,
    })
  const checked = controllerConfigSchema.safeParse(value)
  if (!checked.success) {
    problems.push(...listSchemaProblems(checked.error, location))
    return []
  }
  const { repositories } = checked.data.spec
  const placeOf = (index: number, ...below: readonly (string | number)[]) =>
    ['spec', 'repositories', index, ...below] as const
  repositories.forEach(({ repo }, index) => {
    const place = placeOf(index, 'repo')
    if (hasUserSecret(repo) && !secrets.some((other) => other.join('.') === place.join('.')))
      problems.push({
        where: location.formatLocation(place),
        why: `${place.join('.')}: ${CREDENTIAL}`,
      })
    const first = repositories.findIndex((other) => isSame(other.repo, repo))
    if (first === index) return
    const before = location.formatLocation(placeOf(first, 'repo'))
    problems.push({
      where: location.formatLocation(place),
      why: `${place.join('.')}: the repository is already at ${before}; name it once, with all of its clusters`,
    })
  })
  problems.push(
    ...listClusterProblems(repositories, (index, cluster) =>
      location.formatLocation(placeOf(index, ...cluster)),
    ),
  )
  return repositories
}

function listClusterProblems(
  repositories: readonly ConfiguredRepository[],
  at: (repository: number, cluster: readonly (string | number)[]) => string,
): readonly Problem[] {
  const names = new Map<string, { readonly key: string; readonly where: string }>()
  const targets = new Map<string, { readonly name: string; readonly where: string }>()
  const problems: Problem[] = []
  repositories.forEach((repository, index) => {
    const own = new Set<string>()
    listConfiguredClusters(repository).forEach(({ name, context, kubeconfig = '' }, number) => {
      const where = at(index, [repository.contexts === undefined ? 'clusters' : 'contexts', number])
      const key = JSON.stringify([kubeconfig, context])
      const [named, target] = [names.get(name), targets.get(key)]
      if (own.has(name))
        problems.push({
          where,
          why: `the repository has two clusters with the name of this one; name each once`,
        })
      else if (named !== undefined && named.key !== key)
        problems.push({
          where,
          why: `another cluster has the name of this one, at ${named.where}; give each a name of its own`,
        })
      else if (target !== undefined && target.name !== name)
        problems.push({
          where,
          why: `the cluster has another name at ${target.where}; give it one name in the whole file`,
        })
      own.add(name)
      if (named === undefined) names.set(name, { key, where })
      if (target === undefined) targets.set(key, { name, where })
    })
  })
  return problems
}

const CREDENTIAL =
  'it holds a credential, which is not printed here; remove it, renew it, and give it in the environment or as a credential of git instead'

/** Forges take a token as password with these user names, or with none. */
function hasUserSecret(address: string): boolean {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol))
    return url !== null && url.protocol !== 'file:' && url.password !== ''
  return url.password !== '' || /^[\w-]{20,}$/.test(decodeURIComponent(url.username))
}

/** An SSH server has another port than its web server. */
function isSame(left: string, right: string): boolean {
  const [port, other] = [getWebPort(left), getWebPort(right)]
  if (port !== undefined && other !== undefined && port !== other) return false
  return left === right || isSameRepository(normalizePath(left), normalizePath(right))
}

function normalizePath(address: string): string {
  return address.replace(/^(\.\/+)+(?=.)/, '').replace(/^file:\/\/(?=\/)/, '')
}

function findCredentialPlaces(
  value: Json,
  place: readonly (string | number)[],
): readonly (readonly (string | number)[])[] {
  if (typeof value === 'string') return hasSecretText(value) ? [place] : []
  if (isJsonArray(value))
    return value.flatMap((item, index) => findCredentialPlaces(item, [...place, index]))
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([key, item]) => findCredentialPlaces(item, [...place, key]))
}
