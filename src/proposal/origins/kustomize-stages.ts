/**
 * The stages of a build in their order: bases first, then the generators of the folder, its components, and its own transformers
 * (kustomize `api/internal/target/kusttarget.go`).
 */

import type { DesiredResource } from '../../render/desired-set.ts'
import { resolvePath } from '../../render/kustomize/kustomization-walk.ts'
import { kustomizationOf, type SourceFiles } from '../../render/kustomize/kustomize-build.ts'
import type { getKey } from '../../text/json.ts'
import type { SourceDocument } from '../adopt/kustomization-node.ts'
import { textOf } from './built-identity.ts'

export interface Stage {
  readonly kustomization: SourceDocument
  readonly does: 'generate' | 'transform'
}

/** From the stage where the object enters the build to the last one. */
export type Chain = readonly Stage[]

/** A base may be reached in several ways. Above this limit, none is followed. */
const MOST_CHAINS = 64

export const GENERATORS: { readonly [kind: string]: string } = { ConfigMap: 'configMapGenerator', Secret: 'secretGenerator' }

export class KustomizeStages {
  private readonly folder: string
  private readonly files: SourceFiles
  private readonly kustomizations: ReadonlyMap<string, SourceDocument>

  private readonly syncer: SourceDocument | undefined

  /**
   * @param folder of the built kustomization
   * @param syncer the fields that a syncer adds to that kustomization
   */
  constructor(folder: string, files: SourceFiles, kustomizations: readonly SourceDocument[], syncer?: SourceDocument) {
    this.folder = folder
    this.files = files
    this.syncer = syncer
    this.kustomizations = new Map(kustomizations.map((each) => [each.path, each]))
  }

  chainsOf(desired: DesiredResource): readonly Chain[] {
    const root = this.at(this.folder)
    const chains = root === undefined ? [] : this.through(root, desired, new Set())
    const { syncer } = this
    return syncer === undefined ? chains : chains.map((chain): Chain => [...chain, { kustomization: syncer, does: 'transform' }])
  }

  private at(folder: string | undefined): SourceDocument | undefined {
    const path = folder === undefined ? undefined : kustomizationOf(folder, this.files)
    return path === undefined ? undefined : this.kustomizations.get(path)
  }

  private through(kustomization: SourceDocument, desired: DesiredResource, above: ReadonlySet<string>): readonly Chain[] {
    if (above.has(kustomization.path)) return []
    const below = new Set([...above, kustomization.path])
    const entering: Chain[] = declares(kustomization, desired) ? [[]] : []
    for (const folder of this.foldersOf(kustomization, 'resources', 'bases')) entering.push(...this.through(folder, desired, below))
    let chains = entering.map((chain): Chain => [...chain, { kustomization, does: 'generate' }])
    for (const component of this.foldersOf(kustomization, 'components'))
      chains = [
        ...chains.map((chain) => [...chain, ...this.appliedBy(component, below)]),
        ...this.through(component, desired, below),
      ].slice(0, MOST_CHAINS)
    return chains.slice(0, MOST_CHAINS).map((chain) => [...chain, { kustomization, does: 'transform' }])
  }

  /** The stages of a component, for objects of the kustomization that names it. */
  private appliedBy(component: SourceDocument, above: ReadonlySet<string>): Chain {
    if (above.has(component.path)) return []
    const below = new Set([...above, component.path])
    return [
      { kustomization: component, does: 'generate' },
      ...this.foldersOf(component, 'components').flatMap((nested) => this.appliedBy(nested, below)),
      { kustomization: component, does: 'transform' },
    ]
  }

  private foldersOf(kustomization: SourceDocument, ...names: readonly string[]): readonly SourceDocument[] {
    return names.flatMap((name) => kustomization.texts(name)).flatMap(({ text }) => this.at(resolvePath(kustomization.folder, text)) ?? [])
  }
}

function declares(kustomization: SourceDocument, { id, location }: DesiredResource): boolean {
  if (location.step === undefined)
    return ['resources', 'bases'].some((name) =>
      kustomization.texts(name).some(({ text }) => resolvePath(kustomization.folder, text) === location.path),
    )
  return kustomization.entries(location.step).some(({ value }) => isCreated(value) && id.name.includes(textOf(value, 'name')))
}

/** Whether the generator creates an object, and does not write to an existing one. */
export function isCreated(entry: Parameters<typeof getKey>[0]): boolean {
  return !['merge', 'replace'].includes(textOf(entry, 'behavior'))
}
