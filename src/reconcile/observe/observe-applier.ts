/** Observes the syncer of a unit. A failure here never fails the unit. */
import { getTextAt } from '@backporch/kyaml/json'
import { getMetadataText, parseApiVersion } from '@backporch/kyaml/resource'
import { formatPhrase, joinPhrases, phrase } from '@backporch/kyaml/text'
import type { Unit } from '../../plan/observation/observation.ts'
import type { SyncerBuild } from '../../sources/build/built-source.ts'
import type { RenderChoice } from '../../sources/build/render-choice.ts'
import { describeChoice } from '../../sources/registry.ts'
import { type Applier, determineApplier, selectDecidingClaims } from '../../status/applier.ts'
import { createSyncerReport } from '../../status/syncer-report.ts'
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
    marked.length === 0 && synced !== undefined
      ? listSourceClaims(synced, [...live.keys()])
      : marked
  const deciding = selectDecidingClaims({ claims, drifts })
  const answers = await own.read(deciding, signal)
  const files = listDesiredFiles(verdicts)
  const applier = determineApplier({
    claims,
    live,
    own: answers,
    drifts,
    syncer,
    packagePath,
    pipeline,
    files,
    otherFiles: hasOtherFiles(packagePath, paths, files),
    ...(render === undefined ? {} : { render }),
  })
  const found =
    claims.length === 0 ? applier : { ...applier, report: createSyncerReport(deciding, answers) }
  return synced?.pinned === undefined ? found : addPinnedWarning(found, synced.pinned)
}

export function listSourceClaims(
  { title, object }: SyncerBuild,
  keys: readonly string[],
): readonly Claim[] {
  const [kind, namespace, name] = [
    getTextAt(object, 'kind'),
    getMetadataText(object, 'namespace'),
    getMetadataText(object, 'name'),
  ]
  const { group } = parseApiVersion(getTextAt(object, 'apiVersion'))
  const applier = APPLIER_KINDS.find(
    (each) => formatPhrase(each.title({ kind, namespace, name })) === title,
  )
  if (applier === undefined) return []
  const wanted = [{ id: { group, kind, namespace, name }, apiVersion: '' }]
  return [{ tool: applier.tool, kind, namespace, name, wanted, objects: new Set(keys) }]
}

/** The merge alone restores nothing. */
function addPinnedWarning(applier: Applier, pinned: string): Applier {
  const warning = joinPhrases(
    [...(applier.warning === undefined ? [] : [applier.phrases.warning]), phrase`${pinned}`],
    '; ',
  )
  return {
    ...applier,
    restores: 'when-told',
    warning: formatPhrase(warning),
    phrases: { ...applier.phrases, warning },
  }
}

/** Undefined if a function creates an object: it is in a file only after a render. */
function listDesiredFiles(verdicts: ClusterSide['verdicts']): readonly string[] | undefined {
  const locations = verdicts.flatMap(({ desired }) => desired?.location ?? [])
  return locations.some(({ step }) => step !== undefined)
    ? undefined
    : [...new Set(locations.map(({ path }) => path))].sort()
}

/**
 * As `kubectl apply -R -f FOLDER` (k8s.io/cli-runtime `pkg/resource/builder.go`, FileExtensions).
 */
const READ_BY_KUBECTL = /\.(?:json|ya?ml)$/

function hasOtherFiles(
  packagePath: string,
  paths: readonly string[],
  files: readonly string[] = [],
): boolean {
  const declared = new Set(files)
  return paths.some((path) => READ_BY_KUBECTL.test(path) && !declared.has(`${packagePath}/${path}`))
}
