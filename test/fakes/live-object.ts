/** Live objects as a server would hold them, made from a manifest: who applied it, who edited it afterwards. */
import { removeValueAt, writeValueAt } from '@backporch/kyaml/edit-yaml'
import {
  buildFieldSet,
  type FieldPath,
  type FieldSchema,
  type FieldSet,
  findKindSchema,
  findValueAt,
  getManagedFields,
  listLeaves,
  type PathStep,
  parseFieldPath,
  stepKey,
} from '@backporch/kyaml/field'
import {
  emptyObject,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  setKey,
} from '@backporch/kyaml/json'

/** Fields that the schema does not name are kept. */
const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const

const keyed = (keys: readonly string[], properties: JsonObject): JsonObject => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [...keys],
  items: { ...OPEN, properties },
})

/** One schema for all kinds of these tests: containers, env and ports are list-maps, finalizers a set, the selector atomic. */
const DOCUMENT: JsonObject = {
  openapi: '3.0.0',
  components: {
    schemas: {
      Any: {
        ...OPEN,
        'x-kubernetes-group-version-kind': [{ group: 'test', version: 'v1', kind: 'Any' }],
        properties: {
          metadata: {
            ...OPEN,
            properties: {
              finalizers: {
                type: 'array',
                'x-kubernetes-list-type': 'set',
                items: { type: 'string' },
              },
            },
          },
          spec: {
            ...OPEN,
            properties: {
              selector: { type: 'object', 'x-kubernetes-map-type': 'atomic' },
              ports: keyed(['port', 'protocol'], { protocol: { type: 'string', default: 'TCP' } }),
              template: {
                ...OPEN,
                properties: {
                  spec: {
                    ...OPEN,
                    properties: {
                      containers: keyed(['name'], {
                        env: keyed(['name'], { value: { type: 'string' } }),
                        ports: keyed(['containerPort', 'protocol'], {
                          protocol: { type: 'string', default: 'TCP' },
                        }),
                        args: { type: 'array', items: { type: 'string' } },
                      }),
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
}

export const TEST_SCHEMA: FieldSchema = findKindSchema(DOCUMENT, 'test/v1', 'Any') as FieldSchema

/** A set as the server writes it. */
export function fieldsV1Of(set: FieldSet): JsonObject {
  const object = emptyObject()
  if (set.owned && set.children.size > 0) setKey(object, '.', {})
  for (const [key, child] of set.children) setKey(object, key, fieldsV1Of(child.set))
  return object
}

export function path(text: string): FieldPath {
  const parsed = parseFieldPath(text)
  if ('problem' in parsed) throw new TypeError(parsed.problem)
  return parsed.path
}

/** The object as it is right after `manager` applied it on the server's side. */
export function appliedBy(
  manager: string,
  manifest: JsonObject,
  time = '2026-11-20T08:00:00Z',
): JsonObject {
  const fieldsV1 = fieldsV1Of(buildFieldSet(manifest, TEST_SCHEMA))
  return withMetadata(manifest, {
    uid: `uid-${String(findValueAt(manifest, path('metadata.name')))}`,
    resourceVersion: '1',
    generation: 1,
    managedFields: [
      {
        manager,
        operation: 'Apply',
        apiVersion: getKey(manifest, 'apiVersion') ?? '',
        time,
        fieldsType: 'FieldsV1',
        fieldsV1,
      },
    ],
  })
}

/** The object after somebody set the field by hand: the value and its ownership move. */
export function editedBy(
  manager: string,
  live: JsonObject,
  field: string,
  value: Json,
  time = '2026-11-21T09:30:00Z',
): JsonObject {
  const location = path(field)
  return own(writeValueAt(live, location, value) as JsonObject, location, manager, time)
}

/** The object after somebody removed the field: nobody owns what is not there. */
export function removedFrom(live: JsonObject, field: string): JsonObject {
  const location = path(field)
  return own(removeValueAt(live, location) as JsonObject, location, undefined, '')
}

function own(
  live: JsonObject,
  location: FieldPath,
  manager: string | undefined,
  time: string,
): JsonObject {
  const entries = getManagedFields(live).entries.map(({ fields, ...entry }) => ({
    ...entry,
    fields: without(fields, location),
  }))
  if (manager !== undefined) {
    const known = entries.find((entry) => entry.manager === manager && entry.operation === 'Update')
    const apiVersion = String(getKey(live, 'apiVersion'))
    if (known === undefined)
      entries.push({
        manager,
        operation: 'Update',
        subresource: '',
        apiVersion,
        time,
        fields: leafAt(location),
      })
    else Object.assign(known, { time, fields: union(known.fields, location) })
  }
  const managedFields = entries.map(({ fields, subresource, ...entry }) => ({
    ...entry,
    ...(subresource === '' ? {} : { subresource }),
    fieldsType: 'FieldsV1',
    fieldsV1: fieldsV1Of(fields),
  }))
  const version = Number(findValueAt(live, path('metadata.resourceVersion')) ?? 1) + 1
  return withMetadata(live, { managedFields, resourceVersion: String(version) })
}

function leafAt(location: FieldPath): FieldSet {
  return union({ owned: false, children: new Map() }, location)
}

function union(set: FieldSet, [step, ...rest]: FieldPath): FieldSet {
  if (step === undefined) return { ...set, owned: true }
  const key = stepKey(step)
  const below = set.children.get(key)?.set ?? { owned: step.kind === 'item', children: new Map() }
  return { ...set, children: new Map([...set.children, [key, { step, set: union(below, rest) }]]) }
}

function without(set: FieldSet, [step, ...rest]: FieldPath): FieldSet {
  const key = step === undefined ? '' : stepKey(step)
  const child = set.children.get(key)
  if (child === undefined) return set
  const below = rest.length === 0 ? undefined : without(child.set, rest)
  const children = new Map(set.children)
  if (below === undefined || (below.children.size === 0 && !below.owned)) children.delete(key)
  else children.set(key, { ...child, set: below })
  return { ...set, children }
}

export function withMetadata(object: JsonObject, more: JsonObject): JsonObject {
  const metadata = getKey(object, 'metadata')
  return { ...object, metadata: { ...(isJsonObject(metadata) ? metadata : {}), ...more } }
}

/** What server-side apply of `manifest` by `manager` with force would leave: values set, fields given up removed. */
export function predictedApply(
  live: JsonObject,
  manifest: JsonObject,
  manager: string,
): JsonObject {
  const wanted = buildFieldSet(manifest, TEST_SCHEMA)
  let object: Json = live
  const { entries } = getManagedFields(live)
  const own = entries.find((entry) => entry.manager === manager && entry.operation === 'Apply')
  const others = entries.filter((entry) => entry !== own)
  for (const leaf of own === undefined ? [] : listLeaves(own.fields)) {
    const declared = findValueAt(manifest, leaf) !== undefined
    const shared = others.some((entry) =>
      listLeaves(entry.fields).some((other) => sameText(other, leaf)),
    )
    if (!declared && !shared) object = removeValueAt(object, leaf)
  }
  for (const leaf of listLeaves(wanted))
    object = setAt(object, leaf, findValueAt(manifest, leaf) ?? null)
  return object as JsonObject
}

function setAt(object: Json, location: FieldPath, value: Json): Json {
  return writeValueAt(object, location, value)
}

function sameText(left: FieldPath, right: FieldPath): boolean {
  const text = (steps: FieldPath): string => steps.map((step: PathStep) => stepKey(step)).join('\0')
  return text(left) === text(right)
}

/** A copy with every list of maps in the opposite order, for tests that order does not matter. */
export function reversedEntries(live: JsonObject): JsonObject {
  const metadata = getKey(live, 'metadata')
  const entries = isJsonObject(metadata) ? getKey(metadata, 'managedFields') : undefined
  return isJsonArray(entries) ? withMetadata(live, { managedFields: entries.toReversed() }) : live
}
