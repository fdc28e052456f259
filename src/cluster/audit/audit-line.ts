/** Without parsing it all: an event may be megabytes. */
import { parseJson } from '@backporch/kyaml/json'
import { type AuditedWrite, type ResourceId, readAuditedWrite } from '@backporch/kyaml/resource'

/** Bytes that hold everything but the bodies. */
export const HEAD = 32_768

function formatLocationKey(namespace: string, name: string): string {
  return `${namespace}/${name}`
}

/** Writes on the object, its collection, its namespace. A Namespace's name occurs twice. */
export function listAuditLocations({
  group,
  kind,
  namespace,
  name,
}: ResourceId): readonly string[] {
  const own = [formatLocationKey(namespace, name), formatLocationKey(namespace, '')]
  if (namespace !== '') return [...own, formatLocationKey(namespace, namespace)]
  return group === '' && kind === 'Namespace' ? [...own, formatLocationKey(name, name)] : own
}

const REF = '"objectRef":{'
const WRITES = /"verb":\s*"(create|update|patch|delete|deletecollection)"/

/**
 * Undefined if unclear, or for anything but a completed write. The first `"objectRef":{` is the
 * event's own: quotes in text are escaped, and no earlier map has that name
 * (docs/facts/audit-events.md). @param head the line, or its first `HEAD` bytes
 */
export function findAuditLocation(head: string): string | undefined {
  const verb = WRITES.exec(head)?.[1]
  if (verb === undefined || !head.includes('ResponseComplete')) return undefined
  const start = head.indexOf(REF)
  const end = start === -1 ? -1 : head.indexOf('}', start)
  if (end === -1) return undefined
  try {
    const { namespace = '', name = '' } = JSON.parse(
      head.slice(start + REF.length - 1, end + 1),
    ) as { namespace?: unknown; name?: unknown }
    // Pods and Events, which nobody declares.
    return name === '' && verb !== 'deletecollection'
      ? undefined
      : formatLocationKey(String(namespace), String(name))
  } catch {
    return undefined
  }
}

/** Undefined for an incomplete event, such as the last line of a growing log. */
export function parseLine(line: string): AuditedWrite | undefined {
  try {
    return readAuditedWrite(parseJson(line))
  } catch {
    return undefined
  }
}
