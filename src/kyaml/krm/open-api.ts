/**
 * By the rules of server-side apply: k8s.io/kube-openapi/pkg/schemaconv (openapi.go `parseSchema`,
 * smd.go `getListElementRelationship`); docs/facts/list-map-keys.md.
 */
import {
  filterObjects,
  filterTexts,
  getKey,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../text/json.ts'
import { type FieldSchema, type ListType, UNKNOWN_SCHEMA } from './field-schema.ts'
import { parseApiVersion } from './resource-id.ts'

const GROUP_VERSION_KIND = 'x-kubernetes-group-version-kind'
const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity'
const RAW_EXTENSION = 'io.k8s.apimachinery.pkg.runtime.RawExtension'
const MOST_REFERENCES = 32
/** Go types: the server decodes such a value and encodes it again. */
const TYPED = /^io\.k8s\.(api|apimachinery|kube-aggregator|apiextensions-apiserver)\./

/**
 * Not published by the server, for definitions inside atomic lists and maps: `SetDefaults_*` in
 * k8s.io/kubernetes v1.34.3 pkg/apis/{core,networking,rbac}/v1/defaults.go, and
 * `volumeClaimTemplates` in pkg/apis/apps/v1/conversion.go. test/e2e/proof.live.test.ts compares
 * each with a server.
 */
const UNPUBLISHED_DEFAULTS: Readonly<Record<string, JsonObject>> = {
  'io.k8s.api.core.v1.ObjectFieldSelector': { apiVersion: 'v1' },
  'io.k8s.api.core.v1.PersistentVolumeClaim': {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    status: { phase: 'Pending' },
  },
  'io.k8s.api.core.v1.PersistentVolumeClaimSpec': { volumeMode: 'Filesystem' },
  'io.k8s.api.core.v1.ServiceAccountTokenProjection': { expirationSeconds: 3600 },
  'io.k8s.api.networking.v1.NetworkPolicyPort': { protocol: 'TCP' },
  'io.k8s.api.rbac.v1.RoleRef': { apiGroup: 'rbac.authorization.k8s.io' },
}

/** `__untyped_atomic_` in schemaconv. */
const UNTYPED_ATOMIC: FieldSchema = {
  ...UNKNOWN_SCHEMA,
  atomic: true,
  getChildSchema: () => UNTYPED_ATOMIC,
  getItemSchema: () => UNTYPED_ATOMIC,
}

/**
 * Undefined if the document lacks the kind. Read on demand, because a schema may contain itself
 * (CRDs).
 * @param document OpenAPI v3, of the kind's group version
 */
export function findKindSchema(
  document: Json,
  apiVersion: string,
  kind: string,
): FieldSchema | undefined {
  const schemas = findSchemas(document)
  const name = schemas === undefined ? undefined : findKindDefinition(schemas, apiVersion, kind)
  if (schemas === undefined || name === undefined) return undefined
  return new SchemaReader(schemas).readDefinition(name)
}

export function findSchemas(document: Json): JsonObject | undefined {
  const schemas = getPartAt(document, 'components', 'schemas')
  return isJsonObject(schemas) ? schemas : undefined
}

export function findKindDefinition(
  schemas: JsonObject,
  apiVersion: string,
  kind: string,
): string | undefined {
  const { group, version } = parseApiVersion(apiVersion)
  return Object.keys(schemas).find((name) => {
    const kinds = filterObjects(getPartAt(schemas[name], GROUP_VERSION_KIND))
    return kinds.some(
      (one) => (one['group'] ?? '') === group && one['version'] === version && one['kind'] === kind,
    )
  })
}

class SchemaReader {
  private readonly schemas: JsonObject
  private readonly known = new Map<JsonObject, FieldSchema>()

  constructor(schemas: JsonObject) {
    this.schemas = schemas
  }

  readDefinition(name: string): FieldSchema {
    if (name === RAW_EXTENSION) return UNTYPED_ATOMIC
    const node = getKey(this.schemas, name)
    if (!isJsonObject(node)) return UNKNOWN_SCHEMA
    if (name === QUANTITY) return new NodeSchema(this, node, { format: 'quantity', typed: true })
    if (!TYPED.test(name)) return this.readInline(node)
    const known =
      this.known.get(node) ??
      new NodeSchema(this, node, { typed: true, defaults: UNPUBLISHED_DEFAULTS[name] })
    this.known.set(node, known)
    return known
  }

  readNode(node: Json | undefined, depth = 0): FieldSchema {
    if (!isJsonObject(node) || depth > MOST_REFERENCES) return UNKNOWN_SCHEMA
    const name = findReference(node)
    if (name === undefined) return this.readInline(node)
    const target = getKey(this.schemas, name)
    const further = isJsonObject(target) ? findReference(target) : undefined
    const schema =
      further === undefined ? this.readDefinition(name) : this.readNode(target, depth + 1)
    const mapType = getKey(node, 'x-kubernetes-map-type')
    return mapType === undefined ? schema : overrideAtomic(schema, mapType === 'atomic')
  }

  readWithin(node: Json | undefined, typed: boolean): FieldSchema {
    return isJsonObject(node) && typed && findReference(node) === undefined
      ? this.readInline(node, true)
      : this.readNode(node)
  }

  private readInline(node: JsonObject, typed = false): FieldSchema {
    const known = this.known.get(node)
    if (known !== undefined) return known
    const schema = new NodeSchema(this, node, { typed })
    this.known.set(node, schema)
    return schema
  }
}

/** The server wraps it in `allOf` to add a default or a description. */
export function findReference(node: JsonObject): string | undefined {
  const direct = getKey(node, '$ref')
  if (typeof direct === 'string') return direct.slice(direct.lastIndexOf('/') + 1)
  const all = getKey(node, 'allOf')
  const only = isJsonArray(all) && all.length === 1 ? all[0] : undefined
  return isJsonObject(only) && typeof getKey(only, '$ref') === 'string'
    ? findReference(only)
    : undefined
}

function overrideAtomic(schema: FieldSchema, atomic: boolean): FieldSchema {
  // The methods know their own node.
  return schema.atomic === atomic
    ? schema
    : Object.create(schema, { atomic: { value: atomic, enumerable: true } })
}

interface NodeFacts {
  readonly format?: string
  readonly typed?: boolean
  readonly defaults?: JsonObject | undefined
}

class NodeSchema implements FieldSchema {
  readonly kind: FieldSchema['kind']
  readonly atomic: boolean
  readonly listType: ListType
  readonly keys: readonly string[]
  readonly format: string
  readonly typed: boolean
  readonly closed: boolean
  private readonly reader: SchemaReader
  private readonly node: JsonObject
  private readonly defaults: JsonObject

  constructor(reader: SchemaReader, node: JsonObject, facts: NodeFacts) {
    this.reader = reader
    this.node = node
    this.format = facts.format ?? readFormat(node)
    this.kind = facts.format === undefined ? getKind(node, this.format) : 'scalar'
    this.typed = facts.typed ?? false
    this.closed = this.kind === 'object' && isClosed(node)
    this.defaults = facts.defaults ?? {}
    this.atomic = getKey(node, 'x-kubernetes-map-type') === 'atomic'
    const list = listTypeOf(node)
    this.listType = list.type
    this.keys = list.keys
  }

  hasField(name: string): boolean {
    return this.findProperty(name) !== undefined
  }

  requires(name: string): boolean {
    return filterTexts(getKey(this.node, 'required')).includes(name)
  }

  findDefault(name: string): Json | undefined {
    const property = this.findProperty(name)
    // Defaulting replaces a published empty value of a Go type.
    return (
      getKey(this.defaults, name) ??
      (isJsonObject(property) ? getKey(property, 'default') : undefined)
    )
  }

  getChildSchema(name: string): FieldSchema {
    const property = this.findProperty(name)
    if (property !== undefined) return this.reader.readWithin(property, this.typed)
    const additional = getKey(this.node, 'additionalProperties')
    return isJsonObject(additional)
      ? this.reader.readWithin(additional, this.typed)
      : UNKNOWN_SCHEMA
  }

  getItemSchema(): FieldSchema {
    const items = getKey(this.node, 'items')
    return items === undefined ? UNTYPED_ATOMIC : this.reader.readWithin(items, this.typed)
  }

  private findProperty(name: string): Json | undefined {
    return getPartAt(this.node, 'properties', name)
  }
}

function getKind(node: JsonObject, format: string): FieldSchema['kind'] {
  const type = getKey(node, 'type')
  if (type === 'object') return 'object'
  if (type === 'array') return 'list'
  if (type === 'string' || type === 'integer' || type === 'number' || type === 'boolean')
    return 'scalar'
  if (format === 'int-or-string') return 'scalar'
  return isJsonObject(getKey(node, 'properties')) ? 'object' : 'unknown'
}

function isClosed(node: JsonObject): boolean {
  const properties = getKey(node, 'properties')
  const additional = getKey(node, 'additionalProperties')
  return (
    isJsonObject(properties) &&
    Object.keys(properties).length > 0 &&
    (additional === undefined || additional === false) &&
    getKey(node, 'x-kubernetes-preserve-unknown-fields') !== true
  )
}

function readFormat(node: JsonObject): string {
  if (getKey(node, 'x-kubernetes-int-or-string') === true) return 'int-or-string'
  return getTextAt(node, 'format')
}

function listTypeOf(node: JsonObject): {
  readonly type: ListType
  readonly keys: readonly string[]
} {
  const type = getKey(node, 'x-kubernetes-list-type')
  if (type === 'set') return { type, keys: [] }
  if (type === 'map') {
    const keys = filterTexts(getKey(node, 'x-kubernetes-list-map-keys'))
    return keys.length === 0 ? { type: 'atomic', keys } : { type, keys }
  }
  if (type !== undefined) return { type: 'atomic', keys: [] }
  const strategy = getKey(node, 'x-kubernetes-patch-strategy')
  if (strategy !== 'merge' && strategy !== 'merge,retainKeys') return { type: 'atomic', keys: [] }
  const key = getKey(node, 'x-kubernetes-patch-merge-key')
  return typeof key === 'string' ? { type: 'map', keys: [key] } : { type: 'set', keys: [] }
}
