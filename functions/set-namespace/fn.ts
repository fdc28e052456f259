/** KRM function `set-namespace` (kptdev/krm-functions-catalog `functions/go/set-namespace/transformer/namespace.go`). */

import { isNamespacedKind } from '../../src/krm/known-scopes.ts'
import type { FunctionOutput, FunctionResult, KrmFunction } from '../../src/render/kpt/krm-function.ts'
import {
  inSdkOrder,
  isLocalToSdk,
  isOfKind,
  readText,
  type SdkKind,
  sdkKindOf,
  sdkNameOf,
  textOrEmpty,
  writeText,
} from '../../src/render/kpt/sdk-fields.ts'
import { goQuote } from '../../src/text/go-quote.ts'
import { itemsAt, mapAt, resolved, type YamlMap } from '../../src/yaml/yaml-node.ts'
import { type NamespaceConfig, readNamespaceConfig } from './namespace-config.ts'
import {
  badUpstreamIdentifier,
  formatUpstreamOrigin,
  NO_NAMESPACE,
  parseUpstreamIdentifier,
  upstreamIdentifierOf,
} from './upstream-origin.ts'

/** A field that holds a namespace beside `metadata.namespace`; `*` stands for each item of a list. */
export interface NamespaceLocation extends Partial<SdkKind> {
  readonly kind: string
  readonly path: readonly string[]
}

/**
 * The fields of cluster-scoped objects with a namespace. Every namespaced object has it at `metadata.namespace`. A RoleBinding is namespaced,
 * so its subjects are not changed, although the original's documentation claims it.
 */
export const NAMESPACE_PLACES: readonly NamespaceLocation[] = [
  { version: 'v1', kind: 'Namespace', path: ['metadata', 'name'] },
  {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
    path: ['spec', 'conversion', 'webhook', 'clientConfig', 'service', 'namespace'],
  },
  { group: 'apiregistration.k8s.io', version: 'v1', kind: 'APIService', path: ['spec', 'service', 'namespace'] },
  { kind: 'ClusterRoleBinding', path: ['subjects', '*', 'namespace'] },
  { kind: 'RoleBinding', path: ['subjects', '*', 'namespace'] },
]

/** Differences between the versions of the original. */
interface NamespaceRules {
  /** Whether the package's objects must come from one namespace, and each without an origin gives a warning. */
  readonly checksOrigins: boolean
  /** Whether a webhook or an API service gets a namespace even where the object has none to get it: kpt issue 3560. */
  readonly writesMissingServices: boolean
  /** Exit code of a run with an invalid config. With 0, kpt reports the error and continues with unchanged objects. */
  readonly badConfigExit: 0 | 1
  /** Whether a config with a value of a wrong type ends the run with an error without details. */
  readonly diesOfTypes: boolean
}

/** v0.4.1. */
export const setNamespace: KrmFunction = namespaceSetter({
  checksOrigins: true,
  writesMissingServices: true,
  badConfigExit: 0,
  diesOfTypes: true,
})
/** v0.4.2 to v0.4.5. */
export const setNamespaceOfAnyOrigin: KrmFunction = namespaceSetter({
  checksOrigins: false,
  writesMissingServices: true,
  badConfigExit: 0,
  diesOfTypes: false,
})
/** From v0.4.6. */
export const setNamespaceOfNamedServices: KrmFunction = namespaceSetter({
  checksOrigins: false,
  writesMissingServices: false,
  badConfigExit: 1,
  diesOfTypes: false,
})

const DEPENDS_ON = 'config.kubernetes.io/depends-on'
const DEFAULT_NAMESPACE = 'default'
/** The whole message of v0.4.1 for a value of a wrong type: the SDK names the field, which a config does not have. */
const WRONG_TYPE = 'SubObject has unmatched field type: `'
/** `<group>/namespaces/<namespace>/<kind>/<name>` */
const NAMESPACED_DEPENDENCY = /^[-.\w]*\/namespaces\/[-.\w]*\/[-.\w]*\/[-.\w]*$/

