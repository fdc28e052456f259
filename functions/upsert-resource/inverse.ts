import { type FieldPath, field } from '../../src/krm/field-path.ts'
import type { Inverse } from '../../src/proposal/adopt/find-locations.ts'
import { itemsAt, textAt, type YamlNode } from '../../src/yaml/yaml-node.ts'

/** The function's config is the resource, so every value is written there. */
export const invertUpsert: Inverse = ({ run, target, finder }) => {
  const { config } = run
  if (config === undefined) return undefined
  const inList = itemsAt(config, 'items').findIndex((item) => isSameObject(item, target.root))
  const location: FieldPath | undefined =
    inList !== -1 ? [field('items'), { kind: 'index', index: inList }] : isSameObject(config, target.root) ? [] : undefined
  if (location === undefined) return undefined
  const label = { via: 'upsert-resource', what: 'the resource that the function puts in' }
  return finder.configEntry(run, [...location, ...target.path], target, label)
}

function isSameObject(one: YamlNode, other: YamlNode): boolean {
  return textAt(one, 'kind') === textAt(other, 'kind') && textAt(one, 'metadata', 'name') === textAt(other, 'metadata', 'name')
}
