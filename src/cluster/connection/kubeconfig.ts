/**
 * kubectl's rules (k8s.io/client-go/tools/clientcmd: `ClientConfigLoadingRules` and
 * `getContext`/`getAuthInfo`/`getCluster`). The client library's loader is unsuitable
 * (docs/facts/client-node-kubeconfig.md).
 */
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { type GoYamlFile, parseGoYaml } from '@backporch/kyaml/read-yaml'
import { type Environment, isLoopback } from './choose-proxy.ts'
import { isLinkLocal, WHY_NOT_LINK_LOCAL } from './link-local.ts'

export interface KubeconfigOptions {
  readonly kubeconfig?: string
  readonly context?: string
  readonly environment: Environment
  readonly insecureSkipTlsVerify?: boolean
  /** For tests. */
  readonly serviceAccountRoot?: string
}

export type FileOrData = { readonly file: string } | { readonly data: string }

export interface ExecPlugin {
  /** Absolute, with a slash relative to the kubeconfig, or a name to find on the PATH. */
  readonly command: string
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly apiVersion: string
  readonly provideClusterInfo: boolean
}

export interface KubeconfigUser {
  readonly name: string
  readonly certificate: FileOrData | undefined
  readonly key: FileOrData | undefined
  readonly token: string | undefined
  readonly tokenFile: string | undefined
  readonly basic: { readonly username: string; readonly password: string } | undefined
  readonly impersonate: {
    readonly user: string | undefined
    readonly uid: string | undefined
    readonly groups: readonly string[]
    readonly extra: JsonObject
  }
  readonly exec: ExecPlugin | undefined
  readonly authProvider: { readonly name: string; readonly config: JsonObject } | undefined
}

export interface ClusterAccess {
  readonly context: string
  readonly namespace: string
  readonly server: URL
  readonly authority: FileOrData | undefined
  readonly serverName: string | undefined
  readonly skipTlsVerify: boolean
  readonly proxyUrl: string | undefined
  readonly user: KubeconfigUser
  readonly file: string
}

interface Entry {
  readonly file: string
  readonly body: JsonObject
}
interface Merged {
  readonly files: readonly string[]
  readonly clusters: ReadonlyMap<string, Entry>
  readonly users: ReadonlyMap<string, Entry>
  readonly contexts: ReadonlyMap<string, Entry>
  readonly current: string | undefined
}

const SERVICE_ACCOUNT_ROOT = '/var/run/secrets/kubernetes.io/serviceaccount'
const LARGEST_FILE = 4 * 1024 * 1024

/** @throws Failure BP1006 */
export function readKubeconfig(options: KubeconfigOptions): ClusterAccess {
  const files = listFilesToRead(options)
  if (files.length === 0) return buildInClusterAccess(options)
  return select(merge(files), options)
}

function listFilesToRead({ kubeconfig, environment }: KubeconfigOptions): readonly string[] {
  if (kubeconfig !== undefined) {
    if (!existsSync(kubeconfig))
      throw createUnusableFailure(
        kubeconfig,
        'the file does not exist',
        'name an existing file with --kubeconfig',
      )
    return [resolve(kubeconfig)]
  }
  const listed = environment['KUBECONFIG'] || undefined
  const home = (environment['HOME'] ?? environment['USERPROFILE']) || undefined
  const candidates =
    listed !== undefined
      ? listed.split(delimiter).filter((file) => file !== '')
      : home === undefined
        ? []
        : [join(home, '.kube', 'config')]
  return [...new Set(candidates.map((file) => resolve(file)))].filter((file) => existsSync(file))
}

function buildInClusterAccess(options: KubeconfigOptions): ClusterAccess {
  const root = options.serviceAccountRoot ?? SERVICE_ACCOUNT_ROOT
  const { KUBERNETES_SERVICE_PORT: port = '443' } = options.environment
  const host = options.environment['KUBERNETES_SERVICE_HOST'] || undefined
  const listed = options.environment['KUBECONFIG'] || undefined
  if (host === undefined || !existsSync(join(root, 'token'))) {
    const observed =
      listed === undefined
        ? 'neither KUBECONFIG nor ~/.kube/config names a file, and this is not a pod'
        : 'no file of KUBECONFIG exists'
    throw createUnusableFailure(
      listed,
      observed,
      'name the file with --kubeconfig, or use --live for a recorded cluster',
    )
  }
  const namespaceFile = join(root, 'namespace')
  return {
    context: 'in-cluster',
    namespace: existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() : 'default',
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    authority: { file: join(root, 'ca.crt') },
    serverName: undefined,
    skipTlsVerify: false,
    proxyUrl: undefined,
    user: { ...readUser('service account', {}, root), tokenFile: join(root, 'token') },
    file: root,
  }
}