function namespaceSetter(rules: NamespaceRules): KrmFunction {
  return ({ items, config }) => {
    const read = readNamespaceConfig(config)
    if ('problem' in read) {
      if (read.isOfTypes && rules.diesOfTypes) return { ...reported(items, [error(WRONG_TYPE)]), exitCode: 1 }
      return { ...reported(items, [read.problem]), exitCode: rules.badConfigExit }
    }
    const objects = items.filter((item) => !isLocalToSdk(item))
    const origins = rules.checksOrigins ? checkOrigins(objects, read) : { results: [], hasFailed: false }
    if (origins.hasFailed) return reported(items, origins.results)
    const broken = objects.find((item) => (rules.checksOrigins || isOriginRequested(item)) && originOf(item) === undefined)
    if (broken !== undefined) return { ...reported(items, [error(badUpstreamIdentifier(upstreamIdentifierOf(broken)))]), exitCode: 1 }
    const changer = new NamespaceChanger(read, rules)
    return reported(items, [...origins.results, ...changer.change(objects)])
  }
}

function reported(items: readonly YamlMap[], results: readonly FunctionResult[]): FunctionOutput {
  return { items: inSdkOrder(items), results, exitCode: 0, stderr: '' }
}

function info(message: string): FunctionResult {
  return { message, severity: 'info' }
}

function error(message: string): FunctionResult {
  return { message, severity: 'error' }
}

interface Origin {
  readonly namespace: string
  readonly name: string
}

/** The origin of the object, or its own identity without one; undefined for an unreadable annotation. */
function originOf(item: YamlMap): Origin | undefined {
  const identifier = upstreamIdentifierOf(item)
  if (identifier === '') return { namespace: effectiveNamespace(item), name: textOrEmpty(item, 'metadata', 'name') }
  return parseUpstreamIdentifier(identifier)
}

/** Of other objects the origin changes nothing, so that nothing has to be wrong with it. */
function isOriginRequested(item: YamlMap): boolean {
  return isNamespaced(item) || locationOf(item)?.kind === 'Namespace'
}

function locationOf(item: YamlMap): NamespaceLocation | undefined {
  const kind = sdkKindOf(item)
  return NAMESPACE_PLACES.find((each) => isOfKind(kind, each))
}

function hasNamespace(item: YamlMap): boolean {
  return readText(item, ['metadata', 'namespace']).is !== 'absent'
}

function isNamespaced(item: YamlMap): boolean {
  return isNamespacedKind(textOrEmpty(item, 'apiVersion'), textOrEmpty(item, 'kind')) ?? hasNamespace(item)
}

function effectiveNamespace(item: YamlMap): string {
  if (hasNamespace(item)) return textOrEmpty(item, 'metadata', 'namespace')
  return isNamespaced(item) ? DEFAULT_NAMESPACE : NO_NAMESPACE
}

interface OriginCheck {
  readonly results: readonly FunctionResult[]
  /** With one error, and nothing is changed. */
  readonly hasFailed: boolean
}

/** Warnings for objects that came from nowhere, or an error. At an identifier that cannot be read it ends, as the original does. */
function checkOrigins(objects: readonly YamlMap[], { matcher }: NamespaceConfig): OriginCheck {
  const warnings: FunctionResult[] = []
  const namespaces = new Set<string>()
  for (const item of objects) {
    const identifier = upstreamIdentifierOf(item)
    if (identifier === '') {
      warnings.push({ message: `${sdkNameOf(item)} does not have upstream origin.`, severity: 'warning' })
      continue
    }
    const origin = parseUpstreamIdentifier(identifier)
    if (origin === undefined) return { results: warnings, hasFailed: false }
    if (!isNamespaced(item)) continue
    if (origin.namespace === NO_NAMESPACE) {
      const from = formatUpstreamOrigin(origin)
      return failedCheck(`${sdkNameOf(item)} is namespace-scoped, but has cluster-scoped or unknown scoepd origin ${from}`)
    }
    namespaces.add(origin.namespace)
  }
  if (matcher !== '' || namespaces.size <= 1) return { results: warnings, hasFailed: false }
  return failedCheck(
    `unable to use origin \`namespace\` to match. expect a single upstream namespace, found ${goList(namespaces)}. please switch to use \`namespaceMatcher\`to specify the namespace value you want to change`,
  )
}

function failedCheck(message: string): OriginCheck {
  return { results: [error(message)], hasFailed: true }
}

