/** Selects objects by their identity during a build, as kustomize `api/resmap/reswrangler.go`. */
import type { FieldPath } from '@backporch/kyaml/field'
import { getKey, getPartAt, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { parseApiVersion, type ResourceId } from '@backporch/kyaml/resource'
import { RE2JS } from 're2js'
import { isAt } from '../../build/adopt/source-document.ts'

interface Name {
  readonly name: string
  readonly namespace: string
}

/** `maybe`: the deciding labels change during the build. */
type Selected = 'yes' | 'no' | 'maybe'

/** They get no prefix (kustomize `api/internal/builtins/PrefixTransformer.go`). */
const KEPT_NAMES = new Set([
  '/Namespace',
  'apiextensions.k8s.io/CustomResourceDefinition',
  'apiregistration.k8s.io/APIService',
])

export class BuiltIdentity {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** A kustomization gives no namespace to an object without one. */
  readonly isNamespaced: boolean
  private readonly objects: readonly JsonObject[]
  private readonly names: Name[]

  constructor(
    rendered: JsonObject,
    id: ResourceId,
    declared: Name,
    objects: readonly JsonObject[],
  ) {
    const { group, version } = parseApiVersion(String(getKey(rendered, 'apiVersion') ?? ''))
    this.group = group
    this.version = version
    this.kind = id.kind
    this.isNamespaced = id.namespace !== ''
    this.objects = objects
    this.names = [declared]
  }

  get now(): Name {
    return this.names.at(-1) as Name
  }

  get keepsName(): boolean {
    return KEPT_NAMES.has(`${this.group}/${this.kind}`)
  }

  rename(name: Partial<Name>): void {
    this.names.push({ ...this.now, ...name })
  }

  isNamed(name: string): boolean {
    return this.names.some((each) => each.name === name)
  }

  /** As for a patch without a target, and a generator. */
  isCalled(name: string, namespace: string): boolean {
    return this.names.some(
      (each) =>
        each.name === name &&
        this.getEffectiveNamespace(each.namespace) === this.getEffectiveNamespace(namespace),
    )
  }

  evaluateTarget(target: JsonObject): Selected {
    const now = this.now
    const first = this.names[0] as Name
    const matches = (field: string, ...values: readonly string[]): boolean => {
      const pattern = findIdentityText(target, field)
      return pattern === undefined || values.some((value) => isWhole(pattern, value))
    }
    const [namespace, before] = [
      this.getEffectiveNamespace(now.namespace),
      this.getEffectiveNamespace(first.namespace),
    ]
    if (
      !matches('group', this.group) ||
      !matches('version', this.version) ||
      !matches('kind', this.kind)
    )
      return 'no'
    if (!matches('name', first.name, now.name) || !matches('namespace', before, namespace))
      return 'no'
    const marks = [
      this.matchMarks(target, 'labelSelector', 'labels'),
      this.matchMarks(target, 'annotationSelector', 'annotations'),
    ]
    return marks.includes('no') ? 'no' : marks.includes('maybe') ? 'maybe' : 'yes'
  }

  private getEffectiveNamespace(namespace: string): string {
    if (!this.isNamespaced && this.names.every((each) => each.namespace === '')) return ''
    return namespace === '' ? 'default' : namespace
  }

  /** If the labels in the file and in the rendered object agree, so does every step between. */
  private matchMarks(target: JsonObject, field: string, marks: 'labels' | 'annotations'): Selected {
    const selector = findIdentityText(target, field)
    if (selector === undefined) return 'yes'
    const answers = this.objects.map((object) => {
      const found = getPartAt(object, 'metadata', marks)
      return selects(selector, isJsonObject(found) ? found : {})
    })
    if (answers.every((each) => each === true)) return 'yes'
    return answers.every((each) => each === false) ? 'no' : 'maybe'
  }
}

export function getIdentityText(object: JsonObject, key: string): string {
  const found: Json | undefined = getKey(object, key)
  return typeof found === 'string'
    ? found
    : typeof found === 'number' || typeof found === 'bigint'
      ? String(found)
      : ''
}

export function findIdentityText(object: JsonObject, key: string): string | undefined {
  return getIdentityText(object, key) || undefined
}

function isWhole(pattern: string, value: string): boolean {
  try {
    return RE2JS.compile(`^(?:${pattern})$`).matches(value)
  } catch {
    return false
  }
}

function selects(selector: string, marks: JsonObject): boolean | undefined {
  let all = true
  for (const part of selector.split(',')) {
    const [, not, key, operator, value = ''] =
      /^\s*(!?)\s*([\w./-]+)\s*(?:(==?|!=)\s*([\w.-]*)\s*)?$/.exec(part) ?? []
    if (key === undefined) return undefined
    const found = getKey(marks, key)
    const holds =
      operator === undefined
        ? (found !== undefined) === (not === '')
        : (found === value) === (operator !== '!=')
    all &&= holds
  }
  return all
}

export function isIdentity(path: FieldPath): boolean {
  return [['apiVersion'], ['kind'], ['metadata', 'name'], ['metadata', 'namespace']].some((names) =>
    isAt(path, ...names),
  )
}