function merge(files: readonly string[]): Merged {
  const clusters = new Map<string, Entry>()
  const users = new Map<string, Entry>()
  const contexts = new Map<string, Entry>()
  let current: string | undefined
  for (const file of files) {
    const config = readFile(file)
    collect(config, 'clusters', file, clusters)
    collect(config, 'users', file, users)
    collect(config, 'contexts', file, contexts)
    current ??= getText(config, 'current-context')
  }
  return { files, clusters, users, contexts, current }
}

function readFile(file: string): JsonObject {
  let source: string
  try {
    source = readFileSync(file, 'utf8')
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unreadable'
    throw createUnusableFailure(
      file,
      code === 'EISDIR' ? 'it is a folder' : `it cannot be read (${code})`,
      'name a readable file with --kubeconfig',
    )
  }
  if (source.length > LARGEST_FILE)
    throw createUnusableFailure(
      file,
      `it is larger than ${LARGEST_FILE} bytes`,
      'name a kubeconfig with --kubeconfig',
    )
  let read: GoYamlFile
  try {
    read = parseGoYaml(source, file, { duplicateKeys: 'error' })
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    throw createUnusableFailure(
      thrown.where,
      `it is not valid YAML: ${thrown.why}`,
      'correct the file, or name another with --kubeconfig',
    )
  }
  const [document, second] = read.documents
  if (second !== undefined)
    throw createUnusableFailure(
      `${file}:${second.line}:${second.column}`,
      'it has more than one YAML document',
      'keep one of them',
    )
  const value = document?.value ?? {}
  if (!isJsonObject(value))
    throw createUnusableFailure(file, 'it is not a mapping', 'name a kubeconfig with --kubeconfig')
  return value
}

function collect(
  config: JsonObject,
  list: 'clusters' | 'users' | 'contexts',
  file: string,
  into: Map<string, Entry>,
): void {
  const field = list.slice(0, -1)
  const entries = getKey(config, list)
  if (entries === undefined || entries === null) return
  if (!isJsonArray(entries))
    throw createUnusableFailure(file, `${list} is not a list`, 'correct the file')
  entries.forEach((entry, index) => {
    const name = isJsonObject(entry) ? getText(entry, 'name') : undefined
    if (!isJsonObject(entry) || name === undefined)
      throw createUnusableFailure(file, `${list}[${index}].name is missing`, 'correct the file')
    const body = getKey(entry, field) ?? {}
    if (!isJsonObject(body))
      throw createUnusableFailure(
        file,
        `${list}[${index}].${field} is not a mapping`,
        'correct the file',
      )
    // As in kubectl: the first one wins.
    if (!into.has(name)) into.set(name, { file, body })
  })
}

function select(merged: Merged, options: KubeconfigOptions): ClusterAccess {
  const files = merged.files.join(delimiter)
  const names = [...merged.contexts.keys()].sort()
  const known = names.length === 0 ? 'it has no contexts' : `it has ${names.join(', ')}`
  const context = (options.context ?? merged.current) || undefined
  if (context === undefined)
    throw createUnusableFailure(
      files,
      `it has no current context; ${known}`,
      'name one with --context',
    )
  const entry = merged.contexts.get(context)
  if (entry === undefined)
    throw createUnusableFailure(
      files,
      `it has no context ${JSON.stringify(context)}; ${known}`,
      'name one of them with --context',
    )
  const clusterName = getText(entry.body, 'cluster') ?? ''
  const cluster = merged.clusters.get(clusterName)
  if (cluster === undefined) {
    throw createUnusableFailure(
      files,
      `context ${JSON.stringify(context)} names the cluster ${JSON.stringify(clusterName)}, which does not exist; ${known}`,
      'correct the context',
    )
  }
  const userName = getText(entry.body, 'user')
  const user = userName === undefined ? { file: entry.file, body: {} } : merged.users.get(userName)
  if (user === undefined) {
    throw createUnusableFailure(
      files,
      `context ${JSON.stringify(context)} names the user ${JSON.stringify(userName)}, which does not exist; ${known}`,
      'correct the context',
    )
  }
  const skipTlsVerify = getKey(cluster.body, 'insecure-skip-tls-verify') === true
  if (skipTlsVerify && options.insecureSkipTlsVerify !== true) {
    const remedy =
      'put the certificate authority into the kubeconfig, or accept the risk with --insecure-skip-tls-verify'
    throw createUnusableFailure(
      cluster.file,
      `cluster ${JSON.stringify(clusterName)} has insecure-skip-tls-verify, so anybody could answer in its place`,
      remedy,
    )
  }

  return {
    context,
    namespace: getText(entry.body, 'namespace') ?? 'default',
    server: parseServerUrl(getText(cluster.body, 'server'), clusterName, cluster.file),
    authority: readFileOrData(cluster.body, 'certificate-authority', dirname(cluster.file)),
    serverName: getText(cluster.body, 'tls-server-name'),
    skipTlsVerify,
    proxyUrl: getText(cluster.body, 'proxy-url'),
    user: readUser(userName ?? '', user.body, dirname(user.file)),
    file: user.file,
  }
}

