import type { FoundPackage } from '@backporch/kpt/package'
import { convertToFailure, Failure, Failures, listFailures } from '@backporch/kyaml/failure'
import type { LabelSelector } from '@backporch/kyaml/resource'
import { deriveEffectivePolicy } from '../../../policy/effective-policy.ts'
import { mapVariablePlaces } from '../../../sources/build/built-source.ts'
import type { RenderChoice } from '../../../sources/build/render-choice.ts'
import type { PackageRenderer } from '../../../sources/kpt/render/package-renderer.ts'
import { joinFolderPath } from '../../../sources/kustomize/files/kustomization-walk.ts'
import { describeChoice, getSource, isSameChoice } from '../../../sources/registry.ts'
import { mapConcurrent } from '../../repository/each-of.ts'
import { choosePackages } from '../../repository/manifest-folders.ts'
import { selectByLabels } from '../../repository/package-labels.ts'
import {
  listClusterPackages,
  type RepositoryView,
  readAhead,
  readFolder,
} from '../../repository/repository-view.ts'
import { getViewFiles } from '../../repository/sources/shared-sources.ts'
import { isInside } from '../../repository/sources/unit-source.ts'
import { type LoadedPackage, loadPackage } from '../load-package.ts'
import type { UnitSelection } from '../turn-request.ts'

const WIDTH = 2

export interface MergeSide {
  readonly view: RepositoryView
  readonly renderer: PackageRenderer
  /** By folder and rendering, for one commit: clusters share most of them. */
  readonly reads: Map<string, Promise<ReadonlySet<string>>>
}

interface MergeSides {
  readonly before: MergeSide
  readonly after: MergeSide
}

/** Undefined: not a unit on that side. */
export type BuiltSide =
  | LoadedPackage
  | { readonly failures: readonly [Failure, ...Failure[]] }
  | undefined

export interface BuiltUnit {
  readonly path: string
  readonly edited: readonly string[]
  readonly before: BuiltSide
  readonly after: BuiltSide
}

export interface TouchedUnits {
  readonly units: readonly BuiltUnit[]
  readonly built: readonly BuiltUnit[]
  readonly untouched: number
  readonly applied: ReadonlySet<string>
}

interface TouchedBy {
  readonly cluster: string
  readonly edited: ReadonlySet<string>
  readonly wanted: Wanted
  readonly declaring: ReadonlySet<string>
}

export async function buildTouched(
  { before, after }: MergeSides,
  { cluster, edited, wanted, declaring }: TouchedBy,
  signal: AbortSignal,
): Promise<TouchedUnits> {
  const of = ({ view }: MergeSide): ReadonlyMap<string, FoundPackage> => {
    const applying = declaring.size === 0 ? [] : indexUnits(view, cluster, undefined)
    return new Map([...applying, ...indexUnits(view, cluster, wanted)])
  }
  const [was, is] = [of(before), of(after)]
  const paths = [...new Set([...was.keys(), ...is.keys()])].sort()
  await readAhead(before.view, [...was.values()], [], signal)
  await readAhead(after.view, [...is.values()], [], signal)
  const read = await mapConcurrent(paths, WIDTH, async (path) => {
    const files = new Set([
      ...(await readBy(before, was.get(path), cluster, signal)),
      ...(await readBy(after, is.get(path), cluster, signal)),
    ])
    return { path, files, edited: [...files].filter((file) => edited.has(file)).sort() }
  })
  const isWanted = ({ path }: { readonly path: string }): boolean => wanted?.has(path) !== false
  // An added or removed unit is a change, whatever files cause it.
  const touched = read.filter(
    (unit) =>
      unit.edited.length > 0 || was.has(unit.path) !== is.has(unit.path) || isRebuilt(unit.path),
  )
  const chosen = touched.filter(
    (unit) => isWanted(unit) || [...unit.files].some((file) => declaring.has(file)),
  )
  const built = await mapConcurrent(chosen, WIDTH, async ({ path, edited: own }) => ({
    path,
    edited: own,
    before: await build(before, was.get(path), cluster, signal),
    after: await build(after, is.get(path), cluster, signal),
  }))
  return {
    units: built.filter(isWanted),
    built,
    untouched: read.filter(isWanted).length - touched.filter(isWanted).length,
    applied: new Set(
      read.flatMap(({ path, files }) => {
        const beside = [before, after].flatMap(({ view }) => listFilesBeside(view, cluster, path))
        return [...files].filter((file) => isInside(file, path) || !beside.includes(file))
      }),
    ),
  }

  function isRebuilt(path: string): boolean {
    const [one, other] = [before, after].map(({ view }) =>
      view.policies.synced?.get(cluster)?.get(path),
    )
    return one !== undefined && other !== undefined && !isSameChoice(one, other)
  }
}

