/** The file of a Flux HelmRelease with other content, and the unit that it is where no resource of Flux is recorded. */
import { RELEASE } from '../helm/declared-release-world.ts'

export const WEB = 'apps/Deployment/shop/shop-web'
export const UNIT = 'apps/production/web'
/** The HelmRelease itself is not recorded. */
export const KUSTOMIZATION = {
  'apps/production': 'Flux Kustomization flux-system/apps: Unknown',
}

export function release(...changes: readonly (readonly [string, string])[]): {
  readonly [path: string]: string
} {
  return {
    'apps/base/release.yaml': changes.reduce(
      (text, [before, after]) => text.replace(before, after),
      RELEASE,
    ),
  }
}
