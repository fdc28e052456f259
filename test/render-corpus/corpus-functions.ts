/**
 * Functions of the corpus alone, for what no function of the catalog does: delete, move, make, report, fail. kpt runs them as programs
 * like the others, our render in process.
 */
import { type FunctionInput, failed, type KrmFunction, succeeded } from '@backporch/kpt/function'
import {
  itemsAt,
  mapCreatedAt,
  nodeAt,
  removeEntry,
  setEntry,
  textAt,
  type YamlMap,
  yamlMap,
  yamlText,
} from '@backporch/kyaml/yaml'

const PATH = 'internal.config.kubernetes.io/path'
const INDEX = 'internal.config.kubernetes.io/index'
const LEGACY_PATH = 'config.kubernetes.io/path'
const LEGACY_INDEX = 'config.kubernetes.io/index'

const requested = ({ config }: FunctionInput, name: string): string | undefined =>
  textAt(config, 'data', name)
const named = ({ items }: FunctionInput, name: string | undefined): readonly YamlMap[] =>
  items.filter((item) => textAt(item, 'metadata', 'name') === name)

function annotate(item: YamlMap, name: string, value: string): void {
  setEntry(mapCreatedAt(item, 'metadata', 'annotations'), name, yamlText(value))
}

function created(input: FunctionInput): YamlMap {
  const metadata = yamlMap()
  for (const field of ['name', 'namespace']) {
    const value = requested(input, field)
    if (value !== undefined) setEntry(metadata, field, yamlText(value))
  }
  const object = yamlMap([
    ['apiVersion', yamlText('v1')],
    ['kind', yamlText(requested(input, 'kind') ?? 'ConfigMap')],
    ['metadata', metadata],
  ])
  const path = requested(input, 'path')
  const index = requested(input, 'index')
  if (path !== undefined) annotate(object, PATH, path)
  if (index !== undefined) annotate(object, INDEX, index)
  return object
}

/** By the name of the program. */
export const CORPUS_FUNCTIONS: { readonly [name: string]: KrmFunction } = {
  'corpus-identity': ({ items }) => succeeded(items),
  /** Gives back nothing. */
  'corpus-empty': () => succeeded([]),
  /** `name` */
  'corpus-delete': (input) =>
    succeeded(input.items.filter((item) => !named(input, requested(input, 'name')).includes(item))),
  'corpus-reverse': ({ items }) => succeeded(items.toReversed()),
  /** `name`, `namespace`, `kind`, `path`, `index`; `first` for a place before all others */
  'corpus-create': (input) =>
    succeeded(
      requested(input, 'first') === undefined
        ? [...input.items, created(input)]
        : [created(input), ...input.items],
    ),
  /** `name`, `to` */
  'corpus-rename': (input) => {
    for (const item of named(input, requested(input, 'name')))
      setEntry(mapCreatedAt(item, 'metadata'), 'name', yamlText(requested(input, 'to') ?? ''))
    return succeeded(input.items)
  },
  /** `name`, `path`, `index`; `by`: legacy or internal alone; `other`: a different path in the legacy annotation */
  'corpus-move': (input) => {
    const by = requested(input, 'by')
    for (const item of named(input, requested(input, 'name'))) {
      const path = requested(input, 'path')
      const index = requested(input, 'index')
      if (path !== undefined && by !== 'legacy') annotate(item, PATH, path)
      if (path !== undefined && by !== 'internal')
        annotate(item, LEGACY_PATH, requested(input, 'other') ?? path)
      if (index !== undefined && by !== 'legacy') annotate(item, INDEX, index)
      if (index !== undefined && by !== 'internal') annotate(item, LEGACY_INDEX, index)
    }
    return succeeded(input.items)
  },
  /** `name`: all its annotations go, those of kpt too. */
  'corpus-strip': (input) => {
    for (const item of named(input, requested(input, 'name')))
      removeEntry(mapCreatedAt(item, 'metadata'), 'annotations')
    return succeeded(input.items)
  },
  /** Writes into each object at which place it came: `place-2: 4 of 7`, one more entry for each run. */
  'corpus-number': ({ items }) => {
    for (const [index, item] of items.entries()) {
      const annotations = mapCreatedAt(item, 'metadata', 'annotations')
      const runs = annotations.entries.filter(
        ({ key }) => key.kind === 'scalar' && key.value.startsWith('place-'),
      ).length
      annotate(item, `place-${runs + 1}`, `${index + 1} of ${items.length}`)
    }
    return succeeded(items)
  },
  /** Reports how many objects it got, and which. */
  'corpus-count': ({ items }) =>
    succeeded(items, [
      {
        message: `${items.length}: ${items.map((item) => `${textAt(item, 'kind')}/${textAt(item, 'metadata', 'name')}`).join(' ')}`,
        severity: 'info',
      },
    ]),
  /** `message`, `severity` */
  'corpus-report': (input) => {
    const severity = requested(input, 'severity')
    return succeeded(input.items, [
      {
        message: requested(input, 'message') ?? '',
        severity: severity === 'error' || severity === 'warning' ? severity : 'info',
        field: { path: 'spec.replicas', currentValue: 1, proposedValue: 'two' },
        file: { path: 'a.yaml', index: 1 },
        tags: { rule: 'one' },
      },
    ])
  },
  /** `message`, `name` of the object it complains about */
  'corpus-fail': (input) => {
    const [about] = named(input, requested(input, 'name'))
    const name = requested(input, 'name')
    const answer = failed(
      input.items,
      requested(input, 'message') ?? 'failed',
      about === undefined || name === undefined
        ? {}
        : {
            resourceRef: { apiVersion: 'v1', kind: textAt(about, 'kind') ?? '', name },
            field: { path: 'data.a' },
          },
    )
    return {
      ...answer,
      stderr: `said ${itemsAt(nodeAt(input.config, 'data')).length} things\nin two lines`,
    }
  },
}
