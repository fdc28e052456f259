/** Secrets that a controller generates from a SealedSecret or an ExternalSecret in git belong to the controller. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey } from '@backporch/kyaml/resource'
import {
  HELM_MARKS,
  InventoryWorld,
  KUSTOMIZE_MARKS,
  type Marks,
  marked,
} from '../../../test/fakes/inventory-world.ts'
import { appliedBy, withMetadata } from '../../../test/fakes/live-object.ts'
import { yaml } from '../../../test/fakes/turn-world.ts'

const SEALED = `apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: {name: db, namespace: shop}
spec:
  encryptedData: {password: AgBy3i4OJSWK+PiTySYZZA9rO43cGDEq}
  template: {metadata: {labels: {app: db}}}
`
const EXTERNAL = `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: db, namespace: shop, labels: {app: db}}
spec:
  refreshInterval: 1h
  secretStoreRef: {kind: SecretStore, name: vault}
  target: {name: db}
  dataFrom: [{extract: {key: db}}]
`
/** What External Secrets writes on a Secret (external-secrets `pkg/controllers/externalsecret/externalsecret_controller.go`). */
const EXTERNAL_MARKS: Marks = {
  labels: {
    app: 'db',
    'reconcile.external-secrets.io/created-by': 'a1b2',
    'reconcile.external-secrets.io/managed': 'true',
  },
  annotations: { 'reconcile.external-secrets.io/data-hash': 'a1b2' },
}
/** What is copied from the template of a SealedSecret that sets no owner. */
const WITHOUT_OWNER: Marks = {
  annotations: { 'sealedsecrets.bitnami.com/skip-set-owner-references': 'true' },
}
const TOOLS = {
  SealedSecret: {
    file: SEALED,
    apiVersion: 'bitnami.com/v1alpha1',
    managers: ['controller', 'sealed-secrets-controller'],
    marks: WITHOUT_OWNER,
  },
  ExternalSecret: {
    file: EXTERNAL,
    apiVersion: 'external-secrets.io/v1',
    managers: ['external-secrets', 'externalsecrets.external-secrets.io/db'],
    marks: EXTERNAL_MARKS,
  },
} as const

function generated(
  kind: keyof typeof TOOLS,
  manager: string,
  owned: boolean,
  copied: Marks = {},
): JsonObject {
  const { apiVersion, marks } = TOOLS[kind]
  const secret = appliedBy(manager, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'db', namespace: 'shop' },
    data: { password: 'cGxhaW4=' },
  })
  const all = {
    labels: { ...marks, ...copied.labels, ...(marks as Marks).labels },
    annotations: { ...copied.annotations, ...(marks as Marks).annotations },
  }
  const owner = [
    { apiVersion, kind, name: 'db', uid: 'u', controller: true, blockOwnerDeletion: true },
  ]
  return marked(owned ? withMetadata(secret, { ownerReferences: owner }) : secret, all)
}

async function told(world: InventoryWorld) {
  const { units, unmanaged } = await world.scan({ dryRun: true, unmanaged: true })
  const [unit] = units
  assert.ok(unit?.state === 'planned')
  const { report } = unit.plan
  return {
    changes: report.spec.changes.map(
      ({ change, ref, path }) => `${change} ${ref.kind}/${ref.name} ${path ?? ''}`,
    ),
    unmanaged: unmanaged.flatMap(({ objects }) => objects.map(({ id }) => getResourceKey(id))),
    state: report.status.state,
  }
}

const CALM = { changes: [], unmanaged: [], state: 'InSync' }

for (const [kind, { file, managers }] of Object.entries(TOOLS) as [
  keyof typeof TOOLS,
  (typeof TOOLS)[keyof typeof TOOLS],
][]) {
  for (const manager of managers)
    for (const owned of [true, false])
      test(`the Secret that ${manager} generated for a ${kind} ${owned ? 'with' : 'without'} an owner is neither drift nor unmanaged`, async () => {
        const world = new InventoryWorld({ 'apps/web/secret.yaml': file })
        world.cluster.put(appliedBy(world.syncer, yaml(file)))
        world.cluster.put(generated(kind, manager, owned))
        assert.deepEqual(await told(world), CALM)
      })

  for (const [what, marks] of [
    ['Flux', KUSTOMIZE_MARKS],
    ['Helm', HELM_MARKS],
    [
      'Argo CD',
      {
        annotations: {
          'argocd.argoproj.io/tracking-id': `web:${TOOLS[kind].apiVersion.split('/')[0]}/${kind}:shop/db`,
        },
      },
    ],
    ['kpt', { annotations: { 'config.k8s.io/owning-inventory': 'inventory-1' } }],
  ] as const)
    for (const owned of [true, false])
      test(`the Secret of a ${kind} with copied marks of ${what} ${owned ? 'with' : 'without'} an owner is not unexpected`, async () => {
        const world = new InventoryWorld({ 'apps/web/secret.yaml': file }).mark(marks)
        world.cluster.put(marked(appliedBy(world.syncer, yaml(file)), marks))
        world.cluster.put(generated(kind, managers[0], owned, marks))
        const { changes, unmanaged } = await told(world)
        assert.deepEqual([changes, unmanaged], [[], []])
      })
}

test('fields that External Secrets merges into a Secret in git are no drift', async () => {
  const secret =
    'apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\ndata: {user: YQ==}\n'
  const world = new InventoryWorld({
    'apps/web/secret.yaml': `${EXTERNAL.replace('{name: db}', '{name: db, creationPolicy: Merge}')}---\n${secret}`,
  })
  world.cluster.put(appliedBy(world.syncer, yaml(secret)))
  world.cluster.put(
    appliedBy(
      world.syncer,
      yaml(EXTERNAL.replace('{name: db}', '{name: db, creationPolicy: Merge}')),
    ),
  )
  const writer = 'externalsecrets.external-secrets.io/db'
  world.edit(
    '/Secret/shop/db',
    'metadata.labels["reconcile.external-secrets.io/managed"]',
    'true',
    writer,
  )
  world.edit('/Secret/shop/db', 'data.password', 'cGxhaW4=', writer)
  assert.deepEqual((await told(world)).changes, [])
  world.edit('/Secret/shop/db', 'data.user', 'Yg==', writer)
  world.edit('/Secret/shop/db', 'data.more', 'Yg==')
  assert.deepEqual((await told(world)).changes, [
    'modified Secret/db data.user',
    'added Secret/db data.more',
  ])
})
