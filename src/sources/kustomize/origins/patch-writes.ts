import type { FieldPath } from '@backporch/kyaml/field'
import { getKey, isJsonArray, isJsonObject } from '@backporch/kyaml/json'
import {
  convertYamlToJson,
  findNodeAtPath,
  findTextAt,
  isNull,
  resolveAlias,
  type YamlNode,
} from '@backporch/kyaml/yaml'
import { index, makePath, type SourceDocument } from '../../build/adopt/source-document.ts'
import { parseOperationPointer } from '../locate/kustomize-patches.ts'
import { type FieldValue, UNKNOWN } from './field-history.ts'
import type { ListLocations } from './list-locations.ts'

export interface PatchWrite {
  readonly does: 'writes' | 'removes' | 'may write'
  readonly at: FieldPath
  readonly value: FieldValue
}

/** null and `$patch` remove. */
export function mergeWrite({ root }: SourceDocument, path: FieldPath): PatchWrite | undefined {
  let replaced: FieldPath | undefined
  for (let steps = 0; steps <= path.length; steps += 1) {
    const at = path.slice(0, steps)
    const node = findNodeAtPath(root, at)?.node
    if (node === undefined)
      return replaced === undefined
        ? undefined
        : { does: 'removes', at: replaced, value: undefined }
    const directive = findDirective(node)
    if (directive === 'delete' || (steps > 0 && isNull(node)))
      return { does: 'removes', at, value: undefined }
    if (directive === 'replace') replaced = at
    if (steps === path.length) return { does: 'writes', at, value: convertYamlToJson(node) }
  }
  return undefined
}

function findDirective(node: YamlNode): string | undefined {
  const target = resolveAlias(node)
  if (target.kind === 'list')
    return target.items.some((item) => findTextAt(item, '$patch') === 'replace')
      ? 'replace'
      : undefined
  return findTextAt(target, '$patch')
}

/** Of a JSON patch (RFC 6902), for the field or one of its parents, in order. Updates `lists`. */
export function* listOperationWrites(
  document: SourceDocument,
  path: FieldPath,
  lists: ListLocations,
): Generator<PatchWrite> {
  const operations = document.getValueAt([])
  for (const [number, operation] of (isJsonArray(operations) ? operations : []).entries()) {
    if (!isJsonObject(operation)) continue
    const does = String(getKey(operation, 'op') ?? '')
    const pointer = parseOperationPointer(operation)
    const meets =
      pointer.length > 0 &&
      does !== 'test' &&
      lists.meets(pointer, does, getKey(operation, 'value'))
    if (meets) {
      const write = findOperationWrite(document, path, { number, does, length: pointer.length })
      if (write !== undefined)
        yield lists.isSure(pointer.length)
          ? write
          : { does: 'may write', at: write.at, value: UNKNOWN }
    }
    lists.operate(pointer, does, getKey(operation, 'value'))
  }
}

function findOperationWrite(
  document: SourceDocument,
  path: FieldPath,
  {
    number,
    does,
    length,
  }: { readonly number: number; readonly does: string; readonly length: number },
): PatchWrite | undefined {
  const at = index(number)
  if (does === 'remove') return { does: 'removes', at: [at], value: undefined }
  if (does === 'move' || does === 'copy') return { does: 'writes', at: [at], value: UNKNOWN }
  if (does !== 'add' && does !== 'replace') return undefined
  const whole = [at, ...makePath('value'), ...path.slice(length)]
  return document.has(whole)
    ? { does: 'writes', at: whole, value: document.getValueAt(whole) }
    : { does: 'removes', at: [at], value: undefined }
}
