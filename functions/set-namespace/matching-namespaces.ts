import {
  formatSdkName,
  getSdkKind,
  getTextOrEmpty,
  isOfKind,
  keepText,
  readText,
  type SdkKind,
  writeText,
} from '@backporch/kpt/field'
import type { FunctionResult } from '@backporch/kpt/function'
import { goQuote } from '@backporch/kyaml/text'
import { findEntry, findNodeAt, listItemsAt, type YamlMap } from '@backporch/kyaml/yaml'
import type { NamespaceConfig } from './namespace-config.ts'
import {
  DEPENDS_ON,
  getAnnotationText,
  hasNamespace,
  isNamespaced,
  NAMESPACE_SEGMENT,
  NAMESPACED_DEPENDENCY,
  SERVICE_PATH,
  WEBHOOK_PATH,
} from './namespace-location.ts'
import { ALIAS_PROBLEM, meetsAlias } from './sdk-problems.ts'
import {
  describeBadUpstreamIdentifier,
  getUpstreamIdentifier,
  NO_NAMESPACE,
  parseUpstreamIdentifier,
  UPSTREAM_IDENTIFIER,
} from './upstream-origin.ts'

interface NamespaceLocation extends Partial<SdkKind> {
  readonly kind: string
  readonly path: readonly string[]
}

/**
 * The first match applies. A RoleBinding is namespaced, so subjects of one with the known version
 * do not change.
 */
const NAMESPACE_LOCATIONS: readonly NamespaceLocation[] = [
  { version: 'v1', kind: 'Namespace', path: ['metadata', 'name'] },
  {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
    path: WEBHOOK_PATH,
  },
  { group: 'apiregistration.k8s.io', version: 'v1', kind: 'APIService', path: SERVICE_PATH },
  { kind: 'ClusterRoleBinding', path: ['subjects', '*', 'namespace'] },
  { kind: 'RoleBinding', path: ['subjects', '*', 'namespace'] },
]

const DEFAULT_NAMESPACE = 'default'

/**
 * The SDK treats an object without a kind, or with two slashes in its apiVersion, as every kind.
 */
function findLocation(item: YamlMap): NamespaceLocation | undefined {
  const own = getSdkKind(item)
  return NAMESPACE_LOCATIONS.find((each) =>
    each.version === undefined
      ? getTextOrEmpty(item, 'kind') === each.kind
      : isOfKind(own.kind === '' ? { ...own, kind: each.kind } : own, each),
  )
}

function createInfoResult(message: string): FunctionResult {
  return { message, severity: 'info' }
}

function goList(values: ReadonlySet<string>): string {
  return `[${[...values].sort().join(' ')}]`
}

interface Origin {
  readonly namespace: string
  readonly name: string
}

/** The own identity without an annotation; undefined for an unreadable one. */
function findOrigin(item: YamlMap): Origin | undefined {
  const identifier = getUpstreamIdentifier(item)
  if (identifier === '')
    return {
      namespace: getEffectiveNamespace(item),
      name: getTextOrEmpty(item, 'metadata', 'name'),
    }
  return parseUpstreamIdentifier(identifier)
}

function getEffectiveNamespace(item: YamlMap): string {
  if (hasNamespace(item)) return getTextOrEmpty(item, 'metadata', 'namespace')
  return isNamespaced(item) ? DEFAULT_NAMESPACE : NO_NAMESPACE
}

/** Why the original panics at the object. */
export function matchProblem(item: YamlMap): string | undefined {
  const location = isNamespaced(item) ? undefined : findLocation(item)
  if (isNamespaced(item) || location?.kind === 'Namespace') {
    if (meetsAlias(item, ['metadata', 'annotations', UPSTREAM_IDENTIFIER])) return ALIAS_PROBLEM
    return findOrigin(item) === undefined
      ? describeBadUpstreamIdentifier(getUpstreamIdentifier(item))
      : undefined
  }
  if (location === undefined) return undefined
  const list = location.path.indexOf('*')
  const path = list === -1 ? location.path : location.path.slice(0, list)
  if (meetsAlias(item, path)) return ALIAS_PROBLEM
  if (list === -1)
    return readText(item, path).is === 'other'
      ? `Resource has unmatched field type "string" in fieldpath .${path.join('.')}`
      : undefined
  return listSubjects(item).some((subject) => meetsAlias(subject, ['namespace']))
    ? ALIAS_PROBLEM
    : undefined
}

/** The original reads nothing from a list that contains anything but maps. */
function listSubjects(item: YamlMap): readonly YamlMap[] {
  const subjects = listItemsAt(item, 'subjects')
  const maps = subjects.filter((subject) => subject.kind === 'map')
  return maps.length === subjects.length ? maps : []
}

