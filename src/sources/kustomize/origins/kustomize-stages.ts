/**
 * The stages of a build: bases first, then the folder's generators, its components, and its own
 * transformers (kustomize `api/internal/target/kusttarget.go`).
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { getKey } from '@backporch/kyaml/json'
import type { SourceDocument } from '../../build/adopt/source-document.ts'
import { resolvePath } from '../files/kustomization-walk.ts'
import { findKustomizationPath, type SourceFiles } from '../files/kustomize-build.ts'
import { getIdentityText } from './built-identity.ts'

interface Stage {
  readonly kustomization: SourceDocument
  readonly does: 'generate' | 'transform'
  /** Later ones override earlier ones. */
  readonly layers: readonly SourceDocument[]
}

interface StagesInput {
  readonly folder: string
  readonly files: SourceFiles
  readonly kustomizations: readonly SourceDocument[]
  readonly generated: SourceDocument | undefined
  readonly layers: readonly SourceDocument[]
}

export type Chain = readonly Stage[]

/** A base may be reached in several ways. Above this limit, none is followed. */
const MOST_CHAINS = 64
const NO_LAYERS: readonly SourceDocument[] = []

export const GENERATORS: { readonly [kind: string]: string } = {
  ConfigMap: 'configMapGenerator',
  Secret: 'secretGenerator',
}

export class KustomizeStages {
  private readonly files: SourceFiles
  private readonly kustomizations: ReadonlyMap<string, SourceDocument>
  private readonly root: SourceDocument | undefined
  private readonly layers: readonly SourceDocument[]

  constructor({ folder, files, kustomizations, generated, layers }: StagesInput) {
    this.files = files
    this.layers = layers
    this.kustomizations = new Map(kustomizations.map((each) => [each.path, each]))
    this.root = this.getKustomizationAt(folder) ?? generated
  }

  listChains(desired: DesiredResource): readonly Chain[] {
    return this.root === undefined ? [] : this.listChainsThrough(this.root, desired, new Set())
  }

  private getKustomizationAt(folder: string | undefined): SourceDocument | undefined {
    const path = folder === undefined ? undefined : findKustomizationPath(folder, this.files)
    return path === undefined ? undefined : this.kustomizations.get(path)
  }

  private listChainsThrough(
    kustomization: SourceDocument,
    desired: DesiredResource,
    above: ReadonlySet<string>,
  ): readonly Chain[] {
    if (above.has(kustomization.path)) return []
    const below = new Set([...above, kustomization.path])
    const layers = kustomization === this.root ? this.layers : NO_LAYERS
    const entering: Chain[] = containsDeclaration(kustomization, desired) ? [[]] : []
    for (const folder of this.listFolders(kustomization, 'resources', 'bases'))
      entering.push(...this.listChainsThrough(folder, desired, below))
    let chains = entering.map(
      (chain): Chain => [...chain, { kustomization, does: 'generate', layers: NO_LAYERS }],
    )
    for (const component of [kustomization, ...layers].flatMap((each) =>
      this.listFolders(each, 'components'),
    ))
      chains = [
        ...chains.map((chain) => [...chain, ...this.listAppliedBy(component, below)]),
        ...this.listChainsThrough(component, desired, below),
      ].slice(0, MOST_CHAINS)
    return chains
      .slice(0, MOST_CHAINS)
      .map((chain) => [...chain, { kustomization, does: 'transform', layers }])
  }

  private listAppliedBy(component: SourceDocument, above: ReadonlySet<string>): Chain {
    if (above.has(component.path)) return []
    const below = new Set([...above, component.path])
    return [
      { kustomization: component, does: 'generate', layers: NO_LAYERS },
      ...this.listFolders(component, 'components').flatMap((nested) =>
        this.listAppliedBy(nested, below),
      ),
      { kustomization: component, does: 'transform', layers: NO_LAYERS },
    ]
  }

  private listFolders(
    kustomization: SourceDocument,
    ...names: readonly string[]
  ): readonly SourceDocument[] {
    return names
      .flatMap((name) => kustomization.listTexts(name))
      .flatMap(({ text }) => this.getKustomizationAt(resolvePath(kustomization.folder, text)) ?? [])
  }
}

function containsDeclaration(
  kustomization: SourceDocument,
  { id, location }: DesiredResource,
): boolean {
  if (location.step === undefined)
    return ['resources', 'bases'].some((name) =>
      kustomization
        .listTexts(name)
        .some(({ text }) => resolvePath(kustomization.folder, text) === location.path),
    )
  return kustomization
    .listEntries(location.step)
    .some(({ value }) => isCreated(value) && id.name.includes(getIdentityText(value, 'name')))
}

export function isCreated(entry: Parameters<typeof getKey>[0]): boolean {
  return !['merge', 'replace'].includes(getIdentityText(entry, 'behavior'))
}
