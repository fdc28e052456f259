/** Additional image fields (kustomize `api/filters/fieldspec/fieldspec.go` and `api/filters/imagetag`). */
import { entryOf, isNull, resolved, textAt, type YamlMap, type YamlNode, type YamlScalar } from '../../src/yaml/yaml-node.ts'

export interface ImageField {
  /** Empty for any; so are version and kind. */
  readonly group: string
  readonly version: string
  readonly kind: string
  /** `spec/images[]/image`; a slash within a name is written `\/`. */
  readonly path: string
}

/** Whether the field is one of objects of this kind. A CustomResourceDefinition has none. */
export function hasField(item: YamlMap, field: ImageField): boolean {
  const kind = textAt(item, 'kind') ?? ''
  const [version = '', group = ''] = (textAt(item, 'apiVersion') ?? '').split('/').reverse()
  const fits = (wanted: string, found: string) => wanted === '' || wanted === found
  return kind !== 'CustomResourceDefinition' && fits(field.kind, kind) && fits(field.group, group) && fits(field.version, version)
}

/** Calls `visit` for every scalar at the path, through lists with or without `[]`. @returns the problem */
export function visitField(item: YamlMap, field: ImageField, visit: (node: YamlScalar) => void): string | undefined {
  return visitBelow(item, stepsOf(field.path), visit)
}

function stepsOf(path: string): string[] {
  const steps: string[] = []
  let open = ''
  for (const part of path.replace(/^\/(?=.)/s, '').split('/')) {
    open += part
    if (open.endsWith('\\')) open = `${open.slice(0, -1)}/`
    else {
      steps.push(open.replace(/\[\]$/, ''))
      open = ''
    }
  }
  return open === '' ? steps : [...steps, open]
}

function visitBelow(node: YamlNode, steps: readonly string[], visit: (node: YamlScalar) => void): string | undefined {
  const [step, ...others] = steps
  const found = resolved(node)
  if (step === undefined) {
    if (isNull(found)) return undefined
    if (found.kind !== 'scalar')
      return `wrong node kind: expected ScalarNode but got ${found.kind === 'map' ? 'MappingNode' : 'SequenceNode'}`
    visit(found)
    return undefined
  }
  if (isNull(found)) return undefined
  if (found.kind === 'list') {
    for (const item of found.items) {
      const problem = visitBelow(item, steps, visit)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  if (found.kind !== 'map') return 'expected sequence or mapping node'
  if (step === '') return 'cannot set or create an empty field name'
  const entry = entryOf(found, step)
  return entry === undefined ? undefined : visitBelow(entry.value, others, visit)
}
