import { type FieldPath, field } from '@backporch/kyaml/field'
import { itemsAt, textAt, type YamlNode } from '@backporch/kyaml/yaml'
import type { Inverse } from '../../locate/find-locations.ts'

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
