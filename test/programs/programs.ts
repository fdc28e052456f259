/**
 * Every Go program that tests run: the one list of what is built, from what, how long that takes, and why it is built. What Debian
 * has in a version that serves is not here: Prometheus and `age-keygen` come from the `PATH`.
 *
 * The order is that of the build: tests that need a program of the top are many or take long. `build-programs.ts` is the door.
 */
import { fileURLToPath } from 'node:url'

export type ProgramName = keyof typeof PROGRAMS

export interface GoProgram {
  /** For people: `cannot run Gitea here`. */
  readonly title: string
  /** Folder with `go.mod`. */
  readonly module: string
  /** The package to build. Defaults to that of the folder. */
  readonly target?: string
  /** Whether C is compiled too, for which gcc is needed. */
  readonly cgo?: boolean
  readonly tags?: string
  /** Variables that the makers' own builds set, from the text of `go.mod`: there is one place to change a version. */
  readonly variables?: (goMod: string) => Readonly<Record<string, string>>
  readonly beside?: CopiedFolders
  /**
   * CPU seconds of its build on an AMD EPYC, measured once in the order of this list, with caches that were empty before the first: a program
   * shares compiled packages with those before it. Modules are downloaded in this time too.
   */
  readonly cpuSeconds: number
  /** Why it is built here and not installed from a package of Debian 12. */
  readonly why: string
}

/** Folders of a module that a program reads when it runs. With a copy, a cached build needs neither Go nor its module cache. */
export interface CopiedFolders {
  /** Name of the folder beside the program. */
  readonly folder: string
  readonly module: string
  /** Where in `folder` each folder of the module is. */
  readonly copies: Readonly<Record<string, string>>
}

const NOT_PACKAGED = 'Debian 12 has no package of it'
const LIBRARIES = 'a program of ours around libraries'

export const PROGRAMS = {
  controlplane: {
    title: 'a control plane',
    module: folder('controlplane'),
    // The tags are those of the upstream release build: they keep net/trace out, which would stop dead code elimination.
    tags: 'grpcnotrace,notest',
    variables: kubernetesVersion,
    cpuSeconds: 439,
    why: 'Debian 12 has no kube-apiserver, and etcd 3.4 where Kubernetes 1.34 requires 3.6',
  },
  gitea: {
    title: 'Gitea',
    module: folder('gitea'),
    cgo: true,
    // `sqlite` is a database without a server, written in C; the other lets a writer wait for its turn. Gitea's own test tags.
    tags: 'sqlite,sqlite_unlock_notify',
    // Without it `/api/v1/version` says `development`.
    variables: (goMod) => ({
      'main.version': versionIn(goMod, 'code.gitea.io/gitea').slice('v'.length),
    }),
    // What its published binary has inside: page templates, translations and licences, pictures.
    beside: {
      folder: 'static',
      module: 'code.gitea.io/gitea',
      copies: { templates: 'templates', options: 'options', public: 'public' },
    },
    cpuSeconds: 321,
    why: NOT_PACKAGED,
  },
  appliers: {
    title: 'the appliers',
    module: folder('appliers'),
    cpuSeconds: 161,
    why: `${LIBRARIES} of Helm 3, Helm 4, Flux and Argo CD`,
  },
  helm3: {
    title: 'Helm 3',
    module: folder('helm'),
    target: 'helm.sh/helm/v3/cmd/helm',
    cpuSeconds: 94,
    why: NOT_PACKAGED,
  },
  helm4: {
    title: 'Helm 4',
    module: folder('helm'),
    target: 'helm.sh/helm/v4/cmd/helm',
    cpuSeconds: 17,
    why: NOT_PACKAGED,
  },
  sops: {
    title: 'SOPS',
    module: folder('sops'),
    target: 'github.com/getsops/sops/v3/cmd/sops',
    cpuSeconds: 97,
    why: NOT_PACKAGED,
  },
  'source-controller': fluxController('source-controller', 318),
  'kustomize-controller': fluxController('kustomize-controller', 24),
  'helm-controller': fluxController('helm-controller', 13),
  'argo-generate': {
    title: "Argo CD's generation of manifests",
    module: folder('argo/generate'),
    cpuSeconds: 227,
    why: `${LIBRARIES} of Argo CD`,
  },
  'argo-helm': {
    title: "Argo CD's Helm",
    module: folder('argo/helm'),
    target: 'helm.sh/helm/v3/cmd/helm',
    variables: (goMod) => ({
      'helm.sh/helm/v3/internal/version.version': versionIn(goMod, 'helm.sh/helm/v3'),
      'helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor': '1',
      'helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor': '33',
    }),
    cpuSeconds: 126,
    why: `${NOT_PACKAGED}, and Argo CD has another version than the one that Backporch runs beside it`,
  },
  'argo-kustomize': {
    title: "Argo CD's kustomize",
    module: folder('argo/kustomize'),
    target: 'sigs.k8s.io/kustomize/kustomize/v5',
    variables: (goMod) => ({
      'sigs.k8s.io/kustomize/api/provenance.version': `kustomize/${versionIn(goMod, 'sigs.k8s.io/kustomize/kustomize/v5')}`,
    }),
    cpuSeconds: 15,
    why: NOT_PACKAGED,
  },
  // For recordings alone: no test runs it.
  'argo-application-sets': {
    title: "Argo CD's generators of ApplicationSets",
    module: folder('argo/application-sets'),
    cpuSeconds: 24,
    why: `${LIBRARIES} of Argo CD`,
  },
} as const satisfies Readonly<Record<string, GoProgram>>

function fluxController(name: string, cpuSeconds: number): GoProgram {
  const module = `github.com/fluxcd/${name}`
  const beside = { folder: 'definitions', module, copies: { 'config/crd/bases': '' } }
  return {
    title: `Flux's ${name}`,
    module: folder('flux'),
    target: module,
    beside,
    cpuSeconds,
    why: NOT_PACKAGED,
  }
}

function folder(name: string): string {
  return fileURLToPath(new URL(`${name}/`, import.meta.url))
}

/** Without it `/version` says v0.0.0-master, and clients that look at the server's version see a server from before everything. */
function kubernetesVersion(goMod: string): Readonly<Record<string, string>> {
  const gitVersion = versionIn(goMod, 'k8s.io/kubernetes')
  const [gitMajor = '', gitMinor = ''] = gitVersion.slice('v'.length).split('.')
  const facts = { gitVersion, gitMajor, gitMinor, gitTreeState: 'clean' }
  const packages = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version']
  return Object.fromEntries(
    packages.flatMap((name) =>
      Object.entries(facts).map(([fact, value]) => [`${name}.${fact}`, value]),
    ),
  )
}

function versionIn(goMod: string, module: string): string {
  const line = goMod.split('\n').find((text) => text.trim().startsWith(`${module} v`))
  const version = line?.trim().split(' ')[1]
  if (version === undefined) throw new Error(`go.mod does not require ${module}`)
  return version
}
