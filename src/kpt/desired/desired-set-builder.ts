/** Each id once; all failures together. */
import { Failure } from '@backporch/kyaml/failure'
import type { FieldPath } from '@backporch/kyaml/field'
import {
  findNonEmptyText,
  getKey,
  getPartAt,
  getTextAt,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { isSecret } from '@backporch/kyaml/redaction'
import {
  describeResourceId,
  getResourceKey,
  parseApiVersion,
  readResource,
} from '@backporch/kyaml/resource'
import type { DesiredResource, DesiredSet, SourceLocation } from './desired-set.ts'
import { isLocalConfig, isOfKpt } from './not-applied.ts'
import { chooseInventory, type FoundInventory, readInventory } from './package-inventory.ts'
import { createTooLargePackageFailure, PackageMeter } from './package-limits.ts'

export class DesiredSetBuilder {
  readonly failures: Failure[] = []
  readonly notes: Note[] = []
  private readonly resources = new Map<string, DesiredResource>()
  private readonly inventories: FoundInventory[] = []
  private readonly meter = new PackageMeter()
  private isTooLarge = false

  /**
   * @param of `local`: an item of a local list; `hidden`: paths whose values come from a Secret of
   * the cluster @returns undefined if the object is not applied
   */
  add(
    object: Json,
    location: SourceLocation,
    path: string,
    {
      local = false,
      hidden = [],
    }: { readonly local?: boolean; readonly hidden?: readonly FieldPath[] } = {},
  ): string | undefined {
    if (this.isTooLarge) return undefined
    const tooLarge = this.meter.count(object)
    if (tooLarge !== undefined) {
      this.isTooLarge = true
      this.resources.clear()
      this.failures.push(createTooLargePackageFailure(describeLocation(location), tooLarge))
      return undefined
    }
    const secret = findPlainSecretNote(object, hidden)
    if (secret !== undefined)
      this.notes.push({
        cause: 'secret-in-git',
        subject: `${location.path}:${location.line}`,
        text: secret,
      })
    if (local || isLocalConfig(object) || isOfKpt(object, 'Kptfile')) return undefined
    if (!isOfKpt(object, 'ResourceGroup')) return this.addResource(object, location, hidden)
    this.inventories.push(readInventory(object, location, path))
    return undefined
  }

  private addResource(
    object: Json,
    location: SourceLocation,
    hidden: readonly FieldPath[],
  ): string | undefined {
    const generated = explainServerNamed(object)
    if (generated !== undefined) {
      this.notes.push({
        cause: 'name-from-server',
        subject: `${location.path}:${location.line}`,
        text: generated,
      })
      return undefined
    }
    const resource = readResource(object)
    const problem = 'problem' in resource ? resource.problem : findNamespaceProblem(resource.object)
    if ('problem' in resource || problem !== undefined) {
      this.failures.push(createNotAnObjectFailure(describeLocation(location), problem ?? ''))
      return undefined
    }
    const key = getResourceKey(resource.id)
    const earlier = this.resources.get(key)
    if (earlier === undefined)
      this.resources.set(key, { ...resource, location, ...(hidden.length === 0 ? {} : { hidden }) })
    else this.failures.push(createDeclaredTwiceFailure(earlier, location))
    return key
  }

  /** @param subpackages folders of other inventories */
  build(
    ofKptfile: Parameters<typeof chooseInventory>[1],
    subpackages: readonly string[],
    pipeline: DesiredSet['pipeline'],
  ): DesiredSet {
    const { inventory, notes } = chooseInventory(this.inventories, ofKptfile, subpackages)
    return {
      resources: [...this.resources.values()],
      inventory,
      pipeline,
      notes: [...this.notes, ...notes],
    }
  }
}

function findNamespaceProblem(object: JsonObject): string | undefined {
  const namespace = getPartAt(object, 'metadata', 'namespace') ?? null
  if (namespace !== null && typeof namespace !== 'string') return 'metadata.namespace is not a text'
  return parseApiVersion(getTextAt(object, 'apiVersion')).version.includes('/')
    ? 'apiVersion has more than one "/"'
    : undefined
}

function describeLocation({ path, line, document, item, step }: SourceLocation): string {
  if (step !== undefined) return `${path}:${line} (made by ${step})`
  return `${path}:${line} (document ${document + 1}${item === undefined ? '' : `, item ${item + 1}`})`
}

export function createNotAnObjectFailure(where: string, why: string): Failure {
  return new Failure({
    code: 'BP1112',
    what: 'a document is not a Kubernetes object',
    where,
    why,
    remedy: 'complete it, or name the file in .krmignore',
    retry: 'on-change',
  })
}

export function createDeclaredTwiceFailure(
  earlier: DesiredResource,
  location: SourceLocation,
): Failure {
  return new Failure({
    code: 'BP1113',
    what: 'two places declare one object',
    where: describeLocation(location),
    why: `${describeResourceId(earlier.id)} is also declared at ${describeLocation(earlier.location)}`,
    remedy: 'keep one of the two',
    retry: 'on-change',
  })
}

/**
 * Names the keys of a Secret with values in the manifest, never a value. Undefined for a
 * SOPS-encrypted file, which has a `sops` mapping. @param hidden paths whose values are not the
 * manifest's
 */
function findPlainSecretNote(object: Json, hidden: readonly FieldPath[] = []): string | undefined {
  const resource = readResource(object)
  if (
    'problem' in resource ||
    !isSecret(resource.id) ||
    getKey(resource.object, 'sops') !== undefined
  )
    return undefined
  const isFilled = (place: readonly string[]): boolean =>
    hidden.some((path) =>
      path.every((segment, index) => segment.kind === 'field' && segment.name === place[index]),
    )
  const keys = ['data', 'stringData'].flatMap((field) => {
    const values = getKey(resource.object, field)
    return isJsonObject(values)
      ? Object.entries(values).flatMap(([key, value]) =>
          value === '' || value === null || isFilled([field, key]) ? [] : [`${field}.${key}`],
        )
      : []
  })
  return keys.length === 0
    ? undefined
    : `${describeResourceId(resource.id)} has its values in git in plain text: ${keys.join(', ')}`
}

/** With `generateName` each create gives another object, and git knows none of their names. */
function explainServerNamed(object: Json): string | undefined {
  const [apiVersion, kind] = [getPartAt(object, 'apiVersion'), getPartAt(object, 'kind')]
  const [name, prefix] = [
    getPartAt(object, 'metadata', 'name') ?? '',
    findNonEmptyText(object, 'metadata', 'generateName'),
  ]
  if (
    typeof apiVersion !== 'string' ||
    typeof kind !== 'string' ||
    name !== '' ||
    prefix === undefined
  )
    return undefined
  return `the ${kind} with generateName "${prefix}" gets another name at each create, so it is not searched for in the cluster`
}