/** `matchProblem` must be undefined for the objects. */
export class NamespaceChanger {
  private readonly config: NamespaceConfig
  private readonly matched: FunctionResult[] = []
  private readonly earlier = new Set<string>()
  private count = 0

  constructor(config: NamespaceConfig) {
    this.config = config
  }

  change(objects: readonly YamlMap[]): readonly FunctionResult[] {
    const known = new Set(objects.map(findDependencyKey))
    const clusterScoped = objects.filter((item) => !isNamespaced(item))
    const namespaced = objects.filter(isNamespaced)
    for (const item of clusterScoped) this.changeLocation(item)
    for (const item of namespaced) {
      const current = getTextOrEmpty(item, 'metadata', 'namespace')
      writeInStyle(
        item,
        ['metadata', 'namespace'],
        this.replace(findOrigin(item)?.namespace ?? '', current, formatSdkName(item)),
      )
    }
    const to = goQuote(this.config.namespace)
    const summary =
      this.count === 0
        ? `all matching namespaces are already ${to}. no value changed`
        : `namespace ${goList(this.earlier)} updated to ${to}, ${this.count} value(s) changed`
    return [
      ...this.matched,
      createInfoResult(summary),
      createInfoResult(this.changeDependencies(objects, known)),
    ]
  }

  private changeLocation(item: YamlMap): void {
    const location = findLocation(item)
    if (location === undefined) return
    if (location.kind === 'Namespace') {
      const name = this.replace(
        findOrigin(item)?.name ?? '',
        getTextOrEmpty(item, ...location.path),
        formatSdkName(item),
      )
      writeInStyle(item, location.path, name)
    } else if (location.path.includes('*'))
      for (const subject of listSubjects(item)) this.changeIfThere(subject)
    else
      writeInStyle(
        item,
        location.path,
        this.replace('', getTextOrEmpty(item, ...location.path), ''),
      )
  }

  private changeIfThere(subject: YamlMap): void {
    const read = readText(subject, ['namespace'])
    if (read.is !== 'absent')
      writeInStyle(
        subject,
        ['namespace'],
        this.replace('', read.is === 'text' ? read.text : '', ''),
      )
  }

  /** An empty namespace becomes `default`, even if the matcher leaves it. */
  private replace(origin: string, current: string, name: string): string {
    const { namespace, matcher } = this.config
    if (origin === NO_NAMESPACE) return current
    const own = current === '' ? DEFAULT_NAMESPACE : current
    if (own === namespace) return own
    if (matcher !== undefined) {
      if (matcher === origin)
        this.matched.push(createInfoResult(`[${name}] has matching origin ${origin}`))
      else if (matcher !== own) return own
    }
    this.earlier.add(own)
    this.count += 1
    return namespace
  }

  private changeDependencies(
    objects: readonly YamlMap[],
    known: ReadonlySet<string | undefined>,
  ): string {
    const { namespace, matcher } = this.config
    const earlier = new Set<string>()
    let count = 0
    for (const item of objects) {
      const dependency = getAnnotationText(item, DEPENDS_ON)
      if (!NAMESPACED_DEPENDENCY.test(dependency) || !known.has(dependency)) continue
      const segments = dependency.split('/')
      const own = segments[NAMESPACE_SEGMENT] ?? ''
      if (own === namespace || (matcher !== undefined && matcher !== own)) continue
      earlier.add(own)
      count += 1
      writeInStyle(
        item,
        ['metadata', 'annotations', DEPENDS_ON],
        segments.with(NAMESPACE_SEGMENT, namespace).join('/'),
      )
    }
    if (count === 0) return 'all `depends-on` annotations are up-to-date. no `namespace` changed'
    return `\`depends-on\` annotation namespace ${goList(earlier)} updated to ${goQuote(namespace)}, ${count} value(s) changed`
  }
}

function writeInStyle(to: YamlMap, path: readonly string[], text: string): void {
  const [name = '', above] = [path.at(-1), path.slice(0, -1)]
  const before = findEntry(findNodeAt(to, ...above), name)?.value
  const read = readText(to, path)
  if (
    before?.kind === 'scalar' &&
    before.anchor === '' &&
    read.is === 'text' &&
    read.text === text
  ) {
    keepText(to, path)
    return
  }
  if (!writeText(to, path, text)) return
  const after = findEntry(findNodeAt(to, ...above), name)?.value
  if (before?.kind === 'scalar' && after?.kind === 'scalar') after.style = before.style
}

function findDependencyKey(item: YamlMap): string | undefined {
  const namespace = getEffectiveNamespace(item)
  if (namespace === NO_NAMESPACE) return undefined
  const apiVersion = getTextOrEmpty(item, 'apiVersion')
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : []
  return `${group}/namespaces/${namespace}/${getTextOrEmpty(item, 'kind')}/${getTextOrEmpty(item, 'metadata', 'name')}`
}
