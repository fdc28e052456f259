/**
 * A small stand-in for `kpt live apply --server-side`: renders a package and applies what it declares, keeps the inventory, and deletes what
 * the inventory holds and the commit does not. Plain requests, because a demo machine has neither kpt nor kubectl.
 */
import { answerCalls } from '@backporch/kpt/function'
import { isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { listDocumentObjects, parseGoYaml } from '@backporch/kyaml/read-yaml'
import { type Resource, readResource } from '@backporch/kyaml/resource'
import { builtInFunctions } from '../../functions/built-in-functions.ts'
import { renderPackage } from '../../src/sources/kpt/render/render-package.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { filesOf } from '../fakes/pipeline-files.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import { send } from './send.ts'

/** Where objects of the demo's kinds lie. */
const PLURALS: Readonly<Record<string, string>> = {
  ConfigMap: 'configmaps',
  Deployment: 'deployments',
  PodDisruptionBudget: 'poddisruptionbudgets',
  ResourceGroup: 'resourcegroups',
  Secret: 'secrets',
  ServiceAccount: 'serviceaccounts',
}

export interface SyncerFiles {
  /** Text by path from the root of the repository. */
  readonly [path: string]: string
}

/** Makes the namespace and teaches the server the kind of kpt's inventory. */
export async function prepareCluster(plane: ControlPlane, namespace: string): Promise<void> {
  await send(plane, 'POST', '/api/v1/namespaces', {
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  })
  await send(plane, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: RESOURCE_GROUP_CRD,
  })
  const isServed = async () =>
    (await plane.request('GET', '/apis/kpt.dev/v1alpha1/resourcegroups')).status === 200
  await waitUntil('the ResourceGroup kind is served', isServed)
}

/** Applies every manifest of the package in `files`. */
export async function syncPackage(
  plane: ControlPlane,
  files: SyncerFiles,
  packagePath: string,
  manager: string,
): Promise<void> {
  const inventory = manifestsOf(files, packagePath).find(({ id }) => id.kind === 'ResourceGroup')
  const declared = render(files, packagePath)
  for (const resource of declared) await apply(plane, resource, manager)
  if (inventory === undefined) return
  for (const id of await listed(plane, inventory)) {
    const retained = declared.some((one) => one.id.kind === id.kind && one.id.name === id.name)
    if (!retained)
      await send(plane, 'DELETE', pathOf(id.group === '' ? 'v1' : `${id.group}/v1`, id))
  }
  const entries = declared.map(({ id: { group, kind, namespace, name } }) => ({
    group,
    kind,
    namespace,
    name,
  }))
  await apply(
    plane,
    { ...inventory, object: { ...inventory.object, spec: { resources: entries } } },
    manager,
  )
}

/** @returns without the inventory */
function render(files: SyncerFiles, packagePath: string): readonly Resource[] {
  const texts = Object.entries(files).flatMap(([path, text]) =>
    path.startsWith(`${packagePath}/`) ? [[path.slice(packagePath.length + 1), text]] : [],
  )
  const given = filesOf(Object.fromEntries(texts))
  const rendering = answerCalls(renderPackage(packagePath, given), builtInFunctions)
  if ('failures' in rendering) throw rendering.failures[0] ?? new Error(packagePath)
  return rendering.desired.resources.filter(({ id }) => id.kind !== 'ResourceGroup')
}

function manifestsOf(files: SyncerFiles, packagePath: string): Resource[] {
  return Object.entries(files).flatMap(([path, text]) => {
    if (!path.startsWith(`${packagePath}/`) || !path.endsWith('.yaml')) return []
    return parseGoYaml(text, path).documents.flatMap((document) =>
      listDocumentObjects(document, text, path).map(({ object }) => {
        const resource = readResource(object)
        if ('problem' in resource) throw new Error(`${path}: ${resource.problem}`)
        return resource
      }),
    )
  })
}

async function apply(
  plane: ControlPlane,
  { apiVersion, id, object }: Resource,
  manager: string,
): Promise<void> {
  await send(plane, 'PATCH', `${pathOf(apiVersion, id)}?fieldManager=${manager}&force=true`, {
    body: object,
    contentType: 'application/apply-patch+yaml',
  })
}

interface Entry {
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** What the live inventory holds; nothing before the first apply. */
async function listed(
  plane: ControlPlane,
  { apiVersion, id }: Resource,
): Promise<readonly Entry[]> {
  const { status, body } = await plane.request<JsonObject>('GET', pathOf(apiVersion, id))
  const spec = status === 200 ? body['spec'] : undefined
  const entries = isJsonObject(spec) ? spec['resources'] : undefined
  if (!Array.isArray(entries)) return []
  return entries.filter(isJsonObject).map((entry) => ({
    group: String(entry['group']),
    kind: String(entry['kind']),
    namespace: String(entry['namespace']),
    name: String(entry['name']),
  }))
}

function pathOf(apiVersion: string, { kind, namespace, name }: Omit<Entry, 'group'>): string {
  const plural = PLURALS[kind]
  if (plural === undefined) throw new Error(`the demo's syncer does not know ${kind}`)
  return `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}/namespaces/${namespace}/${plural}/${name}`
}

/** As `kpt live install-resource-group` makes it, without the descriptions. */
const RESOURCE_GROUP_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'resourcegroups.kpt.dev' },
  spec: {
    group: 'kpt.dev',
    names: {
      kind: 'ResourceGroup',
      listKind: 'ResourceGroupList',
      plural: 'resourcegroups',
      singular: 'resourcegroup',
    },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
}
