/**
 * The syncer must be able to change and remove what a settle wrote. Kubernetes documentation,
 * "Server-Side Apply" (transferring ownership); docs/adr/0013.
 */
import {
  findNonEmptyText,
  getKey,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../text/json.ts'
import { type FieldManager, isSettleManager } from './managed-fields.ts'

/**
 * @returns undefined if no settle owns anything, or if `to` applied another API version, which has
 * other field names
 */
export function handOverFields(live: JsonObject, to: FieldManager): readonly Json[] | undefined {
  const list = getPartAt(live, 'metadata', 'managedFields')
  if (!isJsonArray(list)) return undefined
  const entries = list.filter((entry) => isJsonObject(entry))
  const ours = entries.filter(
    (entry) =>
      isSettleManager(getTextAt(entry, 'manager')) &&
      findNonEmptyText(entry, 'subresource') === undefined,
  )
  const [first] = ours
  if (first === undefined || entries.length !== list.length) return undefined
  const apiVersion = getTextAt(first, 'apiVersion')
  const theirs = entries.find(
    (entry) =>
      getTextAt(entry, 'manager') === to.manager &&
      getTextAt(entry, 'operation') === to.operation &&
      getTextAt(entry, 'subresource') === to.subresource,
  )
  if (
    [...ours, ...(theirs === undefined ? [] : [theirs])].some(
      (entry) => getTextAt(entry, 'apiVersion') !== apiVersion,
    )
  )
    return undefined
  const parts = theirs === undefined ? ours : [theirs, ...ours]
  const joined = {
    ...(theirs ?? { manager: to.manager, operation: to.operation, apiVersion }),
    time: parts
      .map((entry) => getTextAt(entry, 'time'))
      .reduce((latest, time) => (time > latest ? time : latest)),
    fieldsType: 'FieldsV1',
    fieldsV1: parts.map((entry): Json => getKey(entry, 'fieldsV1') ?? {}).reduce(joinFields),
  }
  const others = entries.filter((entry) => !ours.includes(entry))
  return theirs === undefined
    ? [...others, joined]
    : others.map((entry) => (entry === theirs ? joined : entry))
}

/** `{}` is the location itself; `.` marks it if locations below are members too. */
function joinFields(left: Json, right: Json): Json {
  if (!isJsonObject(left) || !isJsonObject(right)) return left
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  const joined: [string, Json][] = [...names].map((name) => {
    const [mine, other] = [getKey(left, name), getKey(right, name)]
    return [
      name,
      mine === undefined ? (other ?? {}) : other === undefined ? mine : joinFields(mine, other),
    ]
  })
  const isLocation = [left, right].some((set) => Object.keys(set).length === 0)
  return Object.fromEntries(
    isLocation && joined.length > 0
      ? [['.', {}], ...joined.filter(([name]) => name !== '.')]
      : joined,
  )
}
