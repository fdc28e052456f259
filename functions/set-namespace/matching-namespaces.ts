import {
  isOfKind,
  keepText,
  readText,
  type SdkKind,
  sdkKindOf,
  sdkNameOf,
  textOrEmpty,
  writeText,
} from '@backporch/kpt/field'
import type { FunctionResult } from '@backporch/kpt/function'
import { goQuote } from '@backporch/kyaml/text'
import { entryOf, itemsAt, nodeAt, type YamlMap } from '@backporch/kyaml/yaml'
import type { NamespaceConfig } from './namespace-config.ts'
import {
  annotationText,
  DEPENDS_ON,
  hasNamespace,
  isNamespaced,
  NAMESPACE_SEGMENT,
  NAMESPACED_DEPENDENCY,
  SERVICE_PATH,
  WEBHOOK_PATH,
} from './namespace-location.ts'
import { ALIAS_PROBLEM, meetsAlias } from './sdk-problems.ts'
import {
  badUpstreamIdentifier,
  NO_NAMESPACE,
  parseUpstreamIdentifier,
  UPSTREAM_IDENTIFIER,
  upstreamIdentifierOf,
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
function locationOf(item: YamlMap): NamespaceLocation | undefined {
  const own = sdkKindOf(item)
  return NAMESPACE_LOCATIONS.find((each) =>
    each.version === undefined
      ? textOrEmpty(item, 'kind') === each.kind
      : isOfKind(own.kind === '' ? { ...own, kind: each.kind } : own, each),
  )
}

function info(message: string): FunctionResult {
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
function originOf(item: YamlMap): Origin | undefined {
  const identifier = upstreamIdentifierOf(item)
  if (identifier === '')
    return { namespace: effectiveNamespace(item), name: textOrEmpty(item, 'metadata', 'name') }
  return parseUpstreamIdentifier(identifier)
}

function effectiveNamespace(item: YamlMap): string {
  if (hasNamespace(item)) return textOrEmpty(item, 'metadata', 'namespace')
  return isNamespaced(item) ? DEFAULT_NAMESPACE : NO_NAMESPACE
}

/** Why the original panics at the object. */
export function matchProblem(item: YamlMap): string | undefined {
  const location = isNamespaced(item) ? undefined : locationOf(item)
  if (isNamespaced(item) || location?.kind === 'Namespace') {
    if (meetsAlias(item, ['metadata', 'annotations', UPSTREAM_IDENTIFIER])) return ALIAS_PROBLEM
    return originOf(item) === undefined
      ? badUpstreamIdentifier(upstreamIdentifierOf(item))
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
  return subjectsOf(item).some((subject) => meetsAlias(subject, ['namespace']))
    ? ALIAS_PROBLEM
    : undefined
}

/** The original reads nothing from a list that contains anything but maps. */
function subjectsOf(item: YamlMap): readonly YamlMap[] {
  const subjects = itemsAt(item, 'subjects')
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
    const known = new Set(objects.map(dependencyOn))
    const clusterScoped = objects.filter((item) => !isNamespaced(item))
    const namespaced = objects.filter(isNamespaced)
    for (const item of clusterScoped) this.changeLocation(item)
    for (const item of namespaced) {
      const current = textOrEmpty(item, 'metadata', 'namespace')
      writeInStyle(
        item,
        ['metadata', 'namespace'],
        this.replace(originOf(item)?.namespace ?? '', current, sdkNameOf(item)),
      )
    }
    const to = goQuote(this.config.namespace)
    const summary =
      this.count === 0
        ? `all matching namespaces are already ${to}. no value changed`
        : `namespace ${goList(this.earlier)} updated to ${to}, ${this.count} value(s) changed`
    return [...this.matched, info(summary), info(this.changeDependencies(objects, known))]
  }

  private changeLocation(item: YamlMap): void {
    const location = locationOf(item)
    if (location === undefined) return
    if (location.kind === 'Namespace') {
      const name = this.replace(
        originOf(item)?.name ?? '',
        textOrEmpty(item, ...location.path),
        sdkNameOf(item),
      )
      writeInStyle(item, location.path, name)
    } else if (location.path.includes('*'))
      for (const subject of subjectsOf(item)) this.changeIfThere(subject)
    else
      writeInStyle(item, location.path, this.replace('', textOrEmpty(item, ...location.path), ''))
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
    if (matcher !== '') {
      if (matcher === origin) this.matched.push(info(`[${name}] has matching origin ${origin}`))
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
      const dependency = annotationText(item, DEPENDS_ON)
      if (!NAMESPACED_DEPENDENCY.test(dependency) || !known.has(dependency)) continue
      const segments = dependency.split('/')
      const own = segments[NAMESPACE_SEGMENT] ?? ''
      if (own === namespace || (matcher !== '' && matcher !== own)) continue
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
  const before = entryOf(nodeAt(to, ...above), name)?.value
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
  const after = entryOf(nodeAt(to, ...above), name)?.value
  if (before?.kind === 'scalar' && after?.kind === 'scalar') after.style = before.style
}

function dependencyOn(item: YamlMap): string | undefined {
  const namespace = effectiveNamespace(item)
  if (namespace === NO_NAMESPACE) return undefined
  const apiVersion = textOrEmpty(item, 'apiVersion')
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : []
  return `${group}/namespaces/${namespace}/${textOrEmpty(item, 'kind')}/${textOrEmpty(item, 'metadata', 'name')}`
}
