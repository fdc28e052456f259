/**
 * A dry-run apply under an unused name, the only evidence about an object without managers
 * (docs/facts/creation-dry-run.md). Values that the server chooses per object are replaced by the
 * real ones.
 */
import { createHash } from 'node:crypto'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  objectsIn,
  partOf,
  textOf,
} from '@backporch/kyaml/json'
import { metadataText, type Resource, resourceKey } from '@backporch/kyaml/resource'

export interface CreationProbe {
  readonly resource: Resource
  readonly names: readonly (readonly [probe: string, real: string])[]
}

/** The shortest of built-in kinds (CronJob); a longer name keeps its length. */
const NAME_LIMIT = 52
const NAMED_BY_GROUP = new Set([
  'apiextensions.k8s.io/CustomResourceDefinition',
  'apiregistration.k8s.io/APIService',
])

/**
 * The name depends only on the object, for recorded answers.
 * @param object the part that the server knows
 */
export function creationProbeOf({ id, apiVersion }: Resource, object: JsonObject): CreationProbe {
  const mark = `backporch-${createHash('sha256').update(resourceKey(id)).digest('hex').slice(0, 6)}`
  const spec = getKey(object, 'spec')
  const group = partOf(spec, 'group')
  if (
    NAMED_BY_GROUP.has(`${id.group}/${id.kind}`) &&
    isJsonObject(spec) &&
    typeof group === 'string'
  ) {
    const own = `${mark}.${group}`
    const name = id.name.endsWith(`.${group}`) ? `${id.name.slice(0, -group.length)}${own}` : own
    const sent = renamed({ ...object, spec: { ...spec, group: own } }, name)
    return { resource: { id: { ...id, name }, apiVersion, object: sent }, names: [[own, group]] }
  }
  const room = Math.max(NAME_LIMIT, id.name.length) - mark.length - 1
  const name = `${id.name.slice(0, room).replace(/[^A-Za-z0-9]+$/, '')}-${mark}`
  const sent = isService(object) ? withoutAllocated(object) : object
  return {
    resource: { id: { ...id, name }, apiVersion, object: renamed(sent, name) },
    names: [[name, id.name]],
  }
}

/** Undefined if an object with the probe's name exists: nothing was created. */
export function createdObject(
  answer: JsonObject,
  probe: CreationProbe,
  desired: JsonObject,
  live: JsonObject,
): JsonObject | undefined {
  if (metadataText(answer, 'resourceVersion') !== '') return undefined
  const chosen = [
    [metadataText(answer, 'uid'), metadataText(live, 'uid')],
    [tokenVolumeOf(answer), tokenVolumeOf(live)],
  ] as const
  const created = replaced(answer, [...probe.names, ...chosen.filter(([from]) => from !== '')])
  return isJsonObject(created) && isService(created)
    ? withAllocated(created, desired)
    : isJsonObject(created)
      ? created
      : undefined
}

/** Admission adds it under a random name. */
function tokenVolumeOf(object: JsonObject): string {
  const volumes = getKey(object, 'kind') === 'Pod' ? partOf(object, 'spec', 'volumes') : undefined
  const names = objectsIn(volumes).map((volume) => textOf(volume, 'name'))
  return names.find((name) => /^kube-api-access-[a-z0-9]{5}$/.test(name)) ?? ''
}

function renamed(object: JsonObject, name: string): JsonObject {
  const metadata = getKey(object, 'metadata')
  return { ...object, metadata: { ...(isJsonObject(metadata) ? metadata : {}), name } }
}

function replaced(value: Json, names: CreationProbe['names']): Json {
  if (typeof value === 'string')
    return names.reduce((text, [from, to]) => text.replaceAll(from, to), value)
  if (isJsonArray(value)) return value.map((item) => replaced(item, names))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, below]) => [key, replaced(below, names)]),
  )
}

function isService(object: JsonObject): boolean {
  return getKey(object, 'apiVersion') === 'v1' && getKey(object, 'kind') === 'Service'
}

/** Unique per Service. `None` requests no address. */
const ALLOCATED = ['clusterIP', 'clusterIPs', 'healthCheckNodePort', 'loadBalancerIP']

function withoutAllocated(service: JsonObject): JsonObject {
  const spec = getKey(service, 'spec')
  if (!isJsonObject(spec)) return service
  const headless = getKey(spec, 'clusterIP') === 'None'
  const retained = Object.entries(spec).filter(([name]) => headless || !ALLOCATED.includes(name))
  const ports = getKey(spec, 'ports')
  return {
    ...service,
    spec: {
      ...Object.fromEntries(retained),
      ...(isJsonArray(ports) ? { ports: ports.map(withoutNodePort) } : {}),
    },
  }
}

function withoutNodePort(port: Json): Json {
  return isJsonObject(port)
    ? Object.fromEntries(Object.entries(port).filter(([name]) => name !== 'nodePort'))
    : port
}

/** The probe cannot request git's addresses and ports. */
function withAllocated(created: JsonObject, desired: JsonObject): JsonObject {
  const [result, spec] = [getKey(created, 'spec'), getKey(desired, 'spec')]
  if (!isJsonObject(result) || !isJsonObject(spec)) return created
  const declared = Object.entries(spec).filter(([name]) => ALLOCATED.includes(name))
  const [ports, own] = [getKey(result, 'ports'), getKey(spec, 'ports')]
  const both = isJsonArray(ports)
    ? {
        ports: ports.map((port, index) => {
          const wanted = isJsonArray(own) ? own[index] : undefined
          const nodePort = isJsonObject(wanted) ? getKey(wanted, 'nodePort') : undefined
          return isJsonObject(port) && nodePort !== undefined ? { ...port, nodePort } : port
        }),
      }
    : {}
  return { ...created, spec: { ...result, ...Object.fromEntries(declared), ...both } }
}
