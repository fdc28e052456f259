/**
 * From kpt v1.0.0-beta.56 to August 2026 (kpt `api/kptfile/v1/types.go`). An unknown field makes
 * every kpt command fail. Fields of a newer kpt are accepted (docs/facts/kptfile-strictness.md).
 */
import { cleanPath } from './clean-path.ts'

export type Shape =
  | { readonly kind: 'text' }
  /** With free keys: labels, annotations, configMap. */
  | { readonly kind: 'texts' }
  | { readonly kind: 'object'; readonly fields: { readonly [name: string]: Shape } }
  | { readonly kind: 'list'; readonly item: Shape }
  /** Written by kpt and not read here. */
  | { readonly kind: 'any' }

const TEXT: Shape = { kind: 'text' }
const TEXTS: Shape = { kind: 'texts' }
const ANY: Shape = { kind: 'any' }

function createObjectShape(fields: { readonly [name: string]: Shape }): Shape {
  return { kind: 'object', fields }
}

function list(item: Shape): Shape {
  return { kind: 'list', item }
}

const SELECTOR = createObjectShape({
  apiVersion: TEXT,
  kind: TEXT,
  name: TEXT,
  namespace: TEXT,
  labels: TEXTS,
  annotations: TEXTS,
  resourceFileRegexp: TEXT,
})
const FUNCTION = createObjectShape({
  image: TEXT,
  exec: TEXT,
  configPath: TEXT,
  configMap: TEXTS,
  configRef: createObjectShape({ apiVersion: TEXT, kind: TEXT, name: TEXT, namespace: TEXT }),
  name: TEXT,
  tag: TEXT,
  when: TEXT,
  resourceFileRegexp: TEXT,
  selectors: list(SELECTOR),
  exclude: list(SELECTOR),
})

export const KPTFILE_SHAPE: Shape = createObjectShape({
  apiVersion: TEXT,
  kind: TEXT,
  metadata: createObjectShape({ name: TEXT, namespace: TEXT, labels: TEXTS, annotations: TEXTS }),
  upstream: createObjectShape({
    type: TEXT,
    git: createObjectShape({ repo: TEXT, directory: TEXT, ref: TEXT }),
    updateStrategy: TEXT,
    preserveExplicitNull: TEXT,
  }),
  upstreamLock: createObjectShape({
    type: TEXT,
    git: createObjectShape({ repo: TEXT, directory: TEXT, ref: TEXT, commit: TEXT }),
    generic: createObjectShape({ storeID: TEXT, resourceID: TEXT, resourceVersion: TEXT }),
  }),
  info: createObjectShape({
    site: TEXT,
    emails: list(TEXT),
    license: TEXT,
    licenseFile: TEXT,
    description: TEXT,
    keywords: list(TEXT),
    man: TEXT,
    readinessGates: list(createObjectShape({ conditionType: TEXT })),
  }),
  pipeline: createObjectShape({ mutators: list(FUNCTION), validators: list(FUNCTION) }),
  inventory: createObjectShape({
    namespace: TEXT,
    name: TEXT,
    inventoryID: TEXT,
    labels: TEXTS,
    annotations: TEXTS,
  }),
  status: createObjectShape({
    conditions: list(createObjectShape({ type: TEXT, status: TEXT, reason: TEXT, message: TEXT })),
    renderStatus: ANY,
  }),
})

export const KPTFILE_API_VERSION = 'kpt.dev/v1'
export const KPTFILE_KIND = 'Kptfile'

const HOST = '(?:[A-Za-z0-9][A-Za-z0-9-]*(?:\\.[A-Za-z0-9][A-Za-z0-9-]*)*(?::[0-9]+)?/)?'
const PATH_PART = '[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*'
const IMAGE = new RegExp(
  `^${HOST}${PATH_PART}(?:/${PATH_PART})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[a-z0-9]+:[0-9a-f]{32,})?$`,
)

/** Grammar of github.com/distribution/reference. */
export function isImageReference(text: string): boolean {
  return text.length <= 512 && IMAGE.test(text)
}

/** kpt refuses every path with two dots. */
export function findConfigPathProblem(path: string): string | undefined {
  if (path.trim() === '') return 'configPath is empty'
  if (path.startsWith('/')) return 'configPath is absolute'
  return cleanPath(path).includes('..') ? 'configPath leaves the package' : undefined
}
