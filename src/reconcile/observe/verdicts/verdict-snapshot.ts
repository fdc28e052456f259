/**
 * Verdicts that are stored for the next start of the process; losing them costs dry runs. A
 * snapshot is a line of JSON, the packed rows, and a keyed hash of both, so truncated, changed or
 * foreign bytes are not read.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { getTextAt, isJsonArray, isJsonObject, type Json, parseJson } from '@backporch/kyaml/json'
import type { RedactionKey } from '@backporch/kyaml/redaction'
import type { StoredVerdicts, VerdictScope } from './cluster-verdicts.ts'
import { VerdictTable } from './verdict-table.ts'

const FORMAT = 'backporch verdicts 1'
const SEAL = 32

export function encodeVerdicts(
  { table, units, scopes }: StoredVerdicts,
  cluster: string,
  key: RedactionKey,
): Uint8Array {
  const head = new TextEncoder().encode(
    `${JSON.stringify({ format: FORMAT, cluster, units, scopes })}\n`,
  )
  const rows = table.convertToBytes()
  return Buffer.concat([head, rows, seal(key, head, rows)])
}

/** @returns why the bytes cannot be used, as a part of a sentence */
export function decodeVerdicts(
  bytes: Uint8Array,
  cluster: string,
  key: RedactionKey,
): StoredVerdicts | { readonly problem: string } {
  const end = bytes.indexOf(0x0a) + 1
  if (end === 0 || bytes.byteLength < end + SEAL) return { problem: 'it is cut off' }
  const [head, rows, own] = [
    bytes.subarray(0, end),
    bytes.subarray(end, -SEAL),
    bytes.subarray(-SEAL),
  ]
  if (!timingSafeEqual(seal(key, head, rows), own))
    return { problem: 'it is damaged, or of an installation with another key' }
  const read = parseJson(new TextDecoder().decode(head))
  if (!isJsonObject(read) || read['format'] !== FORMAT)
    return { problem: 'another version of backporch wrote it' }
  if (read['cluster'] !== cluster) return { problem: 'it is of another cluster' }
  const table = VerdictTable.parseBytes(rows)
  if (table === undefined) return { problem: 'its rows are damaged' }
  return {
    table,
    units: list(read['units']).map(String),
    scopes: list(read['scopes']).map(readScope),
  }
}

function seal(key: RedactionKey, head: Uint8Array, rows: Uint8Array): Uint8Array {
  return createHmac('sha256', key.prepared).update('verdicts\0').update(head).update(rows).digest()
}

function list(value: Json | undefined): readonly Json[] {
  return isJsonArray(value) ? value : []
}

function readScope(value: Json): VerdictScope {
  return {
    apiVersion: getTextAt(value, 'apiVersion'),
    kind: getTextAt(value, 'kind'),
    namespace: getTextAt(value, 'namespace'),
  }
}
