import { LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import type { IgnoreEntry } from '../../../policy/ignore-schema.ts'
import type { ImportedRule } from '../../../policy/import-ignores.ts'
import { API_VERSION, LOCAL_CONFIG } from '../../../record/documents/document.ts'
import { formatDocument, NO_MANIFEST } from '../../../record/write-document.ts'

/**
 * No tool that reads every manifest below a folder reads this file extension
 * (docs/adr/0067-names-that-no-applier-reads.md).
 */
export const POLICY_PATH = '.drift/default.policy'
/** If existing placements occupy the first path. */
export const SECOND_POLICY_PATH = '.drift/drift.policy'
export const POLICY_LINE = '# vim: ft=yaml'

export interface OnboardingFile {
  readonly path: string
  readonly text: string
}

const HEAD = `${POLICY_LINE}
# What Backporch does about drift in this repository. Nothing happens until this file is on the base branch: merging it enrols the
# repository, and closing the pull request leaves nothing behind. Edit it here, and the pull request is rendered again.
apiVersion: ${API_VERSION}
kind: DriftPolicy
metadata:
  name: default
  annotations: {config.kubernetes.io/local-config: "true"}
spec:
  # Off: observe, and write nothing. Warn: record drift in git (branches ${'`'}drafts/…${'`'} and ${LEDGER_BRANCH}), and open no pull request.
  # Propose: open a pull request for each package with drift. Start with Warn, then flip one package:
  #   spec: {priority: 100, match: {packages: [apps/web]}, mode: Propose}     in a policy of its own, behind a line with ---
  mode: Warn
  # Who applies the decision to the cluster after a merge. syncer: the syncer of the package. backporch: exactly the approved fields, after the merge.
  settle: syncer
  detect:
    # How long drift must be unchanged before it is proposed, and before its pull request is ready to merge.
    minAge: 2m
    settle: 2m
    # A cluster that could not be read for this long is reported as not observed.
    unobservedAfter: 15m
  limits:
    # Pull requests that are opened in an hour, and that are open at once. What is held back is recorded, and critical drift is not held.
    prHourlyLimit: 2
    prConcurrentLimit: 10
    # More packages than this within an hour have one cause: one issue, and no pull requests.
    stormThreshold: 50
    # More objects of one cluster than both of these have one cause too: a number, and a percentage of its objects.
    stormObjects: 50
    stormShare: 20
    # When drift of low risk alone (labels, annotations) is proposed: cron in UTC. With off, it is proposed like any other drift.
    digest: "0 8 * * MON"
    # Number of clusters from which one cause becomes one pull request.
    massMinClusters: 3
  decide:
    # What a pull request plans at first. Restore: git is right. Adopt: the cluster is right. Release: git stops managing the field.
    defaultPlan: Restore
    # How long a closed pull request silences exactly this drift; critical drift never longer than 24h.
    closeSilence: 30d
    # Time without a decision after which a pull request gets a reminder.
    remindAfter: 7d
    # Time after which it mentions the code owners.
    escalateAfter: 14d
    # How long "approve --wait" waits for the cluster to agree.
    verifyTimeout: 10m
`

export interface FoundPlacement {
  readonly packages?: readonly string[]
  readonly paths?: readonly string[]
}

/**
 * The shipped default mode opens nothing. The rules apply to the cluster in which they were found.
 * @param placed undefined if no placement is needed
 */
export function formatPolicyText(
  rules: readonly ImportedRule[],
  cluster: string,
  placed: FoundPlacement | undefined,
): string {
  const documents = [HEAD]
  for (const [index, { packages, ignore }] of groupByPackages(rules).entries()) {
    const comment = `# Rules that ${packages.length === 1 ? 'this package has' : 'these packages have'} today: each says where it comes from. Give them an end with "expires: 2027-01-31".\n`
    const spec = { match: { clusters: [cluster], packages }, ignore }
    documents.push(
      comment + formatDocument(createInertDocument('DriftPolicy', `imported-${index + 1}`, spec)),
    )
  }
  if (placed !== undefined) {
    const comment =
      '# What this cluster runs: packages of which it has objects, and folders without a Kptfile that were named. A cluster that no placement names runs none.\n'
    documents.push(
      comment +
        formatDocument(
          createInertDocument('Placement', 'found', { clusters: [cluster], ...placed }),
        ),
    )
  }
  return `${documents.join('---\n')}${NO_MANIFEST}`
}

function createInertDocument(kind: string, name: string, spec: object) {
  return { apiVersion: API_VERSION, kind, metadata: { name, annotations: LOCAL_CONFIG }, spec }
}

function groupByPackages(
  rules: readonly ImportedRule[],
): { packages: readonly string[]; ignore: IgnoreEntry[] }[] {
  const groups = new Map<string, { packages: readonly string[]; ignore: IgnoreEntry[] }>()
  for (const { packages, rule } of rules) {
    // Only this glob matches the empty path of the root package.
    const globs = packages.map((path) => path || '**')
    const group = groups.get(JSON.stringify(globs)) ?? { packages: globs, ignore: [] }
    group.ignore.push(rule)
    groups.set(JSON.stringify(globs), group)
  }
  return [...groups.values()]
}
