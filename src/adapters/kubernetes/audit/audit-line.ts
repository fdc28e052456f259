/** One line of an audit log, looked at without parsing all of it: an event may be megabytes, and most are not asked about. */
import { type AuditedWrite, readAuditedWrite } from '../../../krm/audit-event.ts'
import type { ResourceId } from '../../../krm/resource-id.ts'
import { parseJson } from '../../../text/json.ts'

/** Bytes from the beginning of a line that have all but the bodies. */
export const HEAD = 32_768

/** `namespace/name` of what an event is about, as the event has them. */
function locationKey(namespace: string, name: string): string {
  return `${namespace}/${name}`
}

/** Where writes are that an object may owe its state to: itself, its collection, its namespace. The name of a Namespace is there twice. */
export function locationsOf({ group, kind, namespace, name }: ResourceId): readonly string[] {
  const own = [locationKey(namespace, name), locationKey(namespace, '')]
  if (namespace !== '') return [...own, locationKey(namespace, namespace)]
  return group === '' && kind === 'Namespace' ? [...own, locationKey(name, name)] : own
}

const REF = '"objectRef":{'
const WRITES = /"verb":\s*"(create|update|patch|delete|deletecollection)"/

/**
 * Where the write of this line went; undefined for what is no write that ended, or cannot be told. The first `"objectRef":{` of a line is
 * the event's own: in a text the quotes are escaped, and what stands before it holds no other map of that name (docs/facts/audit-events.md).
 * @param head the line, or its first `HEAD` bytes
 */
export function locationOf(head: string): string | undefined {
  const verb = WRITES.exec(head)?.[1]
  if (verb === undefined || !head.includes('ResponseComplete')) return undefined
  const start = head.indexOf(REF)
  const end = start === -1 ? -1 : head.indexOf('}', start)
  if (end === -1) return undefined
  try {
    const { namespace = '', name = '' } = JSON.parse(head.slice(start + REF.length - 1, end + 1)) as { namespace?: unknown; name?: unknown }
    // Pods and Events get their names from the server, and nobody declares those.
    return name === '' && verb !== 'deletecollection' ? undefined : locationKey(String(namespace), String(name))
  } catch {
    return undefined
  }
}

/** Undefined for a line that is no whole event, as the last one of a log that is being written. */
export function parseLine(line: string): AuditedWrite | undefined {
  try {
    return readAuditedWrite(parseJson(line))
  } catch {
    return undefined
  }
}
