import { configData } from '@backporch/kpt/function'
import { field } from '@backporch/kyaml/field'
import { resolved } from '@backporch/kyaml/yaml'
import type { Inverse } from '../../locate/find-locations.ts'

export const invertSearchReplace: Inverse = ({ run, target, node, finder }) => {
  const put = configData(run.config).get('put-value')
  const value = node === undefined ? undefined : resolved(node)
  // With groups of a regular expression in it, nobody can say which part of the text is whose.
  if (put === undefined || typeof target.wanted !== 'string' || value?.kind !== 'scalar' || value.value !== put) return undefined
  return finder.configEntry(run, [field('data'), field('put-value')], target, { via: 'put-value', what: 'the put-value of search-replace' })
}
