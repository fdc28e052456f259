/**
 * Functions of the corpus alone, for what no function of the catalog does: delete, move, make, report, fail. kpt runs them as programs
 * like the others, our render in process.
 */
import {
  createFailedOutput,
  createSuccess,
  type FunctionInput,
  type KrmFunction,
} from '@backporch/kpt/function'
import {
  createYamlMap,
  createYamlText,
  findNodeAt,
  findTextAt,
  listItemsAt,
  mapCreatedAt,
  removeEntry,
  setEntry,
  type YamlMap,
} from '@backporch/kyaml/yaml'

const PATH = 'internal.config.kubernetes.io/path'
const INDEX = 'internal.config.kubernetes.io/index'
const LEGACY_PATH = 'config.kubernetes.io/path'
const LEGACY_INDEX = 'config.kubernetes.io/index'

const requested = ({ config }: FunctionInput, name: string): string | undefined =>
  findTextAt(config, 'data', name)
const named = ({ items }: FunctionInput, name: string | undefined): readonly YamlMap[] =>
  items.filter((item) => findTextAt(item, 'metadata', 'name') === name)

function annotate(item: YamlMap, name: string, value: string): void {
  setEntry(mapCreatedAt(item, 'metadata', 'annotations'), name, createYamlText(value))
}

function created(input: FunctionInput): YamlMap {
  const metadata = createYamlMap()
  for (const field of ['name', 'namespace']) {
    const value = requested(input, field)
    if (value !== undefined) setEntry(metadata, field, createYamlText(value))
  }
  const object = createYamlMap([
    ['apiVersion', createYamlText('v1')],
    ['kind', createYamlText(requested(input, 'kind') ?? 'ConfigMap')],
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
  'corpus-identity': ({ items }) => createSuccess(items),
  /** Gives back nothing. */
  'corpus-empty': () => createSuccess([]),
  /** `name` */
  'corpus-delete': (input) =>
    createSuccess(
      input.items.filter((item) => !named(input, requested(input, 'name')).includes(item)),
    ),
  'corpus-reverse': ({ items }) => createSuccess(items.toReversed()),
  /** `name`, `namespace`, `kind`, `path`, `index`; `first` for a place before all others */
  'corpus-create': (input) =>
    createSuccess(
      requested(input, 'first') === undefined
        ? [...input.items, created(input)]
        : [created(input), ...input.items],
    ),
  /** `name`, `to` */
  'corpus-rename': (input) => {
    for (const item of named(input, requested(input, 'name')))
      setEntry(mapCreatedAt(item, 'metadata'), 'name', createYamlText(requested(input, 'to') ?? ''))
    return createSuccess(input.items)
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
    return createSuccess(input.items)
  },
  /** `name`: all its annotations go, those of kpt too. */
  'corpus-strip': (input) => {
    for (const item of named(input, requested(input, 'name')))
      removeEntry(mapCreatedAt(item, 'metadata'), 'annotations')
    return createSuccess(input.items)
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
    return createSuccess(items)
  },
  /** Reports how many objects it got, and which. */
  'corpus-count': ({ items }) =>
    createSuccess(items, [
      {
        message: `${items.length}: ${items.map((item) => `${findTextAt(item, 'kind')}/${findTextAt(item, 'metadata', 'name')}`).join(' ')}`,
        severity: 'info',
      },
    ]),
  /** `message`, `severity` */
  'corpus-report': (input) => {
    const severity = requested(input, 'severity')
    return createSuccess(input.items, [
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
    const answer = createFailedOutput(
      input.items,
      requested(input, 'message') ?? 'failed',
      about === undefined || name === undefined
        ? {}
        : {
            resourceRef: { apiVersion: 'v1', kind: findTextAt(about, 'kind') ?? '', name },
            field: { path: 'data.a' },
          },
    )
    return {
      ...answer,
      stderr: `said ${listItemsAt(findNodeAt(input.config, 'data')).length} things\nin two lines`,
    }
  },
}
