/** Undeclared objects of an inventory, and whether they belong to a package. */
import { type ResourceId, resourceKey } from '@backporch/kyaml/resource'

/** Objects that files declare, as an inventory may list them. */
export class DeclaredIds {
  private readonly keys = new Set<string>()
  /** Keys of objects without a namespace: `group/Kind//name`. */
  private readonly floating = new Set<string>()
  /** Keys of all objects, without namespaces. */
  private readonly anywhere = new Set<string>()

  /** @param namespace the namespace of the context, for objects without one */
  constructor(ids: Iterable<ResourceId>, namespace: string) {
    for (const id of ids) {
      const bare = resourceKey({ ...id, namespace: '' })
      this.keys.add(resourceKey(id))
      this.anywhere.add(bare)
      if (id.namespace !== '') continue
      this.keys.add(resourceKey({ ...id, namespace }))
      this.floating.add(bare)
    }
  }

  /** @param choosesNamespace whether the applier chooses the namespace of objects without one */
  has(id: ResourceId, choosesNamespace: boolean): boolean {
    const bare = resourceKey({ ...id, namespace: '' })
    // A cluster-scoped kind may be declared with a namespace, which the server drops.
    if (this.keys.has(resourceKey(id)) || (id.namespace === '' && this.anywhere.has(bare)))
      return true
    return choosesNamespace && this.floating.has(bare)
  }
}

export interface InventoryExtent {
  /** For people: `Flux Kustomization flux-system/apps`. */
  readonly source: string
  /** Whether the package itself names the inventory. */
  readonly reference: boolean
  /** Folder in git of the inventory, empty for the root; undefined if unknown. */
  readonly folder: string | undefined
  /** Change to the files of the folder, by which objects get other names; undefined for none. */
  readonly transformed: string | undefined
  /** Whether its syncer reports which objects git lacks. */
  readonly isExtraneous: boolean
  /** Numbers of listed objects that the package declares, that other packages declare, and that none declares. */
  readonly here: number
  readonly elsewhere: number
  readonly surplus: number
  /** Whether every live object of the package has the mark of this inventory. */
  readonly coversPackage: boolean
}

/**
 * Why an undeclared object may not belong to the package. Undefined if it does: the package names the inventory, the inventory is of the
 * package's folder, or it has all of the package, nothing of others, and at most as many undeclared objects as declared ones.
 */
export function whyNotOfPackage(extent: InventoryExtent, packagePath: string): string | undefined {
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

/** Whether the package may have objects in an inventory of this folder. */
export function isWithinFolder(packagePath: string, folder: string | undefined): boolean {
  return (
    folder === undefined ||
    folder === '' ||
    packagePath === folder ||
    packagePath.startsWith(`${folder}/`)
  )
}
