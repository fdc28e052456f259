/**
 * Sources: kpt-config-sync `pkg/metadata/{annotations,metadata}.go`,
 * `pkg/declared/{scope,resource_manager}.go`, `pkg/core` GKNN, `pkg/api/configsync`,
 * `pkg/remediator`, `pkg/hydrate`. It applies through kpt's library.
 */
import {
  findNonEmptyText,
  getPartAt,
  getTextAt,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import type { Finding } from '@backporch/kyaml/note'
import { getMetadataText } from '@backporch/kyaml/resource'
import { type Phrase, phrase } from '@backporch/kyaml/text'
import { addExceptions, judgeOwn } from './judgement.ts'
import { KEPT_BY_INVENTORY, KPT_LIVE_TOOL, listIgnoredMutation } from './kpt-live.ts'
import {
  createNamedApplier,
  findConditionProblem,
  findConditionReason,
  hasCondition,
  isName,
  parseCommit,
  parseSeconds,
  parseSyncFolder,
  UNKNOWN_SOURCE,
} from './own-resource.ts'
import { createVerdict, formatOwnTitle, reachesFolder } from './sync-path.ts'
import type {
  ApplierCase,
  ApplierKind,
  Judgement,
  MarkedObject,
  NamedApplier,
  SyncedRepository,
  Syncer,
  SyncerReport,
} from './syncer.ts'

const GROUP = 'configsync.gke.io'
const ROOT_NAMESPACE = 'config-management-system'

const SYNC: ApplierKind = {
  tool: 'config-sync',
  title: ({ kind, namespace, name }) => phrase`Config Sync ${[kind]} ${`${namespace}/${name}`}`,
  claim: findApplier,
  wraps: [KPT_LIVE_TOOL],
  selector: () => '',
  source: (own) => {
    const git = own === undefined ? undefined : getPartAt(own, 'spec', 'git')
    return isJsonObject(git)
      ? { ...UNKNOWN_SOURCE, folder: parseSyncFolder(getPartAt(git, 'dir') ?? '') }
      : UNKNOWN_SOURCE
  },
  inventory: {
    listed: () => undefined,
    questions: ({ namespace, name }) => [{ namespace, name, id: undefined }],
    id: ({ namespace, name }) => `${namespace}_${name}`,
    ofPackage: false,
  },
  keeps: KEPT_BY_INVENTORY,
  ownNamespaceOnly: ({ kind }) => kind === 'RepoSync',
  sourcePath: 'configmanagement.gke.io/source-path',
  leavesUnmarked: () => false,
  namesObject: true,
  hooks: 'none',
  report,
  judge,
}

export const CONFIG_SYNC: Syncer = {
  name: 'Config Sync',
  managers: [
    {
      names: [GROUP, 'configsync*'],
      class: 'gitops',
      alone: false,
      repeats: 'a RootSync or RepoSync of Config Sync',
      what: 'Config Sync',
    },
  ],
  lastAppliedBy: [],
  accounts: [ROOT_NAMESPACE],
  marks: {
    labels: /^(configsync|configmanagement)\.gke\.io\//,
    // `hnc.x-k8s.io/managed-by` is on each Namespace of a hierarchical repository (`pkg/hnc`).
    annotations:
      /^((configsync|configmanagement)\.gke\.io\/.+|config\.k8s\.io\/owning-inventory|hnc\.x-k8s\.io\/managed-by)$/,
    shared: [{ label: 'app.kubernetes.io/managed-by', value: 'configmanagement.gke.io' }],
    writers: [],
    copies: [],
  },
  directives: new Map(),
  requests: 'none',
  appliers: [SYNC],
  ignores: [],
  ignoreMark: 'none',
  check: {
    kinds: [
      { group: GROUP, kind: 'RootSync' },
      { group: GROUP, kind: 'RepoSync' },
    ],
    judge: (of, repository) =>
      [...of('RootSync'), ...of('RepoSync')].flatMap((own) => checkSync(own, repository)),
  },
}

/**
 * `:root`, `:root_<name>`, `<namespace>` or `<namespace>_<name>`; it counts with `managed: enabled`
 * and the object's own resource id. A RepoSync applies only to its own namespace, and syncs nothing
 * while its source has anything else (KNV1058: `pkg/validate/scoped/validate/scope_validator.go`
 * ClusterScopedForNamespaceReconciler, `pkg/parse/repository_scope.go` repositoryScopeVisitor), so
 * its mark on any other object is a copy.
 */
function findApplier({ id, annotations }: MarkedObject): NamedApplier | undefined {
  const manager = annotations.get('configsync.gke.io/manager')
  if (manager === undefined || annotations.get('configmanagement.gke.io/managed') !== 'enabled')
    return undefined
  const resourceId = [id.group, id.kind.toLowerCase(), id.namespace, id.name]
    .filter((part, index) => index !== 2 || part !== '')
    .join('_')
  if ((annotations.get('configsync.gke.io/resource-id') ?? resourceId) !== resourceId)
    return undefined
  const root = manager === ':root' || manager.startsWith(':root_')
  const [scope = '', given, more] = manager.split('_')
  const namespace = root ? ROOT_NAMESPACE : scope
  if (!root && id.namespace !== namespace) return undefined
  const name = given ?? (root ? 'root-sync' : 'repo-sync')
  return isName(namespace) && isName(name) && more === undefined
    ? createNamedApplier(GROUP, root ? 'RootSync' : 'RepoSync', [namespace], name)
    : undefined
}

function report(own: JsonObject, title: string): SyncerReport {
  const failed = findConditionProblem(title, own, ['Stalled', 'True']) ?? findErrors(title, own)
  return {
    applied: parseCommit(getPartAt(own, 'status', 'lastSyncedCommit')),
    atWork: hasCondition(own, 'Syncing', 'True') ? `${title} is at work` : undefined,
    suspended: undefined,
    title,
    says: failed,
    failed,
    unappliedSince:
      findNonEmptyText(own, 'status', 'lastSyncedCommit') === undefined
        ? getMetadataText(own, 'creationTimestamp')
        : undefined,
    interval: parseSeconds(getPartAt(own, 'spec', 'git', 'period')),
  }
}

/** As `pkg/api/configsync/v1beta1/resourcesync_types.go`, ErrorSummary. */
function findErrors(title: string, own: JsonObject): string | undefined {
  for (const stage of ['source', 'rendering', 'sync']) {
    const count = getPartAt(own, 'status', stage, 'errorSummary', 'totalCount')
    if (typeof count === 'number' && count > 0)
      return `${title} has ${count} ${stage} ${count === 1 ? 'error' : 'errors'}`
  }
  return undefined
}

/** The remediator cannot be paused. */
function judge(question: ApplierCase): Judgement {
  const { title, fields } = question
  return judgeOwn(question, undefined, (own) => {
    const stalled = findConditionReason(own, 'Stalled', 'True')
    const errors = getPartAt(own, 'status', 'sync', 'errorSummary', 'totalCount')
    const warnings: Phrase[] = [
      ...(stalled === undefined ? [] : [phrase`${title} is stalled (${stalled})`]),
      ...(typeof errors === 'number' && errors > 0
        ? [phrase`${title} has ${[String(errors)]} sync ${[errors === 1 ? 'error' : 'errors']}`]
        : []),
    ]
    const judgement: Judgement = {
      restores: 'at-once',
      revertsUnasked: 'yes',
      sentence: phrase`${title} watches the objects and applies them again within seconds, with or without a merge: live may be restored before the review`,
      command: undefined,
      warnings,
    }
    return addExceptions(judgement, question, fields.flatMap(listIgnoredMutation))
  })
}

function checkSync(own: JsonObject, repository: SyncedRepository): Finding[] {
  const { isHere, folder } = repository
  if (
    !isHere(getTextAt(own, 'spec', 'git', 'repo')) ||
    !reachesFolder(getTextAt(own, 'spec', 'git', 'dir'), folder)
  )
    return []
  const name = `${getTextAt(own, 'kind') || 'RootSync'} ${formatOwnTitle(own)}`
  return [createVerdict(name, repository, ({ localConfig }) => localConfig)]
}
