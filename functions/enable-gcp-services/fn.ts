/** kptdev/krm-functions-catalog `functions/go/enable-gcp-services/gcpservices` */

import {
  createFailedOutput,
  createSuccess,
  type FunctionResult,
  findAnnotation,
  INDEX,
  type KrmFunction,
  LEGACY_INDEX,
  LEGACY_PATH,
  PATH,
  setAnnotation,
} from '@backporch/kpt/function'
import { goClean } from '@backporch/kpt/package'
import { omitUndefined } from '@backporch/kyaml/text'
import {
  createYamlMap,
  createYamlText,
  findTextAt,
  setEntry,
  type YamlMap,
} from '@backporch/kyaml/yaml'
import { readServiceSet, type ServiceSet } from './service-set.ts'

const GROUP = 'blueprints.cloud.google.com'
const KIND = 'ProjectServiceSet'
const LOCAL_CONFIG = 'config.kubernetes.io/local-config'
const OWNER = `${GROUP}/ownerReference`
/**
 * A service also inherits kpt's runtime annotations of its set, so kpt takes the service for the
 * set and gives it the comments and key order of the set.
 */
const NOT_INHERITED: ReadonlySet<string> = new Set([
  PATH,
  LEGACY_PATH,
  INDEX,
  LEGACY_INDEX,
  LOCAL_CONFIG,
])

/** v0.1.0. */
export const enableGcpServices: KrmFunction = ({ items }) => {
  const sets: ServiceSet[] = []
  for (const item of items) {
    if (findTextAt(item, 'apiVersion') !== `${GROUP}/v1alpha1` || findTextAt(item, 'kind') !== KIND)
      continue
    setAnnotation(item, LOCAL_CONFIG, 'true')
    const set = readServiceSet(item)
    if (typeof set === 'string') return createFailedOutput(items, `failed to add services: ${set}`)
    sets.push(set)
  }
  let left = items
  const generated: YamlMap[] = []
  const results: FunctionResult[] = []
  for (const set of sets) {
    if (set.services.length === 0)
      return createFailedOutput(
        items,
        'failed to add services: at least one service must be specified under `spec.services[]`',
      )
    const wrong = set.services.find((name) => name.split('.').length < 3)
    if (wrong !== undefined)
      return createFailedOutput(
        items,
        `failed to add services: invalid service specified: ${wrong}`,
      )
    const owner = goClean(`${GROUP}/${KIND}/${set.name}`)
    const own = left.filter((item) => findAnnotation(item, OWNER) === owner)
    left = left.filter((item) => !own.includes(item))
    const services = set.services.map((name) => createService(set, name, owner))
    generated.push(...services)
    results.push(...buildResults(own, services))
  }
  return createSuccess([...left, ...generated], results)
}

function createService(set: ServiceSet, resourceId: string, owner: string): YamlMap {
  const name = `${set.name}-${resourceId.split('.')[0]}`
  const service = createYamlMap([
    ['apiVersion', createYamlText('serviceusage.cnrm.cloud.google.com/v1beta1')],
    ['kind', createYamlText('Service')],
    ['metadata', createYamlMap([['name', createYamlText(name)]])],
    [
      'spec',
      createYamlMap([
        ['resourceID', createYamlText(resourceId)],
        ...(set.project === undefined
          ? []
          : ([
              ['projectRef', createYamlMap([['external', createYamlText(set.project)]])],
            ] as const)),
      ]),
    ],
  ])
  for (const [key, value] of set.annotations)
    if (!NOT_INHERITED.has(key)) setAnnotation(service, key, value)
  setAnnotation(service, OWNER, owner)
  const metadata = service.entries[2]?.value
  if (set.namespace !== undefined && metadata?.kind === 'map')
    setEntry(metadata, 'namespace', createYamlText(set.namespace))
  const folder = (set.annotations.get(PATH) ?? '').replace(/(^|\/)[^/]*$/, '')
  setAnnotation(
    service,
    PATH,
    goClean(
      [folder, set.namespace ?? '', `service_${name}.yaml`].filter((part) => part !== '').join('/'),
    ),
  )
  return service
}

function buildResults(
  pruned: readonly YamlMap[],
  generated: readonly YamlMap[],
): readonly FunctionResult[] {
  const before = new Map(pruned.map((item) => [formatIdentity(item), item]))
  const after = new Map(generated.map((item) => [formatIdentity(item), item]))
  const all = new Map([...before, ...after])
  const results = [...all].map(([identity, item]): FunctionResult => {
    const message = !after.has(identity)
      ? 'pruned service'
      : before.has(identity)
        ? 'recreated service'
        : 'generated service'
    const text = (...path: readonly string[]): string => findTextAt(item, ...path) ?? ''
    const namespace = text('metadata', 'namespace') || undefined
    return {
      message,
      severity: 'info',
      resourceRef: {
        apiVersion: text('apiVersion'),
        kind: text('kind'),
        name: text('metadata', 'name'),
        ...omitUndefined({ namespace }),
      },
      file: { path: findAnnotation(item, PATH) ?? '' },
    }
  })
  return results.sort((one, other) => ((one.file?.path ?? '') < (other.file?.path ?? '') ? -1 : 1))
}

function formatIdentity(item: YamlMap): string {
  return JSON.stringify(
    ['apiVersion', 'kind']
      .map((field) => findTextAt(item, field))
      .concat(['namespace', 'name'].map((field) => findTextAt(item, 'metadata', field))),
  )
}