function parseServerUrl(server: string | undefined, cluster: string, file: string): URL {
  const wrong = (why: string): Failure =>
    createUnusableFailure(
      file,
      `the server of cluster ${JSON.stringify(cluster)} ${why}`,
      'correct clusters[].cluster.server',
    )
  if (server === undefined) throw wrong('is missing')
  const url = URL.parse(server)
  if (url === null || !/^https?:$/.test(url.protocol)) throw wrong('is not an https URL')
  if (url.username !== '' || url.password !== '') throw wrong('has a user name in its URL')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (url.protocol === 'http:' && !isLoopback(host))
    throw wrong('is plain http, which is accepted on loopback only')
  // A name is checked again for each connection.
  if (isLinkLocal(host)) throw wrong(`is ${WHY_NOT_LINK_LOCAL}`)
  return url
}

function readUser(name: string, body: JsonObject, folder: string): KubeconfigUser {
  const tokenFile = getText(body, 'tokenFile')
  const username = getText(body, 'username')
  const groups = getKey(body, 'as-groups')
  const extra = getKey(body, 'as-user-extra')
  const provider = getKey(body, 'auth-provider')
  return {
    name,
    certificate: readFileOrData(body, 'client-certificate', folder),
    key: readFileOrData(body, 'client-key', folder),
    token: getText(body, 'token'),
    tokenFile: tokenFile === undefined ? undefined : resolvePath(tokenFile, folder),
    basic:
      username === undefined ? undefined : { username, password: getText(body, 'password') ?? '' },
    impersonate: {
      user: getText(body, 'as'),
      uid: getText(body, 'as-uid'),
      groups: isJsonArray(groups) ? groups.map(String) : [],
      extra: isJsonObject(extra) ? extra : {},
    },
    exec: readExec(getKey(body, 'exec'), folder),
    authProvider: isJsonObject(provider)
      ? { name: getText(provider, 'name') ?? '', config: getObject(provider, 'config') }
      : undefined,
  }
}

function readExec(exec: Json | undefined, folder: string): ExecPlugin | undefined {
  if (!isJsonObject(exec)) return undefined
  const command = getText(exec, 'command') ?? ''
  const args = getKey(exec, 'args')
  const env = getKey(exec, 'env')
  return {
    command:
      command.includes('/') || command.includes('\\') ? resolvePath(command, folder) : command,
    args: isJsonArray(args) ? args.map(String) : [],
    env: isJsonArray(env)
      ? env
          .filter(isJsonObject)
          .map((one) => ({ name: getText(one, 'name') ?? '', value: getText(one, 'value') ?? '' }))
      : [],
    apiVersion: getText(exec, 'apiVersion') ?? 'client.authentication.k8s.io/v1',
    provideClusterInfo: getKey(exec, 'provideClusterInfo') === true,
  }
}

/** As in kubectl: data wins. */
function readFileOrData(body: JsonObject, field: string, folder: string): FileOrData | undefined {
  const data = getText(body, `${field}-data`)
  if (data !== undefined) return { data }
  const file = getText(body, field)
  return file === undefined ? undefined : { file: resolvePath(file, folder) }
}

function resolvePath(path: string, folder: string): string {
  return isAbsolute(path) ? path : join(folder, path)
}

function getObject(body: JsonObject, field: string): JsonObject {
  const value = getKey(body, field)
  return isJsonObject(value) ? value : {}
}

/** Undefined if it is absent or empty, as kubectl sees it. */
function getText(body: JsonObject, field: string): string | undefined {
  const value = getKey(body, field)
  return typeof value === 'number'
    ? String(value)
    : typeof value === 'string' && value
      ? value
      : undefined
}

function createUnusableFailure(where: string | undefined, why: string, remedy: string): Failure {
  return new Failure({
    code: 'BP1006',
    what: 'the kubeconfig cannot be used',
    ...(where === undefined ? {} : { where }),
    why,
    remedy,
  })
}
