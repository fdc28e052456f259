import { getResourceKey, type ResourceId } from '@backporch/kyaml/resource'

export class DeclaredIds {
  private readonly keys = new Set<string>()
  private readonly floating = new Set<string>()
  private readonly anywhere = new Set<string>()

  constructor(ids: Iterable<ResourceId>, namespace: string) {
    for (const id of ids) {
      const bare = getResourceKey({ ...id, namespace: '' })
      this.keys.add(getResourceKey(id))
      this.anywhere.add(bare)
      if (id.namespace !== '') continue
      this.keys.add(getResourceKey({ ...id, namespace }))
      this.floating.add(bare)
    }
  }

  has(id: ResourceId, choosesNamespace: boolean): boolean {
    const bare = getResourceKey({ ...id, namespace: '' })
    // The server drops it.
    if (this.keys.has(getResourceKey(id)) || (id.namespace === '' && this.anywhere.has(bare)))
      return true
    return choosesNamespace && this.floating.has(bare)
  }
}

export interface InventoryExtent {
  readonly source: string
  readonly reference: boolean
  readonly folder: string | undefined
  readonly transformed: string | undefined
  readonly isExtraneous: boolean
  readonly here: number
  readonly elsewhere: number
  readonly surplus: number
  readonly coversPackage: boolean
}

/**
 * Undefined if the package names the inventory, the inventory is of the package's folder, or it has
 * all of the package, nothing of others, and at most as many undeclared objects as declared ones.
 */
export function explainNotOfPackage(
  extent: InventoryExtent,
  packagePath: string,
): string | undefined {
  const { source, folder } = extent
  if (extent.reference) return undefined
  if (extent.here === 0) return `${source} lists no object of the package`
  if (extent.transformed !== undefined && !extent.isExtraneous)
    return `${source} changes what it reads from git (${extent.transformed}), so its objects may have other names there`
  if (folder !== undefined) {
    if (folder === packagePath) return undefined
    const location = folder === '' ? 'the whole repository' : folder
    return `${source} applies ${location}, which is more than the package`
  }
  if (extent.elsewhere > 0) return `${source} lists objects of other packages too`
  if (!extent.coversPackage) return `${source} does not have all objects of the package`
  return extent.here >= extent.surplus
    ? undefined
    : `${source} lists more objects that git lacks than objects of the package`
}

export function isWithinFolder(packagePath: string, folder: string | undefined): boolean {
  return (
    folder === undefined ||
    folder === '' ||
    packagePath === folder ||
    packagePath.startsWith(`${folder}/`)
  )
}
