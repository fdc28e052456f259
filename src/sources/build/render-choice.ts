import type { ClusterCapabilities, SyncerBuild } from './built-source.ts'

/** The tool that renders a unit, as the policy names it. */
export type RenderChoice =
  /** `kpt fn render`: the files, through the functions of a pipeline where there is one. */
  | { readonly tool: 'kpt' }
  /** The files as they are in git, without the pipeline of the Kptfile. */
  | { readonly tool: 'files' }
  /** `path`: folder of the kustomization, from the package; empty for the package itself. */
  | { readonly tool: 'kustomize'; readonly path: string }
  | HelmChoice
  | SyncedChoice
  /** A program of the operator that prints the objects. */
  | { readonly tool: 'command'; readonly command: readonly string[] }

/** As a syncer builds it for a resource of its own. */
export interface SyncedChoice {
  readonly tool: 'flux' | 'argo-cd' | 'config-sync'
  readonly build: SyncerBuild
}

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
export const AS_FILES: RenderChoice = { tool: 'files' }
