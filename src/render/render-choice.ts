import { metadataText } from '../krm/resource.ts'
import { canonicalJson } from '../text/json.ts'
import type { FluxKustomization } from './flux/flux-kustomization.ts'

/** The tool that renders a unit, as the policy names it. */
export type RenderChoice =
  /** `kpt fn render`: the files, through the functions of a pipeline where there is one. */
  | { readonly tool: 'kpt' }
  /** The files as they are in git, without the pipeline of the Kptfile. */
  | { readonly tool: 'files' }
  /** `path`: folder of the kustomization, from the package; empty for the package itself. */
  | { readonly tool: 'kustomize'; readonly path: string }
  /** As Flux builds it. */
  | { readonly tool: 'flux-kustomization'; readonly kustomization: FluxKustomization }
  /** A program of the operator that prints the objects. */
  | { readonly tool: 'command'; readonly command: readonly string[] }

export const RENDERED_BY_KPT: RenderChoice = { tool: 'kpt' }

/** `kustomize overlays/prod`, for people. */
export function describeChoice(choice: RenderChoice): string {
  if (choice.tool === 'kustomize') return choice.path === '' ? 'kustomize' : `kustomize ${choice.path}`
  if (choice.tool === 'flux-kustomization') {
    const { object } = choice.kustomization
    return `Flux Kustomization ${metadataText(object, 'namespace')}/${metadataText(object, 'name')}`
  }
  return choice.tool === 'command' ? `the command ${JSON.stringify(choice.command.join(' '))}` : choice.tool
}

export function sameChoice(one: RenderChoice, other: RenderChoice): boolean {
  return JSON.stringify(wordsOf(one)) === JSON.stringify(wordsOf(other))
}

function wordsOf(choice: RenderChoice): readonly string[] {
  if (choice.tool === 'kustomize') return [choice.tool, choice.path]
  if (choice.tool === 'flux-kustomization') {
    const { object, variables } = choice.kustomization
    return [choice.tool, canonicalJson(object), canonicalJson([...variables].map((pair) => [...pair]))]
  }
  return choice.tool === 'command' ? [choice.tool, ...choice.command] : [choice.tool]
}
