import { ARGO_CD } from './argo-cd/argo-cd-source.ts'
import type { ClusterCapabilities, SyncerBuild, SyncerBuilder } from './build/built-source.ts'
import { PLAIN_BUILDER } from './build/plain-builder.ts'
import type { RenderChoice, SyncedChoice } from './build/render-choice.ts'
import type { Description, Source } from './build/source.ts'
import type { SourceDiscovery } from './build/unit-source.ts'
import { COMMAND } from './command/command-source.ts'
import { CONFIG_SYNC } from './config-sync/config-sync-source.ts'
import { FILES } from './files/files-source.ts'
import { FLUX } from './flux/flux-source.ts'
import { HELM } from './helm/helm-source.ts'
import { KPT } from './kpt/kpt-source.ts'
import { KUSTOMIZE } from './kustomize/kustomize-source.ts'
import { KUSTOMIZE_TOOL } from './kustomize/kustomize-tool.ts'

type ChoiceOf<Tool> = Tool extends SyncedChoice['tool']
  ? SyncedChoice
  : Extract<RenderChoice, { readonly tool: Tool }>

/** In the order in which resources that name units are read. */
export const SOURCES = {
  kpt: KPT,
  files: FILES,
  kustomize: KUSTOMIZE,
  helm: HELM,
  flux: FLUX,
  'argo-cd': ARGO_CD,
  'config-sync': CONFIG_SYNC,
  command: COMMAND,
} satisfies { readonly [Tool in RenderChoice['tool']]: Source<ChoiceOf<Tool>> }

export const DISCOVERIES: readonly SourceDiscovery[] = Object.values(SOURCES).flatMap(
  ({ discover }) => (discover === 'none' ? [] : [discover]),
)

export function getSource(choice: RenderChoice): Source<RenderChoice> {
  // The compiler cannot infer the common tool through the index.
  return SOURCES[choice.tool] as unknown as Source<RenderChoice>
}

export function describeChoice(choice: RenderChoice): Description {
  return getSource(choice).describe(choice)
}

/** Empty without a known syncer. */
export function getAppliedBy(choice: RenderChoice): { readonly appliedBy?: string } {
  const { synced } = describeChoice(choice)
  return synced === undefined ? {} : { appliedBy: synced.title }
}

/** A chart queries what the cluster serves. */
export function adjustChoice(
  choice: RenderChoice,
  { version, apiVersions = [] }: Partial<ClusterCapabilities>,
): RenderChoice {
  return (
    (version === undefined
      ? undefined
      : describeChoice(choice).forCluster?.({ version, apiVersions })) ?? choice
  )
}

export function isSameChoice(one: RenderChoice, other: RenderChoice): boolean {
  return computeChoiceKey(one) === computeChoiceKey(other)
}

export function computeChoiceKey(choice: RenderChoice): string {
  return JSON.stringify(describeChoice(choice).key)
}

/** For a unit whose syncer cannot be asked. */
export function createUnknownChoice(title: string, why: string): SyncedChoice {
  const named = Object.entries(SOURCES).find(
    ([, { discover }]) => discover !== 'none' && title.startsWith(`${discover.name} `),
  )
  return {
    tool: (named?.[0] ?? 'flux') as SyncedChoice['tool'],
    build: createUnknownBuild(title, why),
  }
}

/** For a folder whose syncer cannot be asked. */
export function createUnknownBuild(title: string, problem: string): SyncerBuild {
  const builder: SyncerBuilder = {
    ...PLAIN_BUILDER,
    tool: KUSTOMIZE_TOOL,
    way: { print: () => '' },
    namespace: () => undefined,
    documents: () => [],
    finished: () => undefined,
  }
  return { title, folder: '', object: {}, variables: new Map(), problem, builder }
}
