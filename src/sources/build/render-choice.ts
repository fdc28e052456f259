import type { ClusterCapabilities, SyncerBuild } from './built-source.ts'

export type RenderChoice =
  | { readonly tool: 'kpt' }
  | { readonly tool: 'files' }
  /** From the package; empty for the package itself. */
  | { readonly tool: 'kustomize'; readonly path: string }
  | HelmChoice
  | SyncedChoice
  | { readonly tool: 'command'; readonly command: readonly string[] }

export interface SyncedChoice {
  readonly tool: 'flux' | 'argo-cd' | 'config-sync'
  readonly build: SyncerBuild
}

/** Paths are from the package. */
export interface HelmChoice {
  readonly tool: 'helm'
  readonly path: string
  readonly release: string
  readonly namespace: string
  readonly values: readonly string[]
  readonly capabilities?: ClusterCapabilities | undefined
}

export const RENDERED_BY_KPT: RenderChoice = { tool: 'kpt' }
export const AS_FILES: RenderChoice = { tool: 'files' }
