/** The units that resources name which another unit builds, where files are all that is known of a cluster. */
import { Failure } from '../../failure.ts'
import { resourceKey } from '../../krm/resource-id.ts'
import type { DesiredResource } from '../../render/desired-set.ts'
import { printedResources } from '../../render/kustomize/read-built.ts'
import type { PackageRenderer } from '../../render/package-renderer.ts'
import type { RenderChoice } from '../../render/render-choice.ts'
import { SYNCERS } from '../../syncers/registry.ts'
import type { RefusedSource, ResourcesOf, SourcedRepository, UnitSource } from '../../syncers/unit-source.ts'
import type { JsonObject } from '../../text/json.ts'
import type { RepositoryView } from '../repository/repository-view.ts'
import { filesOfView } from '../repository/shared-sources.ts'
import { builtBy } from '../repository/unit-source.ts'
import { readSyncedSource } from './read-synced.ts'

export interface BuiltSources {
  readonly sources: readonly (UnitSource | RefusedSource)[]
  /** ConfigMaps beside the resources, by `resourceKey`. */
  readonly configMaps: ReadonlyMap<string, JsonObject>
  /** Units that cannot be built: what they apply is not known. */
  readonly unknown: readonly { readonly parent: UnitSource; readonly kind: string; readonly failure: Failure }[]
}

const BUILT = SYNCERS.flatMap(({ sources }) => (sources === 'none' || sources.built === undefined ? [] : [sources.built]))

/**
 * The build is the one that the turn makes of the unit anyway: a builder runs equal builds once.
 * @throws Failure BP40xx when git fails, MissingBuilds never
 */
export async function builtSources(
  { view, renderer }: { readonly view: RepositoryView; readonly renderer: PackageRenderer },
  parents: readonly (readonly [UnitSource, RenderChoice])[],
  from: { readonly of: ResourcesOf; readonly repository: SourcedRepository },
  signal: AbortSignal,
): Promise<BuiltSources> {
  const sources: (UnitSource | RefusedSource)[] = []
  const configMaps = new Map<string, JsonObject>()
  const unknown: BuiltSources['unknown'][number][] = []
  for (const [parent, choice] of parents)
    for (const { group, kind, read } of BUILT) {
      const objects = await objectsOf({ view, renderer }, choice, group, signal)
      if (objects instanceof Failure) unknown.push({ parent, kind, failure: objects })
      else {
        const own = objects.filter(({ id }) => id.group === group && id.kind === kind)
        sources.push(...read(own, parent, from.of, from.repository))
        for (const { id, object } of objects) if (id.group === '' && id.kind === 'ConfigMap') configMaps.set(resourceKey(id), object)
      }
    }
  return { sources, configMaps, unknown }
}

/** Nothing of a unit without a file that has the group in it. */
async function objectsOf(
  { view, renderer }: { readonly view: RepositoryView; readonly renderer: PackageRenderer },
  choice: RenderChoice,
  group: string,
  signal: AbortSignal,
): Promise<readonly DesiredResource[] | Failure> {
  if (choice.tool !== 'syncer') return []
  const { source, failures } = await readSyncedSource(filesOfView(view), { packagePath: '', files: [] }, choice.build, signal)
  const hasGroup = [...source.files.values()].some(({ content }) => new TextDecoder().decode(content).includes(group))
  if (!hasGroup) return []
  const [failure] = failures
  if (failure !== undefined) return failure
  try {
    const answer = await builtBy(renderer, source, signal)
    return 'failure' in answer ? new Failure(answer.failure) : printedResources(source, answer.text)
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
}
