/** Sources of Config Sync for the cluster `defaultcluster` (another one is `b`): fixed ones for each rule, and random ones. */
import fc from 'fast-check'
import type { ConfigSyncSource } from '../../src/sources/config-sync/config-sync-folder.ts'

export interface ConfigSyncCase {
  readonly format: ConfigSyncSource['format']
  readonly files: { readonly [path: string]: string }
}

export const CLUSTER = 'defaultcluster'

type Marks = { readonly [name: string]: string }

function object(
  apiVersion: string,
  kind: string,
  name: string,
  { annotations, ...more }: { annotations?: Marks; [field: string]: unknown } = {},
): string {
  const { namespace, labels, ...rest } = more
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  }
  return `${JSON.stringify({ apiVersion, kind, metadata, ...rest })}\n`
}

const OWN = 'configmanagement.gke.io/v1'
const CLUSTER_NAMES = 'configsync.gke.io/cluster-name-selector'
const CLUSTER_SELECTOR = 'configmanagement.gke.io/cluster-selector'
const NAMESPACE_SELECTOR = 'configmanagement.gke.io/namespace-selector'

const repo = object(OWN, 'Repo', 'repo', { spec: { version: '1.0.0' } })
const namespace = (name: string, labels?: Marks, annotations?: Marks): string =>
  object('v1', 'Namespace', name, {
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  })
const config = (
  name: string,
  annotations?: Marks,
  more: { [field: string]: unknown } = {},
): string =>
  object('v1', 'ConfigMap', name, {
    ...(annotations === undefined ? {} : { annotations }),
    ...more,
    data: { of: name },
  })
const selector = (
  name: string,
  matchLabels: Marks,
  more: { [field: string]: unknown } = {},
): string =>
  object(OWN, 'NamespaceSelector', name, { spec: { selector: { matchLabels }, ...more } })
const cluster = (name: string, labels: Marks): string =>
  object('clusterregistry.k8s.io/v1alpha1', 'Cluster', name, { labels })
const clusterSelector = (name: string, spec: unknown): string =>
  object(OWN, 'ClusterSelector', name, { spec: { selector: spec } })
const inherits = (kind: string, hierarchyMode: string, group = ''): string =>
  object(OWN, 'HierarchyConfig', 'config', {
    spec: { resources: [{ group, kinds: [kind], hierarchyMode }] },
  })

const TREE = {
  'system/repo.yaml': repo,
  'namespaces/eng/prod/namespace.yaml': namespace('prod', { env: 'prod' }),
  'namespaces/eng/dev/namespace.yaml': namespace('dev', { env: 'dev' }),
  'namespaces/ops/namespace.yaml': namespace('ops'),
}
const SELECTORS = {
  'clusterregistry/a.yaml': cluster(CLUSTER, { env: 'prod', zone: 'eu' }),
  'clusterregistry/b.yaml': cluster('b', { env: 'dev' }),
  'clusterregistry/prod.yaml': clusterSelector('prod', { matchLabels: { env: 'prod' } }),
  'clusterregistry/dev.yaml': clusterSelector('dev', { matchLabels: { env: 'dev' } }),
}

function hierarchy(files: { readonly [path: string]: string }): ConfigSyncCase {
  return { format: 'hierarchy', files: { ...TREE, ...files } }
}

function unstructured(files: { readonly [path: string]: string }): ConfigSyncCase {
  return { format: 'unstructured', files }
}

const [PROD, DEV] = [
  namespace('prod', { env: 'prod' }),
  namespace('dev', { env: 'dev', 'on-call': 'yes' }),
]

