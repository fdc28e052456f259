/** Never fails the unit. */
import { textOf } from '@backporch/kyaml/json'
import { metadataText, parseApiVersion } from '@backporch/kyaml/resource'
import { joined, phrase, plain } from '@backporch/kyaml/text'
import type { Unit } from '../../plan/observation/observation.ts'
import type { SyncerBuild } from '../../sources/build/built-source.ts'
import type { RenderChoice } from '../../sources/build/render-choice.ts'
import { describeChoice } from '../../sources/registry.ts'
import { type Applier, applierOf, decidingClaims } from '../../status/applier.ts'
import { syncerReportOf } from '../../status/syncer-report.ts'
import { APPLIER_KINDS } from '../../syncers/registry.ts'
import type { Claim } from '../../syncers/syncer.ts'
import type { ClusterSide } from './observe-cluster.ts'
import type { OwnResources } from './own-resources.ts'

interface AppliedPackage extends Pick<Unit, 'packagePath'> {
  readonly pipeline: boolean
  readonly render?: RenderChoice
  readonly paths?: readonly string[]
}

/** @throws only the reason of `signal` */
export async function observeApplier(
  own: OwnResources,
  {
    live,
    claims: marked,
    verdicts,
    syncer,
  }: Pick<ClusterSide, 'live' | 'claims' | 'verdicts' | 'syncer'>,
  { packagePath, pipeline, render, paths = [] }: AppliedPackage,
  signal: AbortSignal,
): Promise<Applier> {
  const drifts = verdicts.flatMap(({ items }) => items)
  const synced = render === undefined ? undefined : describeChoice(render).synced
  const claims =
    marked.length === 0 && synced !== undefined ? sourceClaims(synced, [...live.keys()]) : marked
  const deciding = decidingClaims({ claims, drifts })
  const answers = await own.read(deciding, signal)
  const files = filesOf(verdicts)
  const applier = applierOf({
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
  const found =
    claims.length === 0 ? applier : { ...applier, report: syncerReportOf(deciding, answers) }
  return synced?.pinned === undefined ? found : withPinned(found, synced.pinned)
}

export function sourceClaims(
  { title, object }: SyncerBuild,
  keys: readonly string[],
): readonly Claim[] {
  const [kind, namespace, name] = [
    textOf(object, 'kind'),
    metadataText(object, 'namespace'),
    metadataText(object, 'name'),
  ]
  const { group } = parseApiVersion(textOf(object, 'apiVersion'))
  const applier = APPLIER_KINDS.find(
    (each) => plain(each.title({ kind, namespace, name })) === title,
  )
  if (applier === undefined) return []
  const wanted = [{ id: { group, kind, namespace, name }, apiVersion: '' }]
  return [{ tool: applier.tool, kind, namespace, name, wanted, objects: new Set(keys) }]
}

/** The merge alone restores nothing. */
function withPinned(applier: Applier, pinned: string): Applier {
  const warning = joined(
    [...(applier.warning === undefined ? [] : [applier.phrases.warning]), phrase`${pinned}`],
    '; ',
  )
  return {
    ...applier,
    restores: 'when-told',
    warning: plain(warning),
    phrases: { ...applier.phrases, warning },
  }
}

/** Undefined if a function creates an object: it is in a file only after a render. */
function filesOf(verdicts: ClusterSide['verdicts']): readonly string[] | undefined {
  const locations = verdicts.flatMap(({ desired }) => desired?.location ?? [])
  return locations.some(({ step }) => step !== undefined)
    ? undefined
    : [...new Set(locations.map(({ path }) => path))].sort()
}

/**
 * As `kubectl apply -R -f FOLDER` (k8s.io/cli-runtime `pkg/resource/builder.go`, FileExtensions).
 */
const READ_BY_KUBECTL = /\.(?:json|ya?ml)$/

function otherFilesIn(
  packagePath: string,
  paths: readonly string[],
  files: readonly string[] = [],
): boolean {
  const declared = new Set(files)
  return paths.some((path) => READ_BY_KUBECTL.test(path) && !declared.has(`${packagePath}/${path}`))
}
