/** A limit already counts as the request. */
import {
  type Configs,
  FunctionConfigError,
  type KubernetesObject,
  kubernetesObjectResult,
} from '../sdk/sdk.ts'

const RESOURCES = ['cpu', 'memory']
const QUANTITY = /^[0-9]+(?:\.[0-9]+)?(?:[munkMGTPE]|[KMGTPE]i)?$/

interface Container {
  readonly name: string
  resources?: { requests?: Record<string, unknown>; readonly limits?: Record<string, unknown> }
}

export function giveRequests(configs: Configs): void {
  const defaults = readDefaults(configs)
  for (const object of configs.getAll()) {
    for (const { path, container } of listContainers(object)) {
      for (const [resource, quantity] of defaults) {
        const { requests, limits } = container.resources ?? {}
        if (requests?.[resource] !== undefined || limits?.[resource] !== undefined) continue
        container.resources = {
          ...container.resources,
          requests: { ...requests, [resource]: quantity },
        }
        const field = {
          path: `${path}[name=${container.name}].resources.requests.${resource}`,
          suggestedValue: quantity,
        }
        configs.addResults(
          kubernetesObjectResult(`set the request ${resource}=${quantity}`, object, field, 'info'),
        )
      }
    }
  }
}
/** The same as the SDK has functions. */
export async function setDefaultRequests(configs: Configs): Promise<void> {
  giveRequests(configs)
}
setDefaultRequests.usage =
  'Sets requests of containers that have none. Config: a ConfigMap with the keys cpu and memory, or one of them.'

function readDefaults(configs: Configs): readonly (readonly [string, string])[] {
  const defaults = [...(configs.getFunctionConfigMap() ?? [])]
  if (defaults.length === 0)
    throw new FunctionConfigError(`the config has none of ${RESOURCES.join(', ')}`)
  for (const [resource, quantity] of defaults) {
    if (!RESOURCES.includes(resource))
      throw new FunctionConfigError(
        `the config has ${resource}, which is not one of ${RESOURCES.join(', ')}`,
      )
    if (!QUANTITY.test(quantity))
      throw new FunctionConfigError(`${resource} of the config is not a quantity: ${quantity}`)
  }
  // kpt changes the order of configMap entries between runs.
  return defaults.sort(([one], [other]) => (one < other ? -1 : 1))
}

const POD_SPECS = [
  { kinds: ['Pod'], path: ['spec'] },
  {
    kinds: ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job'],
    path: ['spec', 'template', 'spec'],
  },
  { kinds: ['CronJob'], path: ['spec', 'jobTemplate', 'spec', 'template', 'spec'] },
]

function* listContainers(
  object: KubernetesObject,
): Generator<{ readonly path: string; readonly container: Container }> {
  const path = POD_SPECS.find(({ kinds }) => kinds.includes(object.kind))?.path
  if (path === undefined) return
  const spec = path.reduce<unknown>((value, key) => (isMap(value) ? value[key] : undefined), object)
  for (const list of ['initContainers', 'containers']) {
    const containers = isMap(spec) ? spec[list] : undefined
    if (!Array.isArray(containers)) continue
    for (const container of containers) {
      if (isContainer(container)) yield { path: [...path, list].join('.'), container }
    }
  }
}

function isContainer(value: unknown): value is Container {
  if (!isMap(value) || typeof value['name'] !== 'string') return false
  const { resources = {} } = value
  if (!isMap(resources)) return false
  return ['requests', 'limits'].every(
    (list) => resources[list] === undefined || isMap(resources[list]),
  )
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
