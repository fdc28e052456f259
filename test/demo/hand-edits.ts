/** What people did to the demo's cluster by hand: the requests that `kubectl` sends for such commands, with its field managers. */
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { send } from './send.ts'

export interface HandEdit {
  /** As a person would type it. */
  readonly command: string
  /** RFC 3339 UTC, in the story. */
  readonly at: string
  readonly manager: string
  readonly method: 'PATCH' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: unknown
}

/** Put into the live Secret. Nothing that backporch writes may hold it, plain or in base64. */
export const CANARY = 'canary-8d1f0c-session-key'

const SHOP = '/api/v1/namespaces/shop'
const WEB = '/apis/apps/v1/namespaces/shop/deployments/web'

/** Two requests: the object, and the inventory that takes it in. */
const LAPTOP = 'kpt live apply, of a laptop copy of apps/web with one more file'

export const HAND_EDITS: readonly HandEdit[] = [
  {
    command: 'kubectl scale deployment/web --replicas=5',
    at: '2026-08-21T13:21:00Z',
    manager: 'kubectl-scale',
    method: 'PATCH',
    path: `${WEB}/scale`,
    body: { spec: { replicas: 5 } },
  },
  {
    command: 'kubectl set image deployment/web web=shop/web:1.8.3',
    at: '2026-08-21T13:24:00Z',
    manager: 'kubectl-set',
    method: 'PATCH',
    path: WEB,
    body: {
      spec: { template: { spec: { containers: [{ name: 'web', image: 'shop/web:1.8.3' }] } } },
    },
  },
  {
    command: 'kubectl set env deployment/web TRACE=on',
    at: '2026-08-21T13:24:00Z',
    manager: 'kubectl-set',
    method: 'PATCH',
    path: WEB,
    body: {
      spec: {
        template: {
          spec: { containers: [{ name: 'web', env: [{ name: 'TRACE', value: 'on' }] }] },
        },
      },
    },
  },
  {
    command: 'kubectl set resources deployment/orders --requests=cpu=200m',
    at: '2026-08-21T13:24:00Z',
    manager: 'kubectl-set',
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/shop/deployments/orders',
    body: {
      spec: {
        template: {
          spec: { containers: [{ name: 'orders', resources: { requests: { cpu: '200m' } } }] },
        },
      },
    },
  },
  {
    command: 'kubectl edit configmap/web-config',
    at: '2026-08-21T13:40:00Z',
    manager: 'kubectl-edit',
    method: 'PATCH',
    path: `${SHOP}/configmaps/web-config`,
    body: { data: { timeout: '90s', banner: null } },
  },
  {
    command: 'kubectl patch secret/web-session',
    at: '2026-08-21T13:44:00Z',
    manager: 'kubectl-patch',
    method: 'PATCH',
    path: `${SHOP}/secrets/web-session`,
    body: { data: { key: Buffer.from(CANARY).toString('base64') } },
  },
  {
    command: LAPTOP,
    at: '2026-08-21T13:47:00Z',
    manager: 'kubectl',
    method: 'POST',
    path: `${SHOP}/configmaps`,
    body: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'web-debug' },
      data: { level: 'trace' },
    },
  },
  {
    command: LAPTOP,
    at: '2026-08-21T13:47:00Z',
    manager: 'kubectl',
    method: 'PATCH',
    path: '/apis/kpt.dev/v1alpha1/namespaces/shop/resourcegroups/web',
    body: [
      {
        op: 'add',
        path: '/spec/resources/-',
        value: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web-debug' },
      },
    ],
  },
  {
    command: 'kubectl delete poddisruptionbudget/web',
    at: '2026-08-21T13:52:00Z',
    manager: 'kubectl-delete',
    method: 'DELETE',
    path: '/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web',
  },
]

export async function makeHandEdits(plane: ControlPlane): Promise<void> {
  for (const { method, path, manager, body } of HAND_EDITS) {
    if (method === 'DELETE') await send(plane, method, path)
    else
      await send(plane, method, `${path}?fieldManager=${manager}`, {
        body,
        ...(method === 'PATCH' && { contentType: patchTypeOf(path, body) }),
      })
  }
}

/** As kubectl: strategic where the server has a Go type for the kind. */
function patchTypeOf(path: string, body: unknown): string {
  if (Array.isArray(body)) return 'application/json-patch+json'
  return path.endsWith('/scale')
    ? 'application/merge-patch+json'
    : 'application/strategic-merge-patch+json'
}
