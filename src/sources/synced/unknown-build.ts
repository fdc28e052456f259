import type { SyncerBuild, SyncerBuilder } from '../build/built-source.ts'
import { PLAIN_BUILDER } from '../build/plain-builder.ts'
import { KUSTOMIZE_TOOL } from '../kustomize/kustomize-tool.ts'

/** Of a folder whose syncer cannot be asked. @param title of its resource, as it was known before */
export function unknownBuild(title: string, problem: string): SyncerBuild {
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
