/** Reads one line of an audit log without parsing all of it: an event may be megabytes, and most are not needed. */
import { parseJson } from '@backporch/kyaml/json'
import { type AuditedWrite, type ResourceId, readAuditedWrite } from '@backporch/kyaml/resource'

/** Bytes from the beginning of a line that have all but the bodies. */
export const HEAD = 32_768

/** `namespace/name` of the object of an event. */
function locationKey(namespace: string, name: string): string {
  return `${namespace}/${name}`
}

/** The writes that an object may owe its state to: on itself, its collection, its namespace. The name of a Namespace is there twice. */
export function locationsOf({ group, kind, namespace, name }: ResourceId): readonly string[] {
  const own = [locationKey(namespace, name), locationKey(namespace, '')]
  if (namespace !== '') return [...own, locationKey(namespace, namespace)]
  return group === '' && kind === 'Namespace' ? [...own, locationKey(name, name)] : own
}

const REF = '"objectRef":{'
const WRITES = /"verb":\s*"(create|update|patch|delete|deletecollection)"/

/**
 * The target of the write in this line; undefined for anything but a completed write, and where it is unclear. The first `"objectRef":{` of a
 * line is the event's own: in a text the quotes are escaped, and no map before it has that name (docs/facts/audit-events.md).
 * @param head the line, or its first `HEAD` bytes
 */
export function locationOf(head: string): string | undefined {
  const verb = WRITES.exec(head)?.[1]
  if (verb === undefined || !head.includes('ResponseComplete')) return undefined
  const start = head.indexOf(REF)
  const end = start === -1 ? -1 : head.indexOf('}', start)
  if (end === -1) return undefined
  try {
    const { namespace = '', name = '' } = JSON.parse(
      head.slice(start + REF.length - 1, end + 1),
    ) as { namespace?: unknown; name?: unknown }
    // The server names Pods and Events, and nobody declares those.
    return name === '' && verb !== 'deletecollection'
      ? undefined
      : locationKey(String(namespace), String(name))
  } catch {
    return undefined
  }
}

/** Undefined for a line that is no whole event, as the last one of a growing log. */
export function parseLine(line: string): AuditedWrite | undefined {
  try {
    return readAuditedWrite(parseJson(line))
  } catch {
    return undefined
  }
}
