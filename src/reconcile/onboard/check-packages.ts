import type { PackageRepository } from '@backporch/git-store/package-repository'
import type { DesiredSet } from '@backporch/kpt/desired-set'
import { findPackages } from '@backporch/kpt/package'
import { type Failure, listFailures } from '@backporch/kyaml/failure'
import { getTextAt } from '@backporch/kyaml/json'
import type { Finding } from '@backporch/kyaml/note'
import { isNamespacedKind } from '@backporch/kyaml/resource'
import { readRenders } from '../../policy/effective-policy.ts'
import type { PolicySet } from '../../policy/parse-policy.ts'
import { RENDERED_BY_KPT } from '../../sources/build/render-choice.ts'
import type { PackageRenderer } from '../../sources/kpt/render/package-renderer.ts'
import {
  type RepositoryView,
  readAhead,
  readFolder,
  readRepository,
} from '../repository/repository-view.ts'
import { getViewFiles } from '../repository/sources/shared-sources.ts'
import { renderUnit } from '../repository/sources/unit-source.ts'

const MOST_NAMED = 20

interface PackagesQuestion {
  readonly branch: string
  readonly renderer: PackageRenderer
  readonly operator?: PolicySet | undefined
}

export interface ReadPackages {
  readonly count: number
  /** By path. */
  readonly unusable: ReadonlyMap<string, readonly Failure[]>
  /** Empty for objects that go to the namespace of the context. */
  readonly namespaces: ReadonlySet<string>
}

/** @throws Failure BP1003, BP1005 or BP40xx */
export async function readPackages(
  repository: PackageRepository,
  { branch, renderer, operator }: PackagesQuestion,
  signal: AbortSignal,
): Promise<ReadPackages> {
  const view = await readRepository(repository, branch, signal, { operator })
  const packages = findPackages(view.tree)
  await readAhead(view, packages, [], signal)
  const unusable = new Map<string, readonly Failure[]>()
  const namespaces = new Set<string>()
  for (const { path } of packages) {
    const read = await readPackage(view, renderer, path, signal)
    if ('failures' in read) unusable.set(path, read.failures)
    else for (const namespace of read.namespaces) namespaces.add(namespace)
  }
  return { count: packages.length, unusable, namespaces }
}

export function judgePackages(
  { count, unusable }: Pick<ReadPackages, 'count' | 'unusable'>,
  synced: number,
): readonly Finding[] {
  const check = 'packages'
  if (count === 0 && synced > 0) {
    const units = synced === 1 ? '1 unit' : `${synced} units`
    return [
      {
        check,
        state: 'passed',
        message: `packages: no folder has a Kptfile, and syncers of the cluster name ${units}`,
      },
    ]
  }
  if (count === 0) {
    const fix =
      'name folders in a Placement, run "kpt pkg init" in the folder of the manifests and commit the Kptfile, or let a syncer of the cluster name the units (above)'
    return [
      {
        check,
        state: 'warning',
        code: 'BP1004',
        message: 'packages: no folder of the base branch has a Kptfile',
        fix,
      },
    ]
  }
  const usable = `packages: ${count - unusable.size} of ${count} can be read and rendered`
  const all = [...unusable].flatMap(([path, failures]) =>
    failures.map((failure) => ({ path, failure })),
  )
  const groups = Map.groupBy(all, ({ failure: { code, what, why, remedy } }) =>
    JSON.stringify([code, what, why, remedy]),
  )
  return [
    ...(unusable.size === count ? [] : [{ check, state: 'passed' as const, message: usable }]),
    ...[...groups.values()].map((group): Finding => {
      const [{ failure }] = group as [(typeof all)[number]]
      const places = [
        ...new Set(group.map(({ path, failure: { where } }) => where ?? (path || '.'))),
      ]
      const more = places.length > MOST_NAMED ? ` and ${places.length - MOST_NAMED} more` : ''
      const message = `packages: cannot be used: ${places.slice(0, MOST_NAMED).join(', ')}${more}: ${failure.what}: ${failure.why}`
      return {
        check,
        state: unusable.size === count ? 'failed' : 'warning',
        code: failure.code,
        message,
        fix: failure.remedy,
      }
    }),
  ]
}

type ReadPackage = { readonly failures: readonly Failure[] } | Pick<ReadPackages, 'namespaces'>

async function readPackage(
  view: RepositoryView,
  renderer: PackageRenderer,
  path: string,
  signal: AbortSignal,
): Promise<ReadPackage> {
  try {
    const { files } = await readFolder(view, path, signal)
    const choices = readRenders(view.policies, path)
    const namespaces = new Set<string>()
    for (const choice of choices.length === 0 ? [RENDERED_BY_KPT] : choices) {
      const { rendering } = await renderUnit(
        getViewFiles(view),
        renderer,
        { packagePath: path, files, choice },
        signal,
      )
      if ('failures' in rendering) return rendering
      for (const namespace of listNamespaces(rendering.desired)) namespaces.add(namespace)
    }
    return { namespaces }
  } catch (thrown) {
    signal.throwIfAborted()
    return { failures: listFailures(thrown) }
  }
}

function listNamespaces({ resources, inventory, namespace = '' }: DesiredSet): readonly string[] {
  const own = resources.flatMap(({ id, object }) => {
    if (id.namespace !== '') return [id.namespace]
    return isNamespacedKind(getTextAt(object, 'apiVersion'), id.kind) === false ? [] : [namespace]
  })
  return inventory === undefined ? own : [...own, inventory.namespace]
}
