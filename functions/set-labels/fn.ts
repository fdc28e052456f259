/** kptdev/krm-functions-catalog `functions/go/set-labels/setlabels/transformer.go` */
import {
  getSdkKind,
  getTextOrEmpty,
  isLocalToSdk,
  isOfKind,
  keepText,
  readText,
  sortInSdkOrder,
  writeText,
} from '@backporch/kpt/field'
import {
  createFailedOutput,
  type FunctionOutput,
  type FunctionResult,
  type KrmFunction,
} from '@backporch/kpt/function'
import { findEntry, resolveAlias, type YamlMap } from '@backporch/kyaml/yaml'
import { readLabelConfig } from './label-config.ts'
import { LABEL_PLACES, type LabelLocation } from './label-locations.ts'

const UPSTREAM_IDENTIFIER = 'internal.kpt.dev/upstream-identifier'
/** The SDK prints this when a function fails. */
const NO_SUCCESS = 'failed to evaluate function: error: function failure'

type Labels = readonly (readonly [string, string])[]

/** v0.2. */
export const setLabels: KrmFunction = ({ items, config }) => {
  const read = readLabelConfig(config)
  if (read.is === 'bad') return { ...createFailedOutput(items, read.message), stderr: NO_SUCCESS }
  const notGiven: readonly FunctionResult[] =
    read.is === 'absent' ? [{ message: '`FunctionConfig` is not given', severity: 'info' }] : []
  const objects = items.filter((item) => !isLocalToSdk(item))
  if (objects.length === 0)
    return createOutput(items, [...notGiven, { message: 'no input resources', severity: 'info' }])
  if (read.is === 'absent' || (read.isPlaceholder && read.labels.length === 0))
    return { items, results: notGiven, exitCode: 1, stderr: NO_SUCCESS }
  if (read.labels.length === 0)
    return createOutput(items, [
      { message: 'no `labels` arguments are given in FunctionConfig', severity: 'warning' },
    ])
  let count = 0
  const results: FunctionResult[] = []
  for (const item of objects) {
    const set = labelObject(item, read.labels)
    count += set.count
    if (set.problem !== undefined) results.push({ message: set.problem, severity: 'error' })
  }
  const problems = results.length
  results.push({ message: `set ${count} labels in total`, severity: 'info' })
  return problems === 0
    ? createOutput(items, results)
    : { items, results, exitCode: 1, stderr: NO_SUCCESS }
}

function createOutput(
  items: readonly YamlMap[],
  results: readonly FunctionResult[],
): FunctionOutput {
  return { items: sortInSdkOrder(items), results, exitCode: 0, stderr: '' }
}

/** Counts visited labels, changed or not, like the original. */
interface Labelled {
  readonly count: number
  readonly problem?: string | undefined
}

function labelObject(item: YamlMap, labels: Labels): Labelled {
  const kind = getSdkKind(item)
  let count = 0
  for (const location of LABEL_PLACES) {
    if (location.kinds !== undefined && !location.kinds.some((wanted) => isOfKind(kind, wanted)))
      continue
    const holders = listHolders(item, location)
    if (typeof holders === 'string') return { count, problem: holders }
    for (const holder of holders)
      for (const each of location.also === undefined ? [location] : [location, location.also]) {
        const set = labelHolder(holder, each, labels)
        count += set.count
        if (set.problem !== undefined)
          return location.silent === true ? { count } : { count, problem: set.problem }
      }
  }
  return { count }
}

interface Holder {
  /** Undefined if the value is not a map: it takes no labels, but counts. */
  readonly map: YamlMap | undefined
  /** For SDK messages. Empty if the path goes through a list. */
  readonly object: string
  readonly path: string
}

function listHolders(item: YamlMap, { holder, strict }: LabelLocation): readonly Holder[] | string {
  let at: readonly Holder[] = [{ map: item, object: formatMessageName(item), path: '' }]
  for (const [index, name] of holder.entries()) {
    if (name === '*') continue
    const next: Holder[] = []
    for (const { map, object, path } of at) {
      const entry = findEntry(map, name)
      if (entry === undefined) continue
      const value = resolveAlias(entry.value)
      if (holder[index + 1] !== '*')
        next.push({
          map: value.kind === 'map' ? value : undefined,
          object,
          path: `${path}.${name}`,
        })
      else {
        const maps = value.kind === 'list' ? value.items.map(resolveAlias) : []
        if (value.kind === 'list' && maps.every((each) => each.kind === 'map'))
          next.push(...maps.map((each) => ({ map: each, object: NO_OBJECT, path: '' })))
        else if (strict === true && value.kind !== 'list')
          return describeUnmatchedField(object, 'struct {}', `${path}.${name}`)
        else if (strict === true)
          return `unhandled node kind ${maps.find((each) => each.kind !== 'map')?.kind === 'list' ? 2 : 8}`
      }
    }
    at = next
  }
  return at
}

function labelHolder(
  { map, object, path }: Holder,
  { labels: where, create }: Pick<LabelLocation, 'labels' | 'create'>,
  labels: Labels,
): Labelled {
  let count = 0
  for (const [name, value] of labels) {
    const field = [...where, name]
    const read = map === undefined ? undefined : readText(map, field)
    if (read?.is === 'other')
      return {
        count,
        problem: describeUnmatchedField(object, 'string', `${path}.${field.join('.')}`),
      }
    if (map !== undefined && (read?.is === 'text' ? read.text !== value : create)) {
      if (name === UPSTREAM_IDENTIFIER)
        return {
          count,
          problem: `annotation ${UPSTREAM_IDENTIFIER} is managed by kpt and should not be modified`,
        }
      writeText(map, field, value)
    } else if (map !== undefined) keepText(map, field)
    count += 1
  }
  return { count }
}

/** The SDK reads top-level fields of these names, which almost no object has. */
function formatMessageName(item: YamlMap): string {
  const [group, version] = [getTextOrEmpty(item, 'group'), getTextOrEmpty(item, 'version')]
  return `Resource(apiVersion=${group === '' ? version : `${group}/${version}`}, kind=${getTextOrEmpty(item, 'kind')})`
}

const NO_OBJECT = 'Resource(apiVersion=, kind=)'

function describeUnmatchedField(object: string, wanted: string, path: string): string {
  return `${object} has unmatched field type "${wanted}" in fieldpath ${path}`
}
