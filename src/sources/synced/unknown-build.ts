import type { SyncerBuild, SyncerBuilder } from '../build/built-source.ts'
import { KUSTOMIZE_TOOL } from '../kustomize/kustomize-tool.ts'

/** Of a folder whose syncer cannot be asked. @param title of its resource, as it was known before */
export function unknownBuild(title: string, problem: string): SyncerBuild {
  const builder: SyncerBuilder = {
    fields: [],
    overrides: { names: [], field: '' },
    components: () => [],
    tool: KUSTOMIZE_TOOL,
    substitution: 'none',
    way: { print: () => '' },
    namespace: () => undefined,
    documents: () => [],
    finished: () => undefined,
  }
  return { title, folder: '', object: {}, variables: new Map(), problem, builder }
}
