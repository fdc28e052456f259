/** Argo CD's generation of manifests and the tools that it runs. */
import { ensureProgram, type FindOptions, type Unavailable } from '../programs/build-programs.ts'

/** As `hack/tool-versions.sh` of argo-cd v3.2.0 has them; the `go.mod` files of `test/programs/argo` name the same. */
export const VERSIONS = { 'argo-cd': 'v3.2.0', helm: 'v3.18.4', kustomize: 'v5.7.0' } as const

/** Paths of all of them. */
export interface ArgoPrograms {
  readonly state: 'ready'
  readonly programs: {
    readonly generate: string
    readonly helm: string
    readonly kustomize: string
  }
}

/** The programs to run, built where they are not there (`ensureProgram`). */
export async function findArgo(options: FindOptions = {}): Promise<ArgoPrograms | Unavailable> {
  const programs = { generate: '', helm: '', kustomize: '' }
  for (const name of ['generate', 'helm', 'kustomize'] as const) {
    const found = await ensureProgram(`argo-${name}`, options)
    if (found.state === 'unavailable') return found
    programs[name] = found.path
  }
  return { state: 'ready', programs }
}
