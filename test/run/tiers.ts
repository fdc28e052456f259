/** The tiers of the tests, and what a file of tests needs to be there before it runs. */
import type { ImportGraph } from './import-graph.ts'

export const TIERS = [
  'unit',
  'kpt',
  'prometheus',
  'helm',
  'sops',
  'control plane',
  'gitea',
  'flux',
  'argo',
] as const
export type Tier = (typeof TIERS)[number]

/** A program, or a server that the whole run shares. */
export type Need =
  | 'bundle'
  | 'kpt'
  | 'control plane'
  | 'Gitea'
  | 'appliers'
  | 'Helm'
  | 'SOPS'
  | 'Prometheus'
  | 'Flux'
  | 'Argo CD'

/** Tests of these wait for servers more than they compute. */
const WAITING: ReadonlySet<Tier> = new Set(['prometheus', 'control plane', 'gitea', 'flux', 'argo'])

const BY_NAME: readonly (readonly [end: string, tier: Tier])[] = [
  ['.kpt.test.ts', 'kpt'],
  ['.prometheus.test.ts', 'prometheus'],
  ['.helm.test.ts', 'helm'],
  ['.sops.test.ts', 'sops'],
  ['.live.test.ts', 'control plane'],
  ['.gitea.test.ts', 'gitea'],
  ['.flux.test.ts', 'flux'],
  ['.argo.test.ts', 'argo'],
]

/** Files whose tests are about the servers themselves. */
const BY_FOLDER: readonly (readonly [folder: string, tier: Tier])[] = [
  ['test/controlplane/', 'control plane'],
  ['test/gitea/', 'gitea'],
]

/** @param file relative to the repository's root */
export function tierOf(file: string): Tier {
  const [, tier] =
    BY_NAME.find(([end]) => file.endsWith(end)) ??
    BY_FOLDER.find(([folder]) => file.startsWith(folder)) ??
    []
  return tier ?? 'unit'
}

export function isWaiting(tier: Tier): boolean {
  return WAITING.has(tier)
}

const BY_TIER: Readonly<Record<Tier, readonly Need[]>> = {
  unit: [],
  kpt: ['kpt'],
  prometheus: ['Prometheus'],
  helm: ['Helm'],
  sops: ['SOPS'],
  'control plane': ['control plane'],
  gitea: ['Gitea'],
  flux: ['Flux', 'Gitea', 'control plane'],
  argo: ['Argo CD', 'Gitea', 'control plane'],
}

/** A file that imports one of these, directly or not, needs it. A file that started without it would wait for the build in its place. */
const BY_IMPORT: readonly (readonly [file: string, need: Need])[] = [
  ['test/program.ts', 'bundle'],
  ['test/controlplane/shared-control-plane.ts', 'control plane'],
  ['test/gitea/shared-gitea.ts', 'Gitea'],
  ['test/appliers/appliers.ts', 'appliers'],
  ['test/appliers/flux-oracle.ts', 'appliers'],
  ['test/helm/find-helm.ts', 'Helm'],
  ['test/sops/find-sops.ts', 'SOPS'],
]

export function needsOf(file: string, graph: ImportGraph): ReadonlySet<Need> {
  const tier = tierOf(file)
  const closure = graph.closureOf(file)
  const imported = tier === 'unit' ? BY_IMPORT.slice(0, 1) : BY_IMPORT
  return new Set([
    ...BY_TIER[tier],
    ...imported.flatMap(([module, need]) => (closure.has(module) ? [need] : [])),
  ])
}

/**
 * Tests of the process as a whole: as such a file is loaded it changes its process, or starts a clock that would run while other files are tested.
 */
const ALONE = /^process\.(?:env\[.*\] =|chdir)|^const \w+ = AbortSignal\.timeout\(/m

export function isAlone(text: string): boolean {
  return ALONE.test(text)
}
