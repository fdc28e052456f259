/** What an inventory lists beyond git, and whether that concerns a package: an inventory often covers more than one. */
import type { ResourceId } from '../../krm/resource-id.ts'
import { resourceKey } from '../../krm/resource-id.ts'

/** Objects that some files declare, as an inventory may list them. */
export class DeclaredIds {
  private readonly keys = new Set<string>()
  /** Of those without a namespace: `group/Kind//name`. */
  private readonly floating = new Set<string>()
  /** Of all, without their namespace. */
  private readonly anywhere = new Set<string>()

  /** @param namespace where an object without one goes: the namespace of the context */
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

  /** @param choosesNamespace whether who applied the files puts objects without a namespace where he likes */
  has(id: ResourceId, choosesNamespace: boolean): boolean {
    const bare = resourceKey({ ...id, namespace: '' })
    // A kind that lies in no namespace may be declared with one, which the server drops.
    if (this.keys.has(resourceKey(id)) || (id.namespace === '' && this.anywhere.has(bare))) return true
    return choosesNamespace && this.floating.has(bare)
  }
}

export interface InventoryExtent {
  /** For people: `Flux Kustomization flux-system/apps`. */
  readonly source: string
  /** Whether the package itself names the inventory. */
  readonly reference: boolean
  /** Folder of git that the inventory is of, empty for the root; undefined where that is not known. */
  readonly folder: string | undefined
  /** What is done to the files of the folder, so that git need not have the objects by their names; undefined: nothing. */
  readonly transformed: string | undefined
  /** Whether its syncer itself reports which objects git lacks. */
  readonly isExtraneous: boolean
  /** Listed objects that the package declares, that other packages declare, and that none does. */
  readonly here: number
  readonly elsewhere: number
  readonly surplus: number
  /** Whether every live object of the package is marked as of this inventory. */
  readonly coversPackage: boolean
}

/**
 * Why an undeclared object is not surely the package's. Undefined: it is, because the package names the inventory, or because the inventory
 * is of the package's folder, or because it has all of the package, nothing of another one, and no more of what git lacks than of what git has.
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
  return extent.here >= extent.surplus ? undefined : `${source} lists more objects that git lacks than objects of the package`
}

/** Whether a package of the repository may have put objects into an inventory of this folder. */
export function isWithinFolder(packagePath: string, folder: string | undefined): boolean {
  return folder === undefined || folder === '' || packagePath === folder || packagePath.startsWith(`${folder}/`)
}
