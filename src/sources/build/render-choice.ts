import { canonicalJson, partOf } from '@backporch/kyaml/json'
import type { ClusterCapabilities, SyncerBuild } from './syncer-build.ts'

/** The tool that renders a unit, as the policy names it. */
export type RenderChoice =
  /** `kpt fn render`: the files, through the functions of a pipeline where there is one. */
  | { readonly tool: 'kpt' }
  /** The files as they are in git, without the pipeline of the Kptfile. */
  | { readonly tool: 'files' }
  /** `path`: folder of the kustomization, from the package; empty for the package itself. */
  | { readonly tool: 'kustomize'; readonly path: string }
  | HelmChoice
  /** As a syncer builds it for a resource of its own. */
  | { readonly tool: 'syncer'; readonly build: SyncerBuild }
  /** A program of the operator that prints the objects. */
  | { readonly tool: 'command'; readonly command: readonly string[] }

/** `helm template`, for a release of this name. Paths are from the package. */
export interface HelmChoice {
  readonly tool: 'helm'
  /** Folder of the chart; empty for the package itself. */
  readonly path: string
  readonly release: string
  readonly namespace: string
  /** Files of values, the later ones over the earlier ones. */
  readonly values: readonly string[]
  /** Of the cluster that it is rendered for; undefined where it is rendered for none. */
  readonly capabilities?: ClusterCapabilities | undefined
}

export const RENDERED_BY_KPT: RenderChoice = { tool: 'kpt' }

/** `kustomize overlays/prod`, for people. */
export function describeChoice(choice: RenderChoice): string {
  if (choice.tool === 'kustomize') return choice.path === '' ? 'kustomize' : `kustomize ${choice.path}`
  if (choice.tool === 'helm') return `helm template ${choice.path || '.'} (release ${choice.namespace}/${choice.release})`
  if (choice.tool === 'syncer') return choice.build.title
  return choice.tool === 'command' ? `the command ${JSON.stringify(choice.command.join(' '))}` : choice.tool
}

/** The choice for a cluster: a chart asks what it serves. */
export function choiceFor(choice: RenderChoice, { version, apiVersions = [] }: Partial<ClusterCapabilities>): RenderChoice {
  return choice.tool === 'helm' && version !== undefined ? { ...choice, capabilities: { version, apiVersions } } : choice
}

export function sameChoice(one: RenderChoice, other: RenderChoice): boolean {
  return choiceKey(one) === choiceKey(other)
}

/** Equal for choices that build the same of the same files. */
export function choiceKey(choice: RenderChoice): string {
  return JSON.stringify(wordsOf(choice))
}

function wordsOf(choice: RenderChoice): readonly string[] {
  if (choice.tool === 'kustomize') return [choice.tool, choice.path]
  if (choice.tool === 'helm') return [choice.tool, choice.path, choice.release, choice.namespace, ...choice.values]
  if (choice.tool === 'syncer') {
    const { title, object, builder, variables, release, capabilities, artifact } = choice.build
    const spec = partOf(object, 'spec') ?? null
    const inputs = JSON.stringify([release, capabilities, artifact?.ignore ?? '', artifact?.sparse ?? [], artifact?.included ?? []])
    return [choice.tool, title, canonicalJson([spec, [...builder.fields], [...variables].map((pair) => [...pair]), inputs])]
  }
  return choice.tool === 'command' ? [choice.tool, ...choice.command] : [choice.tool]
}
