import {
  type FoundPlacement,
  formatPolicyText,
  type OnboardingFile,
} from '../../plan/unit/commands/plan-onboarding-files.ts'
import { listPlacedPackages } from '../../policy/effective-policy.ts'
import type { RepositoryView } from '../repository/repository-view.ts'
import type { OnboardingView } from './observe-onboarding.ts'
import { getUnitPackagePath } from './onboard-expect.ts'

export function createWantedFiles(
  view: RepositoryView,
  { ignores, units, there }: OnboardingView,
  { cluster, policyPath }: { readonly cluster: string; readonly policyPath: string },
): OnboardingFile[] {
  // A syncer's own resource shows what it applies.
  const own = units
    .map(getUnitPackagePath)
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
      text: formatPolicyText(
        rules,
        cluster,
        createPlacement(view, { cluster, packages, folders, there }),
      ),
    },
  ]
}

function createPlacement(
  { policies }: RepositoryView,
  found: {
    readonly cluster: string
    readonly packages: readonly string[]
    readonly folders: readonly string[]
  } & Pick<OnboardingView, 'there'>,
): FoundPlacement | undefined {
  const { cluster, packages, folders, there } = found
  if (policies.placements.length > 0) {
    const placed = listPlacedPackages(policies, cluster, folders)
    const paths = folders.filter((path) => placed?.includes(path) !== true)
    return paths.length === 0 ? undefined : { paths: convertToGlobs(paths) }
  }
  const present = packages.filter((path) => there.has(path))
  const some = present.length > 0 && present.length < packages.length
  if (folders.length === 0) return some ? { packages: present.sort() } : undefined
  return {
    ...(packages.length === 0 ? {} : { packages: some ? present.sort() : ['**'] }),
    paths: convertToGlobs(folders),
  }
}

function convertToGlobs(folders: readonly string[]): readonly string[] {
  return folders.map((path) => path || '.').sort()
}
