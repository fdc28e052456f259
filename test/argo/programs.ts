/** Argo CD's generation of manifests and the tools that it runs, each built once per machine (`go/`). */
import { fileURLToPath } from 'node:url'
import { buildOnce, type Environment, findProgram, type GoBuild, goBuild, isExecutable } from '../controlplane/go-build.ts'

/** As `hack/tool-versions.sh` of argo-cd v3.2.0 has them. */
export const VERSIONS = { 'argo-cd': 'v3.2.0', helm: 'v3.18.4', kustomize: 'v5.7.0' } as const

export type ArgoProgram = 'generate' | 'application-sets' | 'helm' | 'kustomize'

interface Recipe {
  /** The package to build. */
  readonly target: string
  /** Values that the makers' own builds set. */
  readonly values: { readonly [variable: string]: string }
  readonly what: string
}

const RECIPES: Readonly<Record<ArgoProgram, Recipe>> = {
  generate: { target: '.', values: {}, what: "Argo CD's generation of manifests once, about 10 minutes on 2 cores" },
  'application-sets': { target: '.', values: {}, what: "Argo CD's generators of ApplicationSets once, about 3 minutes on 2 cores" },
  helm: {
    target: 'helm.sh/helm/v3/cmd/helm',
    values: {
      'helm.sh/helm/v3/internal/version.version': VERSIONS.helm,
      'helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor': '1',
      'helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor': '33',
    },
    what: 'Helm once, about 4 minutes on 2 cores',
  },
  kustomize: {
    target: 'sigs.k8s.io/kustomize/kustomize/v5',
    values: { 'sigs.k8s.io/kustomize/api/provenance.version': `kustomize/${VERSIONS.kustomize}` },
    what: 'kustomize once, about 1 minute on 2 cores',
  },
}

export interface BuiltProgram {
  readonly path: string
  /** 0 where it was there already. */
  readonly buildSeconds: number
}

/** Paths of all of them. */
export interface ArgoPrograms {
  readonly state: 'ready'
  readonly programs: Readonly<Record<Exclude<ArgoProgram, 'application-sets'>, string>>
}

/** Argo CD's generation cannot run on this machine. A statement about the machine, never about the code under test. */
export interface ArgoUnavailable {
  readonly state: 'unavailable'
  /** One sentence or more, for a person: what is missing and what to do. */
  readonly why: string
}

/** @param options `build`: whether to build what is not there, which takes minutes */
export async function findArgo(options: { readonly build: boolean }): Promise<ArgoPrograms | ArgoUnavailable> {
  const programs = { generate: '', helm: '', kustomize: '' }
  try {
    for (const name of ['generate', 'helm', 'kustomize'] as const) {
      const { binary } = await buildOf(name, process.env)
      if (!options.build && !(await isExecutable(binary)))
        throw new Error(`there is no build at ${binary}. Run \`node test/run.ts .argo.test\`, which builds it.`)
      programs[name] = (await argoProgram(name)).path
    }
  } catch (thrown) {
    return { state: 'unavailable', why: `cannot run Argo CD's generation here: ${(thrown as Error).message}` }
  }
  return { state: 'ready', programs }
}

/** @throws Error where it cannot be built on this machine */
export async function argoProgram(name: ArgoProgram, environment: Environment = process.env): Promise<BuiltProgram> {
  const { target, what } = RECIPES[name]
  const build = await buildOf(name, environment)
  if (await isExecutable(build.binary)) return { path: build.binary, buildSeconds: 0 }
  const go = await findProgram('go', environment)
  if (go === undefined) throw new Error(`there is no build at ${build.binary}, and there is no go on the PATH. Install Go.`)
  const report = (message: string): void => console.error(message)
  const outcome = await buildOnce(build, go, environment, { report, what, target })
  if (outcome.state === 'failed') throw new Error(`cannot build ${what}: ${outcome.why}`)
  return { path: build.binary, buildSeconds: outcome.state === 'built' ? outcome.seconds : 0 }
}

function buildOf(name: ArgoProgram, environment: Environment): Promise<GoBuild> {
  const { values } = RECIPES[name]
  const flags = ['-s', '-w', ...Object.entries(values).flatMap(([variable, value]) => ['-X', `${variable}=${value}`])]
  const module = fileURLToPath(new URL(`go/${name}/`, import.meta.url))
  return goBuild(`argo-${name}`, module, environment, false, () => [
    ...['build', '-mod=readonly', '-buildvcs=false', '-trimpath'],
    ...['-ldflags', flags.join(' ')],
  ])
}