const FIXED: { readonly [name: string]: ConfigSyncCase } = {
  'inherits from every folder above': hierarchy({
    'namespaces/top.yaml': config('top'),
    'namespaces/eng/mid.yaml': config('mid'),
    'namespaces/ops/own.yaml': config('own'),
  }),
  'files elsewhere are not read': hierarchy({
    'README.yaml': 'not: [an, object\n',
    'docs/a.yaml': config('docs'),
    'namespaces/ops/a.yaml': config('a'),
  }),
  'a selector of namespaces in the cluster': hierarchy({
    'namespaces/eng/prod.yaml': selector('prod', { env: 'prod' }),
    'cluster/role.yaml': object('rbac.authorization.k8s.io/v1', 'ClusterRole', 'reader', {
      annotations: { [NAMESPACE_SELECTOR]: 'prod' },
      rules: [],
    }),
  }),
  'a folder of the cluster': hierarchy({
    'cluster/role.yaml': object('rbac.authorization.k8s.io/v1', 'ClusterRole', 'reader', {
      rules: [],
    }),
    'cluster/deep/class.json': object('storage.k8s.io/v1', 'StorageClass', 'fast', {
      provisioner: 'x',
    }),
  }),
  'a list and several documents': hierarchy({
    'namespaces/eng/all.yaml': `${config('one')}---\n{"apiVersion": "v1", "kind": "List", "items": [${config('two')}]}\n`,
  }),
  'a namespace that is said again': hierarchy({
    'namespaces/ops/a.yaml': config('a', undefined, { namespace: 'ops' }),
  }),
  'another namespace than the folder': hierarchy({
    'namespaces/ops/a.yaml': config('a', undefined, { namespace: 'dev' }),
  }),
  'a namespace in a folder of another name': hierarchy({
    'namespaces/other/namespace.yaml': namespace('x'),
  }),
  'a namespace at the top': hierarchy({ 'namespaces/namespace.yaml': namespace('namespaces') }),
  'a namespace in the cluster folder': hierarchy({ 'cluster/x/namespace.yaml': namespace('x') }),
  'two namespaces in a folder': hierarchy({ 'namespaces/ops/again.yaml': namespace('ops') }),
  'a folder below a namespace': hierarchy({ 'namespaces/ops/deep/a.yaml': config('a') }),
  'a namespace below a namespace': hierarchy({
    'namespaces/ops/deep/namespace.yaml': namespace('deep'),
  }),
  'no namespace below': hierarchy({ 'namespaces/empty/a.yaml': config('a') }),
  'no Repo': { format: 'hierarchy', files: { 'namespaces/ops/namespace.yaml': namespace('ops') } },
  'two Repos': hierarchy({ 'system/again.yaml': repo.replace('"repo"', '"again"') }),
  'a kind that is not inherited': hierarchy({
    'system/config.yaml': inherits('ConfigMap', 'none'),
    'namespaces/eng/a.yaml': config('a'),
  }),
  'a kind that is not inherited, in a namespace': hierarchy({
    'system/config.yaml': inherits('ConfigMap', 'none'),
    'namespaces/ops/a.yaml': config('a'),
  }),
  'a kind that is inherited': hierarchy({
    'system/config.yaml': inherits('ConfigMap', 'inherit'),
    'namespaces/eng/a.yaml': config('a'),
  }),
  'another group that is not inherited': hierarchy({
    'system/config.yaml': inherits('ConfigMap', 'none', 'apps'),
    'namespaces/eng/a.yaml': config('a'),
  }),
  'a selector of namespaces': hierarchy({
    'namespaces/eng/prod.yaml': selector('prod', { env: 'prod' }),
    'namespaces/eng/a.yaml': config('a', { [NAMESPACE_SELECTOR]: 'prod' }),
  }),
  'a selector that selects nothing': hierarchy({
    'namespaces/eng/none.yaml': selector('none', { env: 'none' }),
    'namespaces/eng/a.yaml': config('a', { [NAMESPACE_SELECTOR]: 'none' }),
  }),
  'a selector by the depth of the tree': hierarchy({
    'namespaces/eng.yaml': selector('eng', { 'eng.tree.hnc.x-k8s.io/depth': '1' }),
    'namespaces/a.yaml': config('a', { [NAMESPACE_SELECTOR]: 'eng' }),
  }),
  'a selector that is not there': hierarchy({
    'namespaces/eng/a.yaml': config('a', { [NAMESPACE_SELECTOR]: 'none' }),
  }),
  'a selector of another folder': hierarchy({
    'namespaces/eng/prod.yaml': selector('prod', { env: 'prod' }),
    'namespaces/ops/a.yaml': config('a', { [NAMESPACE_SELECTOR]: 'prod' }),
  }),
  'a selector in a namespace': hierarchy({
    'namespaces/ops/prod.yaml': selector('prod', { env: 'prod' }),
  }),
  'an empty selector': hierarchy({
    'namespaces/eng/all.yaml': selector('all', {}),
    'namespaces/eng/a.yaml': config('a', { [NAMESPACE_SELECTOR]: 'all' }),
  }),
  'clusters by name': hierarchy({
    'namespaces/ops/a.yaml': config('a', { [CLUSTER_NAMES]: 'x, DefaultCluster' }),
    'namespaces/ops/b.yaml': config('b', { [CLUSTER_NAMES]: 'b' }),
  }),
  'clusters by label': hierarchy({
    ...SELECTORS,
    'namespaces/ops/a.yaml': config('a', { [CLUSTER_SELECTOR]: 'prod' }),
  }),
  'clusters by label, another one': hierarchy({
    ...SELECTORS,
    'namespaces/ops/a.yaml': config('a', { [CLUSTER_SELECTOR]: 'dev' }),
  }),
  'a namespace of another cluster': hierarchy({
    'namespaces/only/namespace.yaml': namespace('only', undefined, { [CLUSTER_NAMES]: 'b' }),
    'namespaces/only/a.yaml': config('a'),
  }),
  'a folder whose namespaces are all of another cluster': hierarchy({
    'namespaces/eu/only/namespace.yaml': namespace('only', undefined, { [CLUSTER_NAMES]: 'b' }),
    'namespaces/eu/a.yaml': config('a'),
  }),
  'an object that is not managed': hierarchy({
    'namespaces/ops/a.yaml': config('a', { 'configmanagement.gke.io/managed': 'disabled' }),
  }),
  'a namespace that is not managed': hierarchy({
    'namespaces/left/namespace.yaml': namespace('left', undefined, {
      'configmanagement.gke.io/managed': 'disabled',
    }),
    'namespaces/left/a.yaml': config('a'),
  }),
  'a namespace twice after a selection': unstructured({
    'a.yaml': namespace('x', undefined, { [CLUSTER_NAMES]: CLUSTER }),
    'b.yaml': namespace('x', { n: 'b' }, { [CLUSTER_NAMES]: 'b' }),
    'c.yaml': config('c', undefined, { namespace: 'x' }),
  }),
  'no namespace in files': unstructured({
    'deep/a.yaml': config('a'),
    'b.json': config('b', undefined, { namespace: 'ops' }),
  }),
  'namespaces that a selector selects': unstructured({
    'p.yaml': PROD,
    'd.yaml': DEV,
    's.yaml': selector('s', { env: 'prod' }),
    'a.yaml': config('a', { [NAMESPACE_SELECTOR]: 's' }),
  }),
  'namespaces by expressions': unstructured({
    'p.yaml': PROD,
    'd.yaml': DEV,
    'o.yaml': namespace('ops'),
    's.yaml': object(OWN, 'NamespaceSelector', 's', {
      spec: {
        selector: {
          matchExpressions: [
            { key: 'env', operator: 'NotIn', values: ['prod'] },
            { key: 'on-call', operator: 'DoesNotExist' },
          ],
        },
      },
    }),
    't.yaml': object(OWN, 'NamespaceSelector', 't', {
      spec: {
        selector: {
          matchExpressions: [
            { key: 'env', operator: 'In', values: ['prod', 'dev'] },
            { key: 'env', operator: 'Exists' },
          ],
        },
      },
    }),
    'a.yaml': config('a', { [NAMESPACE_SELECTOR]: 's' }),
    'b.yaml': config('b', { [NAMESPACE_SELECTOR]: 't' }),
  }),
  'a namespace and a selector': unstructured({
    'p.yaml': PROD,
    's.yaml': selector('s', { env: 'prod' }),
    'a.yaml': config('a', { [NAMESPACE_SELECTOR]: 's' }, { namespace: 'prod' }),
  }),
  'a selector that is not there, in files': unstructured({
    'p.yaml': PROD,
    'a.yaml': config('a', { [NAMESPACE_SELECTOR]: 's' }),
  }),
  'both selectors of clusters': unstructured({
    's.yaml': clusterSelector('s', { matchLabels: { a: 'b' } }),
    'a.yaml': config('a', { [CLUSTER_SELECTOR]: 's', [CLUSTER_NAMES]: CLUSTER }),
  }),
  'a cluster that is not declared': unstructured({
    's.yaml': clusterSelector('s', {
      matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['prod'] }],
    }),
    'a.yaml': config('a', { [CLUSTER_SELECTOR]: 's' }),
  }),
  'a namespace of another cluster, in files': unstructured({
    'n.yaml': namespace('x', undefined, { [CLUSTER_NAMES]: 'b' }),
    'a.yaml': config('a', undefined, { namespace: 'x' }),
  }),
  'kinds of the other format': unstructured({ 'r.yaml': repo }),
  'a selector of clusters that is empty': unstructured({
    's.yaml': clusterSelector('s', {}),
    'a.yaml': config('a', { [CLUSTER_SELECTOR]: 's' }),
  }),
}

