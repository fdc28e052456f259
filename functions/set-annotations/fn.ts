/** KRM function `set-annotations` (kptdev/krm-functions-catalog `functions/go/set-annotations`, on kustomize `api/filters/annotations`). */

import { type FieldSpec, visitField } from '../../src/render/kpt/field-spec.ts'
import { fileOf } from '../../src/render/kpt/item-annotations.ts'
import { type FunctionResult, failed, type KrmFunction, succeeded } from '../../src/render/kpt/krm-function.ts'
import { isOtherToYaml11 } from '../../src/render/kpt/kyaml-text.ts'
import { findBadResource } from '../../src/render/kustomize/kustomize-resources.ts'
import { entryOf, isNull, type YamlMap, type YamlScalar, yamlPlain, yamlText } from '../../src/yaml/yaml-node.ts'
import { readAnnotationConfig } from './annotation-config.ts'
import { ANNOTATION_FIELDS } from './annotation-fields.ts'

/** v0.1. Objects that are for tools only get the annotations too. */
export const setAnnotations: KrmFunction = ({ items, config }) => {
  const read = readAnnotationConfig(config)
  if ('problem' in read) return failed(items, `failed to configure function: ${read.problem}`)
  const objects = items.filter(({ entries }) => entries.length > 0)
  const bad = findBadResource(objects)
  if (bad !== undefined) return failed(items, `failed to run function: ${bad}`)
  const names = [...read.annotations.keys()].sort()
  const fields = [...read.fields, ...ANNOTATION_FIELDS]
  const report = new AnnotationReport()
  for (const item of objects)
    for (const name of names) {
      const problem = annotate(item, fields, name, read.annotations.get(name) ?? '', report)
      if (problem !== undefined) return failed(items, `failed to run function: failed to run transformer: ${problem}`)
    }
  return succeeded(objects, report.results())
}

function annotate(item: YamlMap, fields: readonly FieldSpec[], name: string, value: string, report: AnnotationReport): string | undefined {
  const setter = new SharedSetter(name, value)
  const file = fileOf(item)
  for (const field of fields) {
    const problem = visitField(item, field, 'map', (node, path) => {
      if (isNull(node)) return undefined
      if (node.kind !== 'map') return `wrong Node Kind for ${path.join('.')} expected: MappingNode was ${goKind(node.kind)}`
      report.add(file, path.join('.'), name, value)
      setter.set(node)
      return undefined
    })
    if (problem !== undefined) return problem
  }
  return undefined
}

function goKind(kind: 'scalar' | 'list' | 'alias'): string {
  return kind === 'list' ? 'SequenceNode' : kind === 'scalar' ? 'ScalarNode' : 'AliasNode'
}

/**
 * Sets one annotation in several maps of an object. The original adds one and the same node to all maps that do not have it,
 * and takes over the quotes of the ones that do; so the quotes of the last value it replaced are on all that it added.
 */
class SharedSetter {
  private readonly name: string
  private readonly value: string
  private readonly added: YamlScalar[] = []
  private style: YamlScalar['style'] = 'plain'

  constructor(name: string, value: string) {
    this.name = name
    this.value = value
  }

  set(map: YamlMap): void {
    if (this.style === 'plain' && isOtherToYaml11(this.value)) this.style = 'double'
    const entry = entryOf(map, this.name)
    if (entry === undefined) {
      const value = yamlText(this.value)
      this.added.push(value)
      map.entries.push({ key: yamlPlain(this.name), value })
    } else {
      const own = entry.value
      this.style = own.kind === 'scalar' ? own.style : 'plain'
      if (own.kind === 'scalar') Object.assign(own, { tag: '!!str', value: this.value })
      else
        entry.value = { ...yamlText(this.value), headComment: own.headComment, lineComment: own.lineComment, footComment: own.footComment }
    }
    for (const value of this.added) value.style = this.style
  }
}

interface Reported {
  readonly path: string
  readonly index: number
  readonly field: string
  readonly values: Map<string, string>
}

class AnnotationReport {
  private readonly locations = new Map<string, Reported>()

  add(file: { readonly path: string; readonly index: string }, field: string, name: string, value: string): void {
    const key = JSON.stringify([file.path, file.index, field])
    const index = /^[-+]?\d{1,9}$/.test(file.index) ? Number(file.index) : 0
    const location = this.locations.get(key) ?? { path: file.path, index, field, values: new Map<string, string>() }
    this.locations.set(key, location)
    location.values.set(name, value)
  }

  /** By file, index in the file, and field. */
  results(): readonly FunctionResult[] {
    if (this.locations.size === 0) return [{ message: 'no annotations applied', severity: 'info' }]
    return [...this.locations.values()]
      .sort((left, right) => compare(left.path, right.path) || left.index - right.index || compare(left.field, right.field))
      .map(({ path, index, field, values }) => ({
        message: `set annotations: ${goJson(values)}`,
        severity: 'info',
        field: { path: field },
        file: index === 0 ? { path } : { path, index },
      }))
  }
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}

const ESCAPED = /[<>&\u2028\u2029]/g

/** As Go writes a map to JSON: sorted by key, with HTML escapes. */
function goJson(values: ReadonlyMap<string, string>): string {
  const pairs = [...values]
    .sort(([left], [right]) => compare(left, right))
    .map((pair) => pair.map((text) => JSON.stringify(text)).join(':'))
  return `{${pairs.join(',')}}`.replace(ESCAPED, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
