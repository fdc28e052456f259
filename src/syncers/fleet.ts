/**
 * Rancher Fleet: bundles, which its agent installs through Helm's library. Sources: fleet `internal/helmdeployer/postrender.go` (marks),
 * `internal/helmdeployer/deployer.go`. Read only: it was not run against this.
 */
import { phrase } from '../text/phrase.ts'
import { hookOfHelm } from './helm.ts'
import { isName, UNKNOWN_SOURCE, unlisted } from './own-resource.ts'
import { type ApplierKind, NO_SYNCER_REPORT, type Syncer } from './syncer.ts'

const BUNDLE: ApplierKind = {
  tool: 'fleet',
  title: ({ name }) => phrase`Rancher Fleet bundle ${name}`,
  // k3s marks its own with the same library, but not as a Helm release.
  claim: ({ annotations }) => {
    const name = annotations.get('objectset.rio.cattle.io/id') ?? ''
    return isName(name) && annotations.has('meta.helm.sh/release-name') && !annotations.has('objectset.rio.cattle.io/owner-gvk')
      ? unlisted(name)
      : undefined
  },
  wraps: ['helm'],
  selector: () => '',
  source: () => UNKNOWN_SOURCE,
  inventory: 'none',
  keeps: [],
  sourcePath: 'none',
  leavesUnmarked: () => false,
  hooks: hookOfHelm,
  report: () => NO_SYNCER_REPORT,
  judge: ({ title }) => ({
    restores: 'unknown',
    revertsUnasked: 'unknown',
    sentence: phrase`${title} applies the package; it puts live back where correctDrift is enabled, which is told in the management cluster only`,
    command: undefined,
    warnings: [],
  }),
}

export const FLEET: Syncer = {
  name: 'Fleet',
  managers: [{ names: ['fleet', 'fleet*'], class: 'gitops', alone: false, repeats: 'a GitOps tool', what: 'Rancher Fleet' }],
  lastAppliedBy: [],
  accounts: ['cattle-fleet-system'],
  marks: {
    labels: /^(objectset\.rio\.cattle\.io\/hash|fleet\.cattle\.io\/.+)$/,
    annotations: /^(objectset\.rio\.cattle\.io|fleet\.cattle\.io)\//,
    shared: [],
    writers: ['helm'],
    copies: ['objectset.rio.cattle.io/applied'],
  },
  directives: new Map(),
  requests: 'none',
  appliers: [BUNDLE],
  ignores: [],
  ignoreMark: 'none',
  check: 'none',
}
