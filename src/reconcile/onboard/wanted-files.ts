import {
  type FoundPlacement,
  type OnboardingFile,
  policyText,
} from '../../plan/unit/commands/plan-onboarding-files.ts'
import { placedPackages } from '../../policy/effective-policy.ts'
import type { RepositoryView } from '../repository/repository-view.ts'
import type { OnboardingView } from './observe-onboarding.ts'
import { packagePathOf } from './onboard-expect.ts'

export function wantedFiles(
  view: RepositoryView,
  { ignores, units, there }: OnboardingView,
  { cluster, policyPath }: { readonly cluster: string; readonly policyPath: string },
): OnboardingFile[] {
  // A syncer's own resource shows what it applies.
  const own = units
    .map(packagePathOf)
    .filter((path) => view.policies.synced?.get(cluster)?.has(path) !== true)
  const folders = own.filter((path) => view.policies.folders?.has(path) === true)
  const packages = own.filter((path) => !folders.includes(path))
  // A star would be a pattern, which may cover other packages.
  const rules = ignores.imported.filter(({ packages }) =>
    packages.every((path) => !path.includes('*')),
  )
  return [
    {
      path: policyPath,
      text: policyText(rules, cluster, placementOf(view, { cluster, packages, folders, there })),
    },
  ]
}

function placementOf(
  { policies }: RepositoryView,
  found: {
    readonly cluster: string
    readonly packages: readonly string[]
    readonly folders: readonly string[]
  } & Pick<OnboardingView, 'there'>,
): FoundPlacement | undefined {
  const { cluster, packages, folders, there } = found
  if (policies.placements.length > 0) {
    const placed = placedPackages(policies, cluster, folders)
    const paths = folders.filter((path) => placed?.includes(path) !== true)
    return paths.length === 0 ? undefined : { paths: asGlobs(paths) }
  }
  const present = packages.filter((path) => there.has(path))
  const some = present.length > 0 && present.length < packages.length
  if (folders.length === 0) return some ? { packages: present.sort() } : undefined
  return {
    ...(packages.length === 0 ? {} : { packages: some ? present.sort() : ['**'] }),
    paths: asGlobs(folders),
  }
}

function asGlobs(folders: readonly string[]): readonly string[] {
  return folders.map((path) => path || '.').sort()
}
