/**
 * `managedFields` names the keys of owned list-map items (`k:{"name":"app"}`) and set members
 * (`v:`), and stops at atomic values. The rest comes from the table of built-in kinds, or is
 * unknown.
 */
import {
  type FieldSchema,
  type FieldSet,
  getManagedFields,
  type ListType,
} from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { parseApiVersion } from '@backporch/kyaml/resource'
import {
  findKnownKeyDefault,
  findKnownList,
  holdsQuantities,
  isBuiltInGroup,
  isFreeMap,
} from './known-kinds.ts'

interface Observed {
  readonly sets: readonly FieldSet[]
  readonly value: Json | undefined
}

export function inferSchema(
  apiVersion: string,
  kind: string,
  objects: readonly JsonObject[],
): FieldSchema {
  const observed = objects.map((object) => ({
    sets: getManagedFields(object).entries.map((entry) => entry.fields),
    value: object,
  }))
  return new InferredSchema([kind], observed, isBuiltInGroup(parseApiVersion(apiVersion).group))
}

class InferredSchema implements FieldSchema {
  readonly kind: FieldSchema['kind']
  readonly atomic: boolean
  readonly listType: ListType
  readonly keys: readonly string[]
  readonly format: string
  private readonly names: readonly string[]
  private readonly observed: readonly Observed[]
  private readonly builtIn: boolean
  private readonly children = new Map<string, FieldSchema>()

  constructor(names: readonly string[], observed: readonly Observed[], builtIn: boolean) {
    this.names = names
    this.observed = observed
    this.builtIn = builtIn
    const list =
      inferList(observed) ??
      (builtIn || names.includes('metadata') ? findKnownList(names) : undefined)
    const values = observed.flatMap(({ value }) => (value === undefined ? [] : [value]))
    this.listType = list?.type ?? 'atomic'
    this.keys = list?.keys ?? []
    this.kind =
      list !== undefined || values.some(isJsonArray)
        ? 'list'
        : values.some(isJsonObject)
          ? 'object'
          : 'unknown'
    this.atomic = observed.some(isOwnedWhole)
    this.format = builtIn && holdsQuantities(names.at(-2) ?? '') ? 'quantity' : ''
  }

  hasField(_name: string): boolean {
    return this.kind !== 'unknown' && !isFreeMap(this.names.at(-1) ?? '')
  }

  findDefault(name: string): string | undefined {
    return this.builtIn ? findKnownKeyDefault(this.names, name) : undefined
  }

  getChildSchema(name: string): FieldSchema {
    const known = this.children.get(name)
    if (known !== undefined) return known
    const below = this.observed.flatMap(({ sets, value }) => {
      const observed = {
        sets: sets.flatMap((set) => set.children.get(`f:${name}`)?.set ?? []),
        value: isJsonObject(value) ? getKey(value, name) : undefined,
      }
      return observed.sets.length > 0 || observed.value !== undefined ? [observed] : []
    })
    const schema = new InferredSchema([...this.names, name], below, this.builtIn)
    this.children.set(name, schema)
    return schema
  }

  getItemSchema(): FieldSchema {
    const below = this.observed.flatMap(({ sets, value }): Observed[] => [
      ...sets.flatMap((set) =>
        [...set.children.values()]
          .filter(({ step }) => step.kind === 'item')
          .map((child) => ({ sets: [child.set], value: undefined })),
      ),
      ...(isJsonArray(value) ? value.map((item) => ({ sets: [], value: item })) : []),
    ])
    return new InferredSchema(this.names, below, this.builtIn)
  }
}

function inferList(
  observed: readonly Observed[],
): { readonly type: ListType; readonly keys: readonly string[] } | undefined {
  const steps = observed.flatMap(({ sets }) =>
    sets.flatMap((set) => [...set.children.values()].map(({ step }) => step)),
  )
  const item = steps.find((step) => step.kind === 'item')
  if (item !== undefined) return { type: 'map', keys: Object.keys(item.keys) }
  return steps.some((step) => step.kind === 'member') ? { type: 'set', keys: [] } : undefined
}

/** A manager owns the value and nothing below it, although it has content. */
function isOwnedWhole({ sets, value }: Observed): boolean {
  if (!isJsonObject(value) || Object.keys(value).length === 0) return false
  return (
    sets.some((set) => set.owned && set.children.size === 0) &&
    sets.every((set) => set.children.size === 0)
  )
}
