/** Reads the resources of the syncers that the package's objects name, and reports what they will do. Never fails the unit. */
import type { Unit } from '../../plan/turn/observation.ts'
import type { RenderChoice } from '../../render/render-choice.ts'
import { type Applier, applierOf, decidingClaims } from '../../status/applier.ts'
import type { ClusterSide } from './observe-cluster.ts'
import type { OwnResources } from './own-resources.ts'

interface AppliedPackage extends Pick<Unit, 'packagePath'> {
  /** Whether a pipeline creates what is applied. */
  readonly pipeline: boolean
  readonly render?: RenderChoice
  /** Of all files in its folder, from the folder. */
  readonly paths?: readonly string[]
}

/**
 * Reads nothing where no object names a syncer.
 * @throws only the reason of `signal`
 */
export async function observeApplier(
  own: OwnResources,
  { live, claims, verdicts, syncer }: Pick<ClusterSide, 'live' | 'claims' | 'verdicts' | 'syncer'>,
  { packagePath, pipeline, render, paths = [] }: AppliedPackage,
  signal: AbortSignal,
): Promise<Applier> {
  const drifts = verdicts.flatMap(({ items }) => items)
  const answers = await own.read(decidingClaims({ claims, drifts }), signal)
  const files = filesOf(verdicts)
  return applierOf({
    claims,
    live,
    own: answers,
    drifts,
    syncer,
    packagePath,
    pipeline,
    files,
    otherFiles: otherFilesIn(packagePath, paths, files),
    ...(render === undefined ? {} : { render }),
  })
}

/** Undefined where a function creates one of the objects: then it is in a file only after a render. */
function filesOf(verdicts: ClusterSide['verdicts']): readonly string[] | undefined {
  const locations = verdicts.flatMap(({ desired }) => desired?.location ?? [])
  return locations.some(({ step }) => step !== undefined) ? undefined : [...new Set(locations.map(({ path }) => path))].sort()
}

/** What `kubectl apply -R -f FOLDER` reads (k8s.io/cli-runtime `pkg/resource/builder.go`, FileExtensions). */
const READ_BY_KUBECTL = /\.(?:json|ya?ml)$/

function otherFilesIn(packagePath: string, paths: readonly string[], files: readonly string[] = []): boolean {
  const declared = new Set(files)
  return paths.some((path) => READ_BY_KUBECTL.test(path) && !declared.has(`${packagePath}/${path}`))
}
