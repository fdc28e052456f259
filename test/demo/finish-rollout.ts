import type { ControlPlane } from '../controlplane/control-plane.ts'
import { send } from './send.ts'

const DEPLOYMENTS = ['orders', 'web'].map(
  (name) => `/apis/apps/v1/namespaces/shop/deployments/${name}`,
)

interface Deployment {
  readonly metadata: { readonly generation: number }
  readonly spec: { readonly replicas: number }
}

/** Write the status that the controller writes when all pods run: the plane has no nodes, and without one the health would be unknown. */
export async function finishRollouts(plane: ControlPlane): Promise<void> {
  for (const path of DEPLOYMENTS) await finishRollout(plane, path)
}

async function finishRollout(plane: ControlPlane, path: string): Promise<void> {
  const { body } = await plane.request<Deployment>('GET', path)
  const { replicas } = body.spec
  const status = {
    observedGeneration: body.metadata.generation,
    replicas,
    readyReplicas: replicas,
    updatedReplicas: replicas,
    availableReplicas: replicas,
    conditions: [
      { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
      { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
    ],
  }
  await send(plane, 'PATCH', `${path}/status?fieldManager=kube-controller-manager`, {
    body: { status },
    contentType: 'application/merge-patch+json',
  })
}