/** A sorted list as Go prints it. */
function goList(values: ReadonlySet<string>): string {
  return `[${[...values].sort().join(' ')}]`
}

class NamespaceChanger {
  private readonly config: NamespaceConfig
  private readonly rules: NamespaceRules
  private readonly matched: FunctionResult[] = []
  private readonly earlier = new Set<string>()
  private count = 0

  constructor(config: NamespaceConfig, rules: NamespaceRules) {
    this.config = config
    this.rules = rules
  }

  change(objects: readonly YamlMap[]): readonly FunctionResult[] {
    const known = new Set(objects.map(dependencyOn))
    const clusterScoped = objects.filter((item) => !isNamespaced(item))
    const namespaced = objects.filter(isNamespaced)
    for (const item of clusterScoped) this.changeLocation(item)
    for (const item of namespaced) {
      const current = textOrEmpty(item, 'metadata', 'namespace')
      writeText(item, ['metadata', 'namespace'], this.replace(originOf(item)?.namespace ?? '', current, sdkNameOf(item)))
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
      const name = this.replace(originOf(item)?.name ?? '', textOrEmpty(item, ...location.path), sdkNameOf(item))
      writeText(item, location.path, name)
    } else if (location.path.includes('*')) {
      const subjects = itemsAt(item, ...location.path.slice(0, location.path.indexOf('*'))).map(resolved)
      // Of a list with something else in it the original reads nothing.
      if (subjects.every((subject) => subject.kind === 'map')) for (const subject of subjects) this.changeIfThere(subject)
    } else if (this.rules.writesMissingServices || isService(item, location))
      writeText(item, location.path, this.replace('', textOrEmpty(item, ...location.path), ''))
  }

  private changeIfThere(subject: YamlMap): void {
    const read = readText(subject, ['namespace'])
    if (read.is !== 'absent') writeText(subject, ['namespace'], this.replace('', read.is === 'text' ? read.text : '', ''))
  }

  /** The namespace that a field shall have. An empty one is `default`, and written so even where the matcher leaves it. */
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

  private changeDependencies(objects: readonly YamlMap[], known: ReadonlySet<string | undefined>): string {
    const { namespace, matcher } = this.config
    const earlier = new Set<string>()
    let count = 0
    for (const item of objects) {
      const dependency = annotationText(item, DEPENDS_ON)
      if (!NAMESPACED_DEPENDENCY.test(dependency) || !known.has(dependency)) continue
      const segments = dependency.split('/')
      const [, , own = ''] = segments
      if (own === namespace || (matcher !== '' && matcher !== own)) continue
      earlier.add(own)
      count += 1
      writeText(item, ['metadata', 'annotations', DEPENDS_ON], segments.with(2, namespace).join('/'))
    }
    if (count === 0) return 'all `depends-on` annotations are up-to-date. no `namespace` changed'
    return `\`depends-on\` annotation namespace ${goList(earlier)} updated to ${goQuote(namespace)}, ${count} value(s) changed`
  }
}

/** The text of an annotation, whatever its type. */
function annotationText(item: YamlMap, name: string): string {
  const entry = mapAt(item, 'metadata', 'annotations')?.entries.find(({ key }) => key.kind === 'scalar' && key.value === name)
  const value = entry === undefined ? undefined : resolved(entry.value)
  return value?.kind === 'scalar' ? value.value : ''
}

/** What another object writes to depend on this one; undefined for one without a namespace. */
function dependencyOn(item: YamlMap): string | undefined {
  const namespace = effectiveNamespace(item)
  if (namespace === NO_NAMESPACE) return undefined
  const [group = ''] = textOrEmpty(item, 'apiVersion').includes('/') ? textOrEmpty(item, 'apiVersion').split('/') : []
  return `${group}/namespaces/${namespace}/${textOrEmpty(item, 'kind')}/${textOrEmpty(item, 'metadata', 'name')}`
}

/** Whether the object names a service at the path and, for a CustomResourceDefinition, converts by a webhook. */
function isService(item: YamlMap, { kind, path }: NamespaceLocation): boolean {
  if (kind === 'CustomResourceDefinition' && textOrEmpty(item, 'spec', 'conversion', 'strategy') !== 'Webhook') return false
  return readText(item, [...path.slice(0, -1), 'name']).is !== 'absent'
}