const FOLDERS = [
  'namespaces',
  'namespaces/eng',
  'namespaces/eng/eu',
  'namespaces/eng/prod',
  'namespaces/eng/eu/dev',
  'namespaces/ops',
  'cluster',
  'other',
]
const ENVIRONMENTS = fc.constantFrom('prod', 'dev', 'test')

const MARKS: fc.Arbitrary<Marks | undefined> = fc.oneof(
  { weight: 5, arbitrary: fc.constant(undefined) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(CLUSTER, 'b', `b,${CLUSTER}`, ' DEFAULTCLUSTER ')
      .map((names) => ({ [CLUSTER_NAMES]: names })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('prod', 'dev').map((name) => ({ [NAMESPACE_SELECTOR]: name })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('prod', 'dev').map((name) => ({ [CLUSTER_SELECTOR]: name })),
  },
  { weight: 1, arbitrary: fc.constant({ 'configmanagement.gke.io/managed': 'disabled' }) },
)

const NAMESPACE = fc
  .tuple(
    fc.constantFrom(
      'namespaces/eng/prod',
      'namespaces/eng/eu/dev',
      'namespaces/ops',
      'namespaces/eng/eu/test',
    ),
    ENVIRONMENTS,
    MARKS,
  )
  .map(([folder, env, marks]) => {
    const name = folder.slice(folder.lastIndexOf('/') + 1)
    const plain = marks?.[NAMESPACE_SELECTOR] === undefined ? marks : undefined
    return [`${folder}/namespace.yaml`, namespace(name, { env }, plain)] as const
  })
const CONFIG = fc.tuple(fc.constantFrom(...FOLDERS), MARKS)

/** Names differ, and what is in a namespace or in the cluster names no selector of namespaces, but for a few. */
function placed(
  [folder, marks]: readonly [string, Marks | undefined],
  index: number,
): readonly [string, string] {
  const isAbove =
    ['namespaces', 'namespaces/eng', 'namespaces/eng/eu'].includes(folder) ||
    (index === 5 && folder !== 'cluster')
  const kept = marks?.[NAMESPACE_SELECTOR] === undefined || isAbove ? marks : undefined
  const role = object('rbac.authorization.k8s.io/v1', 'ClusterRole', `c${index}`, {
    ...(kept === undefined ? {} : { annotations: kept }),
    rules: [],
  })
  return [`${folder}/c${index}.yaml`, folder === 'cluster' ? role : config(`c${index}`, kept)]
}

const RANDOM: fc.Arbitrary<ConfigSyncCase> = fc
  .tuple(
    fc.constantFrom('hierarchy', 'unstructured'),
    fc.array(NAMESPACE, { minLength: 3, maxLength: 6 }),
    fc.array(CONFIG, { minLength: 1, maxLength: 6 }),
  )
  .map(([format, namespaces, configs]): ConfigSyncCase => {
    const files = Object.fromEntries([...namespaces, ...configs.map(placed)])
    const selectors = {
      ...SELECTORS,
      'namespaces/prod.yaml': selector('prod', { env: 'prod' }),
      'namespaces/dev.yaml': selector('dev', { env: 'dev' }),
    }
    return format === 'hierarchy'
      ? { format, files: { 'system/repo.yaml': repo, ...selectors, ...files } }
      : { format: 'unstructured', files: { ...selectors, ...files } }
  })

export const CASES: { readonly [name: string]: ConfigSyncCase } = {
  ...FIXED,
  ...Object.fromEntries(
    fc
      .sample(RANDOM, { seed: 20_261_126, numRuns: 300 })
      .map((each, index) => [`random ${index + 1}`, each]),
  ),
}
