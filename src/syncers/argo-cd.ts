/**
 * Sources: argo-cd
 * `docs/user-guide/{auto_sync,sync-options,compare-options,diffing,skip_reconcile,resource_hooks,helm,resource_tracking,directory}.md`,
 * `docs/operator-manual/app-any-namespace.md`, `util/argo/resource_tracking.go`,
 * `util/argo/normalizers/diff_normalizer.go`, `pkg/apis/application/v1alpha1/types.go`,
 * gitops-engine `pkg/sync/hook`. Sync windows (of the AppProject) and ignore rules of the whole
 * installation (`argocd-cm`) are not read.
 */
import { getManagedFields } from '@backporch/kyaml/field'
import {
  filterObjects,
  filterTexts,
  findNonEmptyText,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import type { Finding } from '@backporch/kyaml/note'
import { getMetadataText, type ResourceId } from '@backporch/kyaml/resource'
import { listPhrases, matchesGlob, type Phrase, phrase } from '@backporch/kyaml/text'
import { findArgoHook } from './argo-hooks.ts'
import { getSyncPolicy, judgePolicy } from './argo-sync-policy.ts'
import { isIgnoredBySource, readIgnores } from './ignore-rules.ts'
import { describeField, judgeOwn } from './judgement.ts'
import {
  createNamedApplier,
  findOwn,
  isName,
  parseCommit,
  parseSyncFolder,
  UNKNOWN_SOURCE,
} from './own-resource.ts'
import {
  createPassedFinding,
  createVerdict,
  formatOwnTitle,
  isInFolder,
  reachesFolder,
} from './sync-path.ts'
import type {
  ApplierCase,
  ApplierKind,
  IgnoreSource,
  Judgement,
  ListedResources,
  MarkedObject,
  NamedApplier,
  SyncedRepository,
  Syncer,
  SyncerReport,
} from './syncer.ts'

/** The defaults of Argo CD and OpenShift GitOps. */
export const ARGO_CD_NAMESPACES = ['argocd', 'openshift-gitops']
const APPLIES = ['argocd-controller', 'argocd-application-controller']

const IGNORES: IgnoreSource = {
  group: 'argoproj.io',
  kind: 'Application',
  product: 'Argo CD',
  names: 'globs',
  rules: (own) =>
    readIgnores(getPartAt(own, 'spec', 'ignoreDifferences'), 'jsonPointers', undefined),
  notImported: 'none',
}

const APPLICATION: ApplierKind = {
  tool: 'argo-application',
  title: ({ namespace, name }) =>
    phrase`Argo CD Application ${namespace === '' ? name : `${namespace}/${name}`}`,
  claim: findApplier,
  wraps: [],
  selector: () => '',
  source: (own) => {
    if (own === undefined) return UNKNOWN_SOURCE
    const sources = getPartAt(own, 'spec', 'sources')
    const several = isJsonArray(sources) && sources.length > 1
    const source =
      isJsonArray(sources) && sources.length > 0 ? sources[0] : getPartAt(own, 'spec', 'source')
    const type = getPartAt(own, 'status', 'sourceType')
    return {
      folder:
        several || !isJsonObject(source) ? undefined : parseSyncFolder(getPartAt(source, 'path')),
      transformed: type === undefined || type === 'Directory' ? undefined : String(type),
      choosesNamespace: true,
    }
  },
  inventory: {
    listed: findListedResources,
    questions: () => [],
    ofPackage: false,
  },
  keeps: [
    ({ annotations }) =>
      parseOptions(annotations.get('argocd.argoproj.io/sync-options')).includes('Prune=false')
        ? {
            rule: 'argo-no-prune',
            why: 'the object is marked to stay when git drops it (argocd.argoproj.io/sync-options: Prune=false)',
          }
        : undefined,
    ({ annotations }) =>
      parseOptions(annotations.get('argocd.argoproj.io/compare-options')).includes(
        'IgnoreExtraneous',
      )
        ? {
            rule: 'argo-ignore-extraneous',
            why: 'the object is marked as one that git need not have (argocd.argoproj.io/compare-options: IgnoreExtraneous)',
          }
        : undefined,
  ],
  ownNamespaceOnly: () => false,
  sourcePath: 'none',
  leavesUnmarked: () => false,
  namesObject: true,
  hooks: findArgoHook,
  report,
  judge,
}

export const ARGO_CD: Syncer = {
  name: 'Argo CD',
  managers: [
    {
      names: ['argocd-server'],
      class: 'human-tool',
      alone: false,
      repeats: 'none',
      what: "Argo CD's web page and command line: an edit of a live manifest or a resource action",
    },
    {
      // For RBAC objects, Argo CD first uses the name of the program.
      names: APPLIES,
      class: 'gitops',
      alone: true,
      repeats: 'an Argo CD Application',
      what: 'Argo CD (`argocd-controller` for an apply, `argocd-application-controller` otherwise)',
    },
    {
      names: ['argocd', 'argocd-*', 'gitops-engine'],
      class: 'gitops',
      alone: false,
      repeats: 'an Argo CD Application',
      what: 'other programs of Argo CD',
    },
  ],
  lastAppliedBy: APPLIES,
  accounts: [...ARGO_CD_NAMESPACES, 'argo-cd'],
  marks: {
    labels: /^argocd\.argoproj\.io\/instance$/,
    annotations: /^argocd\.argoproj\.io\/(tracking-id|installation-id)$/,
    shared: [{ label: 'app.kubernetes.io/instance' }],
    writers: [],
    copies: [],
  },
  directives: new Map(),
  requests: { kinds: /^argoproj\.io\//, annotations: /^argocd\.argoproj\.io\/refresh$/ },
  appliers: [APPLICATION],
  ignores: [IGNORES],
  ignoreMark: 'none',
  check: {
    kinds: [{ group: 'argoproj.io', kind: 'Application' }],
    judge: (of, repository) =>
      of('Application').flatMap((own) => checkApplication(own, repository)),
  },
}

/**
 * `<application>:<group>/<kind>:<namespace>/<name>`, which must be the object's own ("Non
 * self-referencing annotations" in `resource_tracking.md`). Outside of Argo CD's own namespace, the
 * application is `<namespace>_<application>`. The label alone, which charts also set, counts only
 * if Argo CD wrote the object.
 */
function findApplier({ id, labels, annotations, object }: MarkedObject): NamedApplier | undefined {
  const tracking = annotations.get('argocd.argoproj.io/tracking-id')
  if (tracking !== undefined) {
    // RBAC names may contain colons.
    const [application = '', kind, ...rest] = tracking.split(':')
    const location = rest.join(':')
    if (kind !== `${id.group}/${id.kind}`) return undefined
    // A cluster-scoped object has the namespace of the Application's destination.
    const own =
      id.namespace === ''
        ? location.endsWith(`/${id.name}`)
        : location === `${id.namespace}/${id.name}`
    return own ? findNamedApplication(application) : undefined
  }
  const wrote = getManagedFields(object).entries.some(
    ({ manager }) =>
      ARGO_CD.managers.find(({ names }) => names.some((name) => matchesGlob(name, manager)))
        ?.class === 'gitops',
  )
  const label =
    labels.get('argocd.argoproj.io/instance') ??
    (wrote ? labels.get('app.kubernetes.io/instance') : undefined)
  return label === undefined ? undefined : findNamedApplication(label)
}

function findNamedApplication(instance: string): NamedApplier | undefined {
  const parts = instance.split('_')
  const [namespace, name] = parts.length === 2 ? parts : ['', instance]
  if (name === undefined || namespace === undefined || !isName(name) || parts.length > 2)
    return undefined
  if (parts.length === 2 && !isName(namespace)) return undefined
  return {
    ...createNamedApplier(
      'argoproj.io',
      'Application',
      namespace === '' ? ARGO_CD_NAMESPACES : [namespace],
      name,
    ),
    namespace,
  }
}

function findListedResources(own: JsonObject): ListedResources | undefined {
  const all = getPartAt(own, 'status', 'resources')
  if (!isJsonArray(all)) return undefined
  const entries = all.filter(isJsonObject).filter((entry) => entry['hook'] !== true)
  const ids = (some: readonly JsonObject[]): ResourceId[] =>
    some.flatMap((entry) => findEntryId(entry) ?? [])
  return {
    resources: ids(entries),
    extraneous: ids(entries.filter((entry) => entry['requiresPruning'] === true)),
  }
}

function findEntryId(entry: JsonObject): ResourceId | undefined {
  const [kind, name] = [findNonEmptyText(entry, 'kind'), findNonEmptyText(entry, 'name')]
  return kind === undefined || name === undefined
    ? undefined
    : { group: getTextAt(entry, 'group'), kind, namespace: getTextAt(entry, 'namespace'), name }
}

function parseOptions(value: string | undefined): readonly string[] {
  return (value ?? '').split(',').map((option) => option.trim())
}

function findFailedPhase(own: JsonObject): string | undefined {
  const phase = getPartAt(own, 'status', 'operationState', 'phase')
  return phase === 'Failed' || phase === 'Error' ? phase : undefined
}

/** `pkg/apis/application/v1alpha1/types.go`, ApplicationConditionType. */
function findFailure(own: JsonObject): string | undefined {
  const phase = findFailedPhase(own)
  if (phase !== undefined) return `its last sync is ${phase}`
  const types = filterObjects(getPartAt(own, 'status', 'conditions')).map((condition) =>
    getTextAt(condition, 'type'),
  )
  const error = types.find((type) => /^[A-Za-z]{1,60}Error$/.test(type))
  return error === undefined ? undefined : `it has the condition ${error}`
}

function report(own: JsonObject, title: string): SyncerReport {
  // The history has only whole syncs (argo-cd `docs/user-guide/selective_sync.md`).
  const last = filterObjects(getPartAt(own, 'status', 'history')).at(-1)
  const failed = findFailure(own)
  const says = failed === undefined ? undefined : `${title} says ${failed}`
  const isApplied = last !== undefined || getPartAt(own, 'status', 'operationState') !== undefined
  return {
    applied: findApplied(last),
    atWork:
      getPartAt(own, 'status', 'operationState', 'phase') === 'Running'
        ? `${title} is at work`
        : undefined,
    suspended: getSyncPolicy(own).skipped ? `${title} is marked skip-reconcile` : undefined,
    title,
    says,
    failed: says,
    unappliedSince: isApplied ? undefined : getMetadataText(own, 'creationTimestamp'),
    interval: undefined,
  }
}

/** Several sources have a list. With several commits, it is unknown which one counts. */
function findApplied(last: JsonObject | undefined): string | undefined {
  if (last === undefined) return undefined
  const [first, ...others] = filterTexts(getPartAt(last, 'revisions'))
  return parseCommit(
    first !== undefined && others.every((each) => each === first)
      ? first
      : getPartAt(last, 'revision'),
  )
}

function judge(question: ApplierCase): Judgement {
  const { claim, own, fields } = question
  const found = findOwn(own)
  const judgement = judgeOwn(
    question,
    'Argo CD has it in another namespace or runs in another cluster',
    (application, namespace) => {
      const here = APPLICATION.title({ ...claim, namespace })
      const policy = getSyncPolicy(application)
      const unexpected = fields.some(({ drift }) => drift.change === 'unexpected')
      const sync = `argocd app sync ${namespace === ARGO_CD_NAMESPACES[0] ? '' : `${namespace}/`}${claim.name}${unexpected ? ' --prune' : ''}`
      const ignored = fields.filter(
        (field) => isIgnoredBySource(IGNORES, application, field) === 'yes',
      )
      const perhaps = fields.filter(
        (field) => isIgnoredBySource(IGNORES, application, field) === 'unknown',
      )
      const ignoredText = listPhrases(ignored.map(describeField))
      if (fields.length > 0 && ignored.length === fields.length) {
        return policy.respects
          ? {
              restores: 'never',
              revertsUnasked: 'no',
              sentence: phrase`${here} leaves unchanged, even after a merge: ${ignoredText} (spec.ignoreDifferences, with RespectIgnoreDifferences)`,
              command: undefined,
              warnings: [],
            }
          : {
              restores: 'when-told',
              revertsUnasked: 'no',
              sentence: phrase`${here} does not see the difference (spec.ignoreDifferences has ${ignoredText}), so merging starts no sync; one that is started applies it`,
              command: sync,
              warnings: [],
            }
      }
      const warnings: Phrase[] = [
        ...(ignored.length === 0
          ? []
          : [
              phrase`${here} ignores ${ignoredText} (spec.ignoreDifferences)${policy.respects ? ' and never restores it' : ''}`,
            ]),
        ...(perhaps.length === 0
          ? []
          : [
              phrase`${here} may ignore ${listPhrases(perhaps.map(describeField))}: spec.ignoreDifferences has jq expressions that are not evaluated`,
            ]),
        ...(unexpected && policy.automated && !policy.prune
          ? [phrase`${here} does not prune by itself: the unexpected objects stay`]
          : []),
        // Argo CD does not retry a failed commit (`auto_sync.md`); the next one may fail too.
        ...(findFailedPhase(application) === undefined
          ? []
          : [phrase`the last sync of ${here} failed`]),
      ]
      return { ...judgePolicy(here, policy, sync), warnings }
    },
  )
  if (!('failure' in found) || found.failure !== undefined) return judgement
  const locations = listPhrases(own.map(({ wanted }) => phrase`${wanted.id.namespace}`))
  return { ...judgement, warnings: [phrase`looked for it in ${locations}`] }
}

function checkApplication(own: JsonObject, repository: SyncedRepository): Finding[] {
  const name = `Argo CD Application ${formatOwnTitle(own)}`
  const { folder, isHere, rootKustomization } = repository
  const sources = [
    ...[getPartAt(own, 'spec', 'source')].filter(isJsonObject),
    ...filterObjects(getPartAt(own, 'spec', 'sources')),
  ]
  return sources.flatMap((source) => {
    const path = findNonEmptyText(source, 'path')
    if (!isHere(getTextAt(source, 'repoURL')) || path === undefined || !reachesFolder(path, folder))
      return []
    const ownFolder = isInFolder(path, folder)
    if (!ownFolder && getPartAt(source, 'directory', 'recurse') !== true) return []
    if (rootKustomization && !ownFolder) return []
    if (
      new RegExp(`(^|[{,])(/?${folder.replace('.', '\\.')}/\\*\\*?)([,}]|$)`).test(
        getTextAt(source, 'directory', 'exclude'),
      )
    ) {
      return [createPassedFinding(`${name} reads every folder, and excludes ${folder}/`)]
    }
    return [createVerdict(name, repository, ({ marked }) => marked)]
  })
}
