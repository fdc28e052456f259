/** What Adopt writes for each kind of hand edit under each source. The table of docs/guides/rendering.md is made from it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { appliedBy, removedFrom } from '../../../../test/fakes/live-object.ts'
import { SyncedWorld } from '../../../../test/fakes/synced-world.ts'
import { KPTFILE, policyText, yaml } from '../../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../../test/kpt/find-kubectl.ts'
import { EDIT_KINDS, type EditKind, KINDS } from '../../../../test/sources/edit-kinds.ts'

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  template:
    spec:
      containers:
      - name: app
        image: nginx:1.0
        env:
        - name: LEVEL
          value: info
        readinessProbe:
          httpGet:
            path: /
            port: 80
`
const CONFIG =
  'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: shop\ndata:\n  size: "5"\n'
const SERVICE =
  'apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: shop\nspec:\n  ports:\n  - name: http\n    port: 80\n    protocol: TCP\n'
const FILES = {
  'shop/config.yaml': CONFIG,
  'shop/deployment.yaml': DEPLOYMENT,
  'shop/service.yaml': SERVICE,
}
const KUSTOMIZATION = {
  'shop/kustomization.yaml': 'resources:\n- config.yaml\n- deployment.yaml\n- service.yaml\n',
}

/** Stands for what each syncer applied last. */
const APPLIED = 'f'.repeat(40)
const FLUX = [
  `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {ref: {branch: main}, url: "ssh://git@/deploy"}
`,
  `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: flux-system}
spec:
  sourceRef: {kind: GitRepository, name: flux-system}
  path: ./shop
  prune: true
status: {lastAppliedRevision: main@sha1:${APPLIED}}
`,
]
const ARGO = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  project: default
  destination: {server: "https://kubernetes.default.svc", namespace: shop}
  source: {repoURL: "ssh://git@/deploy", path: shop}
status: {sync: {status: OutOfSync, revision: ${APPLIED}}, operationState: {phase: Succeeded, syncResult: {revision: ${APPLIED}}}}
`
const ROOT_SYNC = `apiVersion: configsync.gke.io/v1beta1
kind: RootSync
metadata: {name: root-sync, namespace: config-management-system}
spec:
  sourceFormat: unstructured
  git: {repo: "ssh://git@/deploy", branch: main, dir: /shop, auth: none}
status: {lastSyncedCommit: ${APPLIED}}
`

interface Row {
  readonly files?: { readonly [path: string]: string }
  readonly resources?: readonly string[]
  readonly manager: string
  /** What the syncer writes into the metadata of an object. */
  readonly marks?: (group: string, kind: string, name: string) => string
}

const ofPolicy = (tool: string): Readonly<Record<string, string>> => ({
  'shop/Kptfile': KPTFILE,
  '.drift/shop.yaml': policyText(
    `{priority: 9, match: {packages: ["shop"]}, mode: Propose, render: {tool: ${tool}}}`,
  ).replace('name: test', 'name: shop'),
})
const flux: Row = {
  resources: FLUX,
  manager: 'kustomize-controller',
  marks: () =>
    'labels: {kustomize.toolkit.fluxcd.io/name: shop, kustomize.toolkit.fluxcd.io/namespace: flux-system}',
}
const argo: Row = {
  resources: [ARGO],
  manager: 'argocd-controller',
  marks: (group, kind, name) =>
    `annotations: {"argocd.argoproj.io/tracking-id": "shop:${group}/${kind}:shop/${name}"}`,
}
const ROWS: { readonly [row: string]: Row } = {
  'a kpt package': { files: { 'shop/Kptfile': KPTFILE }, manager: 'kubectl' },
  'plain files': { files: ofPolicy('files'), manager: 'kubectl' },
  'a kustomization': { files: { ...ofPolicy('kustomize'), ...KUSTOMIZATION }, manager: 'kubectl' },
  'a Flux Kustomization of a plain folder': flux,
  'a Flux Kustomization': { ...flux, files: KUSTOMIZATION },
  'an Argo CD Application (directory)': argo,
  'an Argo CD Application (kustomize)': { ...argo, files: KUSTOMIZATION },
  'a RootSync of Config Sync': {
    resources: [ROOT_SYNC],
    manager: 'configsync.gke.io',
    marks: (group, kind, name) =>
      `annotations: {configmanagement.gke.io/managed: enabled, configsync.gke.io/manager: ":root", configsync.gke.io/resource-id: ${group}_${kind.toLowerCase()}_shop_${name}}`,
  },
}

function worldOf({ files = {}, resources = [], manager, marks }: Row): SyncedWorld {
  const world = new SyncedWorld({ ...FILES, ...files }, ['kubectl'])
  for (const [text, group, kind] of [
    [DEPLOYMENT, 'apps', 'Deployment'],
    [CONFIG, '', 'ConfigMap'],
    [SERVICE, '', 'Service'],
  ] as const)
    world.cluster.put(appliedBy(manager, yaml(marked(text, marks?.(group, kind, 'web')))))
  for (const text of resources) world.cluster.put(yaml(text))
  return world
}

function marked(text: string, marks: string | undefined): string {
  return marks === undefined
    ? text
    : text.replace('  namespace: shop\n', `  namespace: shop\n  ${marks}\n`)
}

const [WEB, SETTINGS, PORTS] = [
  'apps/Deployment/shop/web',
  '/ConfigMap/shop/web',
  '/Service/shop/web',
]
const APP = 'spec.template.spec.containers[name=app]'
const EDITS: { readonly [Kind in EditKind]: (world: SyncedWorld, row: Row) => void } = {
  value: (world) => world.edit(SETTINGS, 'data.size', '6'),
  key: (world) => world.edit(SETTINGS, 'data.color', 'red'),
  item: (world) => world.edit(WEB, `${APP}.env[name=COLOR]`, { name: 'COLOR', value: 'blue' }),
  block: (world) => world.cluster.change(WEB, (live) => removedFrom(live, `${APP}.readinessProbe`)),
  renamed: (world) => {
    world.cluster.change(PORTS, (live) => removedFrom(live, 'spec.ports[port=80,protocol=TCP]'))
    const port = { name: 'http', port: 81, protocol: 'TCP' }
    world.edit(PORTS, 'spec.ports[port=81,protocol=TCP]', port)
  },
  gone: (world) => {
    world.pass(120)
    world.cluster.objects.delete(SETTINGS)
  },
  added: (world, { manager, marks }) => {
    const text = CONFIG.replace('name: web', 'name: extra')
    world.cluster.put(appliedBy(manager, yaml(marked(text, marks?.('', 'ConfigMap', 'extra')))))
  },
}

test('the table has a row for each source', () => {
  assert.deepEqual(Object.keys(EDIT_KINDS), Object.keys(ROWS))
})

for (const [name, row] of Object.entries(ROWS))
  describe(`under ${name}`, { skip: whyNoKubectl() }, () => {
    for (const [kind, what] of Object.entries(KINDS) as [EditKind, string][])
      test(`${what} is adopted as the table says`, async () => {
        const expected = EDIT_KINDS[name]?.[kind]
        const world = worldOf(row)
        EDITS[kind](world, row)
        const { report } = await world.plan({ packages: ['shop'] })
        if (report.spec.changes.length === 0) return assert.equal('not reported', expected)
        const changed = Object.keys(await world.adoptedIn('shop'))
          .filter((path) => path !== 'shop/Kptfile')
          .map((path) => path.slice('shop/'.length))
        assert.deepEqual(changed.sort(), expected)
      })
  })