function listFilesBeside(
  { policies }: RepositoryView,
  cluster: string,
  path: string,
): readonly string[] {
  const build = policies.synced?.get(cluster)?.get(path)?.build
  if (build === undefined) return []
  const { path: declared, generator } = build.declared ?? {}
  return [
    ...(declared === undefined ? [] : [declared]),
    ...(generator?.reads ?? []),
    ...[...mapVariablePlaces(build).values()].map((place) => place.path),
  ]
}

/** Undefined for all of the cluster. */
type Wanted = ReadonlySet<string> | undefined

export async function findNamedUnits(
  { packages: names, labels }: UnitSelection,
  cluster: string,
  views: readonly RepositoryView[],
  signal: AbortSignal,
): Promise<{ readonly wanted: Wanted; readonly missing: ReadonlyMap<string, Failure> }> {
  const paths = new Set<string>()
  const missing = new Map<string, Failure>()
  for (const name of names) {
    for (const view of views) {
      try {
        for (const { path } of await choosePackages(view, [name], signal)) paths.add(path)
        missing.delete(name)
        break
      } catch (thrown) {
        const failure = convertToFailure(thrown)
        if (failure.code !== 'BP1004') throw thrown
        if (!missing.has(name)) missing.set(name, failure)
      }
    }
  }
  const wanted = names.length === 0 ? undefined : paths
  if (labels === undefined) return { wanted, missing }
  const selected = new Set<string>()
  for (const view of views) {
    const units = [...indexUnits(view, cluster, wanted).values()]
    if (units.length > 0)
      for (const { path } of await selectLabelled(view, units, labels, signal)) selected.add(path)
  }
  return { wanted: selected, missing }
}

/** None is a valid answer here: the head may be about other units. */
async function selectLabelled(
  view: RepositoryView,
  units: readonly FoundPackage[],
  labels: LabelSelector,
  signal: AbortSignal,
): Promise<readonly FoundPackage[]> {
  try {
    return await selectByLabels(view, units, labels, signal)
  } catch (thrown) {
    if (convertToFailure(thrown).code !== 'BP1011') throw thrown
    return []
  }
}

function indexUnits(
  view: RepositoryView,
  cluster: string,
  wanted: Wanted,
): ReadonlyMap<string, FoundPackage> {
  const own =
    wanted === undefined
      ? listClusterPackages(view, cluster)
      : view.packages.filter(({ path }) => wanted.has(path))
  return new Map(own.map((found) => [found.path, found]))
}

async function readBy(
  { view, reads }: MergeSide,
  found: FoundPackage | undefined,
  cluster: string,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (found === undefined) return new Set()
  const { render: choice } = deriveEffectivePolicy(view.policies, cluster, found.path)
  // A build's inputs from a cluster are in no key.
  if (describeChoice(choice).synced !== undefined) return listReadFiles(view, found, choice, signal)
  const key = JSON.stringify([found.path, choice])
  const reading = reads.get(key) ?? listReadFiles(view, found, choice, signal)
  reads.set(key, reading)
  return reading
}

async function listReadFiles(
  view: RepositoryView,
  found: FoundPackage,
  choice: RenderChoice,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const folder = joinFolderPath(found.path, '')
  const own = (): ReadonlySet<string> =>
    new Set(view.tree.flatMap(({ path }) => (path.startsWith(folder) ? [path] : [])))
  try {
    const { files } = await readFolder(view, found.path, signal)
    return (
      await getSource(choice).filesRead(
        getViewFiles(view),
        { packagePath: found.path, files, choice },
        signal,
      )
    ).paths
  } catch (thrown) {
    signal.throwIfAborted()
    if (thrown instanceof Failure || thrown instanceof Failures) return own()
    throw thrown
  }
}

async function build(
  { view, renderer }: MergeSide,
  found: FoundPackage | undefined,
  cluster: string,
  signal: AbortSignal,
): Promise<BuiltSide> {
  if (found === undefined) return undefined
  try {
    return await loadPackage(view, found, { cluster, renderer }, signal)
  } catch (thrown) {
    signal.throwIfAborted()
    if (thrown instanceof Failure || thrown instanceof Failures)
      return { failures: listFailures(thrown) }
    throw thrown
  }
}
