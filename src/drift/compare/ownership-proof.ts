/**
 * Tier 1 of design §5, without a request. A server-side apply changes an object only if a value
 * differs, or if the manager gives up a field. So the manager's set must equal that of the desired
 * object, in its API version, and each live value must be what the server stores
 * (src/drift/compare/equal-values.ts). Syncer marks (src/syncers/marks.ts) do not count. The
 * last-applied annotation of a syncer that updates is compared separately.
 */
import {
  buildFieldSet,
  type FieldSchema,
  type FieldSet,
  findValueAt,
  hasSameLeaves,
  isSameManager,
  type ManagedFields,
} from '@backporch/kyaml/field'
import { getKey, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { removeMarks } from '../../syncers/marks.ts'
import type { SyncerManager } from './drift.ts'
import { isEmptyValue, listDifferingLeaves } from './equal-values.ts'

export interface ProofSubject {
  readonly apiVersion: string
  readonly desired: JsonObject
  readonly live: JsonObject
  readonly managed: ManagedFields
  readonly schema: FieldSchema
  readonly syncer: SyncerManager | undefined
}

export function explainUnprovenOwnership(subject: ProofSubject): string | undefined {
  const { syncer, managed, live, schema } = subject
  if (syncer === undefined) return 'the syncer is not known'
  if (managed.unreadable.length > 0) return managed.unreadable[0]
  const desired = omitStatus(subject.desired)
  const wanted = buildFieldSet(desired, schema)
  const entry = managed.entries.find((candidate) =>
    isSameManager(candidate, { ...syncer, operation: 'Apply' }),
  )
  if (syncer.operation === 'Apply') {
    if (entry === undefined) return `${syncer.manager} never applied the object`
    if (entry.apiVersion !== subject.apiVersion)
      return `${syncer.manager} applied ${entry.apiVersion}, git has ${subject.apiVersion}`
    const owned = removeMarks(syncer.manager, omitStatusFields(entry.fields), wanted, (path) =>
      findValueAt(live, path),
    )
    if (!hasSameLeaves(wanted, owned))
      return `${syncer.manager} does not own exactly the fields that git declares`
  } else if (entry !== undefined) return `${syncer.manager} also used server-side apply`
  const [differing] = listDifferingLeaves(wanted, desired, convertToWritten(live, desired), schema)
  if (differing === undefined) return undefined
  if (differing.live === undefined && isEmptyValue(differing.declared))
    return 'the server leaves out an empty value that git declares'
  return 'a live value is not written as in git'
}

/** For a Secret read as metadata only, git may declare only the type, which is immutable. */
export function isProvenByMetadata(subject: ProofSubject): boolean {
  const { desired, live } = subject
  if (['data', 'stringData', 'immutable'].some((name) => Object.hasOwn(desired, name))) return false
  const type = getKey(desired, 'type')
  return (
    explainUnprovenOwnership(
      type === undefined ? subject : { ...subject, live: { ...live, type } },
    ) === undefined
  )
}

function omitStatus(object: JsonObject): JsonObject {
  return Object.hasOwn(object, 'status')
    ? Object.fromEntries(Object.entries(object).filter(([name]) => name !== 'status'))
    : object
}

function omitStatusFields(set: FieldSet): FieldSet {
  return set.children.has('f:status')
    ? { ...set, children: new Map([...set.children].filter(([key]) => key !== 'f:status')) }
    : set
}

/**
 * If the live `data` results from git's `stringData` and `data` (docs/facts/secret-string-data.md).
 */
function convertToWritten(live: JsonObject, desired: JsonObject): JsonObject {
  const written = getKey(desired, 'stringData')
  const stored = getKey(live, 'data')
  if (!isCoreSecret(desired) || !isJsonObject(written) || !isJsonObject(stored)) return live
  const declared = getKey(desired, 'data')
  const same = Object.entries(written).filter(
    ([key, value]) => typeof value === 'string' && getKey(stored, key) === encodeText(value),
  )
  // The server never stores the overridden key.
  const overridden = same.flatMap(([key]) => {
    const own = isJsonObject(declared) ? getKey(declared, key) : undefined
    return own === undefined ? [] : [[key, own] as const]
  })
  return {
    ...live,
    data: { ...stored, ...Object.fromEntries(overridden) },
    stringData: Object.fromEntries(same),
  }
}

function isCoreSecret(object: JsonObject): boolean {
  return object['apiVersion'] === 'v1' && object['kind'] === 'Secret'
}

function encodeText(text: Json): string {
  return typeof text === 'string' ? Buffer.from(text, 'utf8').toString('base64') : ''
}
