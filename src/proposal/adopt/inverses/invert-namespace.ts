import { field } from '@backporch/kyaml/field'
import { textAt } from '@backporch/kyaml/yaml'
import type { Inverse } from '../../locate/find-locations.ts'

export const invertNamespace: Inverse = ({ run, target, finder }) => {
  if (typeof target.wanted !== 'string') return undefined
  const isOwn = textAt(run.config, 'kind') === 'SetNamespace'
  const path = isOwn
    ? [field('namespace')]
    : [field('data'), field(textAt(run.config, 'data', 'namespace') === undefined ? 'name' : 'namespace')]
  return finder.configEntry(run, path, target, { via: 'namespace', what: 'the namespace of set-namespace' })
}
