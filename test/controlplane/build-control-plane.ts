import { type BuildOutcome, buildOnce, type Environment, type GoBuild, goBuild } from './go-build.ts'

// The tags are those of the upstream release build: they keep net/trace out, which would stop dead code elimination.
const TAGS = 'grpcnotrace,notest'

/**
 * What would be built from `module`. Reads the sources, builds nothing. The cache is outside of the checkout, so that
 * a fresh clone finds it: `${XDG_CACHE_HOME:-~/.cache}/backporch/controlplane/<key>/controlplane`. The binary is static.
 */
export function controlPlaneBuild(module: string, environment: Environment): Promise<GoBuild> {
  return goBuild('controlplane', module, environment, false, goBuildArguments)
}

/**
 * Builds; see `buildOnce`.
 *
 * @param report called with a sentence when this is going to take minutes.
 */
export function buildControlPlane(
  build: GoBuild,
  go: string,
  environment: Environment,
  report: (message: string) => void,
): Promise<BuildOutcome> {
  return buildOnce(build, go, environment, { report, what: 'the test control plane once, about 4 minutes on 2 cores' })
}

/**
 * The version is linked in: without it `/version` says v0.0.0-master, and clients that look at the server's version
 * see a server from before everything. It is read from `go.mod`, so that there is one place to change it.
 */
function goBuildArguments(goMod: string): string[] {
  const [, gitVersion, gitMajor, gitMinor] = /^\s*k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\S+)/m.exec(goMod) ?? []
  if (gitVersion === undefined) throw new Error('go.mod does not require k8s.io/kubernetes')
  const facts = { gitVersion, gitMajor, gitMinor, gitTreeState: 'clean' }
  const linked = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((name) =>
    Object.entries(facts).map(([fact, value]) => `-X ${name}.${fact}=${value}`),
  )
  const ldflags = ['-s', '-w', ...linked].join(' ')
  return ['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-tags', TAGS, '-ldflags', ldflags]
}
