/**
 * A dry-run apply under an unused name, the only evidence about an object without managers
 * (docs/facts/creation-dry-run.md). Values that the server chooses per object are replaced by the
 * real ones.
 */
import { createHash } from 'node:crypto'
import {
  filterObjects,
  getKey,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { getMetadataText, getResourceKey, type Resource } from '@backporch/kyaml/resource'

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
export function createCreationProbe(
  { id, apiVersion }: Resource,
  object: JsonObject,
): CreationProbe {
  const mark = `backporch-${createHash('sha256').update(getResourceKey(id)).digest('hex').slice(0, 6)}`
  const spec = getKey(object, 'spec')
  const group = getPartAt(spec, 'group')
  if (
    NAMED_BY_GROUP.has(`${id.group}/${id.kind}`) &&
    isJsonObject(spec) &&
    typeof group === 'string'
  ) {
    const own = `${mark}.${group}`
    const name = id.name.endsWith(`.${group}`) ? `${id.name.slice(0, -group.length)}${own}` : own
    const sent = renameObject({ ...object, spec: { ...spec, group: own } }, name)
    return { resource: { id: { ...id, name }, apiVersion, object: sent }, names: [[own, group]] }
  }
  const room = Math.max(NAME_LIMIT, id.name.length) - mark.length - 1
  const name = `${id.name.slice(0, room).replace(/[^A-Za-z0-9]+$/, '')}-${mark}`
  const sent = isService(object) ? omitAllocated(object) : object
  return {
    resource: { id: { ...id, name }, apiVersion, object: renameObject(sent, name) },
    names: [[name, id.name]],
  }
}

/** Undefined if an object with the probe's name exists: nothing was created. */
export function findCreatedObject(
  answer: JsonObject,
  probe: CreationProbe,
  desired: JsonObject,
  live: JsonObject,
): JsonObject | undefined {
  if (getMetadataText(answer, 'resourceVersion') !== '') return undefined
  const chosen = [
    [getMetadataText(answer, 'uid'), getMetadataText(live, 'uid')],
    [getTokenVolume(answer), getTokenVolume(live)],
  ] as const
  const created = replaceNames(answer, [...probe.names, ...chosen.filter(([from]) => from !== '')])
  return isJsonObject(created) && isService(created)
    ? addAllocated(created, desired)
    : isJsonObject(created)
      ? created
      : undefined
}

/** Admission adds it under a random name. */
function getTokenVolume(object: JsonObject): string {
  const volumes =
    getKey(object, 'kind') === 'Pod' ? getPartAt(object, 'spec', 'volumes') : undefined
  const names = filterObjects(volumes).map((volume) => getTextAt(volume, 'name'))
  return names.find((name) => /^kube-api-access-[a-z0-9]{5}$/.test(name)) ?? ''
}

function renameObject(object: JsonObject, name: string): JsonObject {
  const metadata = getKey(object, 'metadata')
  return { ...object, metadata: { ...(isJsonObject(metadata) ? metadata : {}), name } }
}

function replaceNames(value: Json, names: CreationProbe['names']): Json {
  if (typeof value === 'string')
    return names.reduce((text, [from, to]) => text.replaceAll(from, to), value)
  if (isJsonArray(value)) return value.map((item) => replaceNames(item, names))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, below]) => [key, replaceNames(below, names)]),
  )
}

function isService(object: JsonObject): boolean {
  return getKey(object, 'apiVersion') === 'v1' && getKey(object, 'kind') === 'Service'
}

/** Unique per Service. `None` requests no address. */
const ALLOCATED = ['clusterIP', 'clusterIPs', 'healthCheckNodePort', 'loadBalancerIP']

function omitAllocated(service: JsonObject): JsonObject {
  const spec = getKey(service, 'spec')
  if (!isJsonObject(spec)) return service
  const headless = getKey(spec, 'clusterIP') === 'None'
  const retained = Object.entries(spec).filter(([name]) => headless || !ALLOCATED.includes(name))
  const ports = getKey(spec, 'ports')
  return {
    ...service,
    spec: {
      ...Object.fromEntries(retained),
      ...(isJsonArray(ports) ? { ports: ports.map(omitNodePort) } : {}),
    },
  }
}

function omitNodePort(port: Json): Json {
  return isJsonObject(port)
    ? Object.fromEntries(Object.entries(port).filter(([name]) => name !== 'nodePort'))
    : port
}

/** The probe cannot request git's addresses and ports. */
function addAllocated(created: JsonObject, desired: JsonObject): JsonObject {
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
