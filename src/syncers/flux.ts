/**
 * Sources: kustomize-controller `docs/spec/v1/kustomizations.md` (interval, suspend, `reconcile:
 * disabled`, `ssa`, prune) and `api/v1/inventory_types.go`, helm-controller
 * `docs/spec/v2/helmreleases.md` (drift detection, suspend) and issue 1352 (the inventory of a
 * HelmRelease, from 1.5 on), fluxcd/pkg `ssa/manager.go`, `ssa/jsondiff/selector.go`, `apis/meta`.
 */
import {
  filterObjects,
  findNonEmptyText,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonObject,
  type JsonObject,
} from '@backporch/kyaml/json'
import type { Finding } from '@backporch/kyaml/note'
import {
  getAnnotations,
  getLabels,
  getMetadataText,
  type ResourceId,
} from '@backporch/kyaml/resource'
import { phrase } from '@backporch/kyaml/text'
import { getArtifactContent } from './flux-artifact/artifact-content.ts'
import { ArtifactFiles } from './flux-artifact/artifact-files.ts'
import { formatRelease, HELM_TOOLKIT as HELM } from './flux-release-name.ts'
import { findHelmHook, findHelmKeepRule, isLeftUnmarkedByHelm } from './helm.ts'
import { readIgnores } from './ignore-rules.ts'
import {
  addExceptions,
  describeNotPruned,
  describeNotReady,
  type Exception,
  ignoreException,
  judgeOwn,
  judgeSuspended,
} from './judgement.ts'
import {
  createNamedApplier,
  findConditionProblem,
  findDuration,
  hasCondition,
  isFilled,
  isName,
  parseCommit,
  parseSeconds,
  parseSyncFolder,
  UNKNOWN_SOURCE,
} from './own-resource.ts'
import { findFailedCondition } from './sync-failure.ts'
import { createPassedFinding, createVerdict, formatOwnTitle, reachesFolder } from './sync-path.ts'
import type {
  ApplierCase,
  ApplierKind,
  DriftedField,
  IgnoreSource,
  Judgement,
  ListedResources,
  MarkedObject,
  NamedApplier,
  SyncedRepository,
  Syncer,
  SyncerReport,
} from './syncer.ts'

const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io'
const ELSEWHERE = 'Flux runs in another cluster and applies to this one'

const KUSTOMIZATION_IGNORES: IgnoreSource = {
  group: KUSTOMIZE,
  kind: 'Kustomization',
  product: 'Flux',
  names: 'patterns',
  rules: (own) => readIgnores(getPartAt(own, 'spec', 'ignore'), 'paths', 'target'),
  notImported: 'none',
}

const HELM_RELEASE_IGNORES: IgnoreSource = {
  ...KUSTOMIZATION_IGNORES,
  group: HELM,
  kind: 'HelmRelease',
  rules: (own) =>
    readIgnores(getPartAt(own, 'spec', 'driftDetection', 'ignore'), 'paths', 'target'),
}

const KUSTOMIZATION: ApplierKind = {
  tool: 'flux-kustomization',
  title: ({ namespace, name }) => phrase`Flux Kustomization ${`${namespace}/${name}`}`,
  claim: (object) => findMarkedApplier(KUSTOMIZE, 'Kustomization', object),
  wraps: [],
  selector: (claim) => formatSelector(KUSTOMIZE, claim),
  source: (own) => {
    if (own === undefined) return UNKNOWN_SOURCE
    // Only a GitRepository has a path in git.
    const isGit =
      (getPartAt(own, 'spec', 'sourceRef', 'kind') ?? 'GitRepository') === 'GitRepository'
    return {
      folder: isGit ? parseSyncFolder(getPartAt(own, 'spec', 'path') ?? './') : undefined,
      transformed: ['namePrefix', 'nameSuffix', 'components'].find((name) =>
        isFilled(getPartAt(own, 'spec', name)),
      ),
      choosesNamespace: isFilled(getPartAt(own, 'spec', 'targetNamespace')),
    }
  },
  inventory: { listed: findListedResources, questions: () => [], ofPackage: false },
  keeps: [
    (question) => {
      const name = `${KUSTOMIZE}/prune`
      const value = question.annotations.get(name) ?? question.labels.get(name) ?? ''
      const why = `the object is marked to stay when git drops it (${name}: disabled)`
      return value.toLowerCase() === 'disabled' ? { rule: 'flux-no-prune', why } : undefined
    },
  ],
  ownNamespaceOnly: () => false,
  sourcePath: 'none',
  leavesUnmarked: () => false,
  namesObject: false,
  hooks: 'none',
  report,
  judge: judgeKustomization,
}

const HELM_RELEASE: ApplierKind = {
  tool: 'flux-helmrelease',
  title: ({ namespace, name }) => phrase`Flux HelmRelease ${`${namespace}/${name}`}`,
  // helm-controller internal/postrender/origin_labels.go
  claim: (object) => findMarkedApplier(HELM, 'HelmRelease', object),
  wraps: ['helm'],
  selector: (claim) => formatSelector(HELM, claim),
  source: () => UNKNOWN_SOURCE,
  inventory: {
    listed: findListedResources,
    questions: (claim, own) =>
      own === undefined ? [] : [{ helmRelease: formatRelease(claim, own) }],
    ofPackage: false,
  },
  keeps: [findHelmKeepRule],
  ownNamespaceOnly: () => false,
  sourcePath: 'none',
  leavesUnmarked: isLeftUnmarkedByHelm,
  namesObject: false,
  hooks: findHelmHook,
  report,
  judge: judgeHelmRelease,
}

export const FLUX: Syncer = {
  name: 'Flux',
  managers: [
    {
      names: ['kustomize-controller'],
      class: 'gitops',
      alone: true,
      repeats: 'a Flux Kustomization',
      what: 'Flux: Kustomizations',
      takesOver: takesOverKubectl,
    },
    {
      names: ['helm-controller'],
      class: 'gitops',
      alone: true,
      repeats: 'a Flux HelmRelease',
      what: 'Flux: HelmReleases',
    },
    {
      names: ['flux', 'flux-*', 'source-controller', 'image-automation-controller'],
      class: 'gitops',
      alone: false,
      repeats: 'none',
      what: 'Flux: its other controllers, its command line, and `flux-client-side-apply`',
    },
  ],
  lastAppliedBy: [],
  accounts: ['flux-system'],
  marks: {
    labels: /^(kustomize|helm)\.toolkit\.fluxcd\.io\/(name|namespace)$/,
    annotations: /^(kustomize|helm)\.toolkit\.fluxcd\.io\/(checksum|chart)$/,
    shared: [],
    writers: [],
    copies: [],
  },
  directives: new Map(),
  requests: {
    kinds: /\.toolkit\.fluxcd\.io\//,
    annotations: /^reconcile\.fluxcd\.io\/(requestedAt|forceAt|resetAt)$/,
  },
  appliers: [KUSTOMIZATION, HELM_RELEASE],
  ignores: [KUSTOMIZATION_IGNORES, HELM_RELEASE_IGNORES],
  ignoreMark: 'none',
  check: {
    kinds: [
      { group: KUSTOMIZE, kind: 'Kustomization' },
      { group: 'source.toolkit.fluxcd.io', kind: 'GitRepository' },
    ],
    judge: (of, repository) =>
      of('Kustomization').flatMap((own) =>
        checkKustomization(own, of('GitRepository'), repository),
      ),
  },
}

/** kustomize-controller `kustomization_controller.go`, `apply`, matches managers by prefix. */
function takesOverKubectl(manager: string, live: JsonObject): boolean {
  // Without the label it is not a Kustomization that applies under this name.
  if (!isName(getLabels(live).get(`${KUSTOMIZE}/name`) ?? '')) return false
  return (
    /^(?:kubectl|before-first-apply)/.test(manager) && !hasMark(live, `${KUSTOMIZE}/ssa`, ['merge'])
  )
}

/** As fluxcd/pkg `ssa/manager.go` SetOwnerLabels. */
function findMarkedApplier(
  group: string,
  kind: string,
  { labels }: MarkedObject,
): NamedApplier | undefined {
  const [name, namespace] = [
    labels.get(`${group}/name`) ?? '',
    labels.get(`${group}/namespace`) ?? '',
  ]
  return isName(name) && isName(namespace)
    ? createNamedApplier(group, kind, [namespace], name)
    : undefined
}

function formatSelector(
  group: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): string {
  return `${group}/name=${name},${group}/namespace=${namespace}`
}

function findListedResources(own: JsonObject): ListedResources | undefined {
  const entries = getPartAt(own, 'status', 'inventory', 'entries')
  if (!isJsonArray(entries)) return undefined
  const resources = entries
    .filter(isJsonObject)
    .flatMap(({ id }) => (typeof id === 'string' ? (parseObjMetadata(id) ?? []) : []))
  return { resources, extraneous: undefined }
}

/**
 * `<namespace>_<name>_<group>_<Kind>`, where `__` in the name stands for `:` (cli-utils
 * `pkg/object/objmetadata.go`).
 */
export function parseObjMetadata(text: string): ResourceId | undefined {
  const match = /^([^_]*)_(.+)_([^_]*)_([^_]+)$/.exec(text)
  if (match === null) return undefined
  const [, namespace = '', encoded = '', group = '', kind = ''] = match
  const name = encoded.replaceAll('__', ':')
  return name.includes('_') ? undefined : { group, kind, namespace, name }
}

/**
 * A HelmRelease names releases instead of a revision. The history of a Kustomization also contains
 * what it could not apply (kustomize-controller `api/v1/kustomization_types.go`,
 * `lastReconciledStatus`).
 */
function isApplied(own: JsonObject): boolean {
  const releases = filterObjects(getPartAt(own, 'status', 'history')).filter(
    (entry) => getPartAt(entry, 'lastReconciledStatus') === undefined,
  )
  return findNonEmptyText(own, 'status', 'lastAppliedRevision') !== undefined || releases.length > 0
}

function report(own: JsonObject, title: string): SyncerReport {
  const atWork = hasCondition(own, 'Reconciling', 'True') || hasCondition(own, 'Ready', 'Unknown')
  return {
    applied: parseCommit(getPartAt(own, 'status', 'lastAppliedRevision')),
    atWork: atWork ? `${title} is at work` : undefined,
    suspended: getPartAt(own, 'spec', 'suspend') === true ? `${title} is suspended` : undefined,
    title,
    says: findConditionProblem(title, own, ['Stalled', 'True'], ['Ready', 'False']),
    failed: findFailedCondition(title, own),
    unappliedSince: isApplied(own) ? undefined : getMetadataText(own, 'creationTimestamp'),
    interval: parseSeconds(getPartAt(own, 'spec', 'interval')),
  }
}

function judgeKustomization(question: ApplierCase): Judgement {
  const { claim, title, fields } = question
  return judgeOwn(question, ELSEWHERE, (own) => {
    if (getPartAt(own, 'spec', 'suspend') === true)
      return judgeSuspended(title, `flux resume kustomization ${claim.name} -n ${claim.namespace}`)
    const interval = findDuration(own, 'spec', 'interval')
    const judgement: Judgement = {
      restores: 'at-interval',
      revertsUnasked: 'yes',
      sentence: phrase`${title} applies the package again as soon as its source has the merge, and every ${interval ?? 'interval of its own'} in any case: live may be restored before the review`,
      command: `flux reconcile kustomization ${claim.name} -n ${claim.namespace} --with-source`,
      warnings: [
        ...describeNotReady(title, own),
        ...describeNotPruned(question, getPartAt(own, 'spec', 'prune') === true),
      ],
    }
    return addExceptions(
      judgement,
      question,
      fields.flatMap((field) => listExceptions(field, own)),
    )
  })
}

function listExceptions(field: DriftedField, own: JsonObject): Exception[] {
  const isMarked = (key: string, ...values: readonly string[]): boolean =>
    hasMark(field.live, `${KUSTOMIZE}/${key}`, values)
  if (isMarked('reconcile', 'disabled'))
    return [{ field, why: ['the object is marked reconcile: disabled'] }]
  if (isMarked('ssa', 'ignore')) return [{ field, why: ['the object is marked ssa: Ignore'] }]
  if (field.live !== undefined && isMarked('ssa', 'ifnotpresent'))
    return [{ field, why: ['the object is marked ssa: IfNotPresent'] }]
  return ignoreException(field, KUSTOMIZATION_IGNORES, own, 'spec.ignore')
}

function judgeHelmRelease(question: ApplierCase): Judgement {
  const { claim, title, fields } = question
  return judgeOwn(question, ELSEWHERE, (own) => {
    const at = `${claim.name} -n ${claim.namespace}`
    const force = `flux reconcile helmrelease ${at} --force`
    const given = getPartAt(own, 'spec', 'driftDetection', 'mode')
    const mode = given === 'enabled' || given === 'warn' ? given : 'disabled'
    if (getPartAt(own, 'spec', 'suspend') === true) {
      const resume = `flux resume helmrelease ${at}`
      return judgeSuspended(title, mode === 'enabled' ? resume : `${resume} && ${force}`)
    }
    if (mode !== 'enabled') {
      return {
        restores: 'when-told',
        revertsUnasked: 'no',
        sentence: phrase`${title} does not put live back: its drift detection is ${[mode]}, and merging changes nothing in the cluster unless it makes a new release`,
        command: force,
        warnings: [
          ...describeNotReady(title, own),
          ['or set spec.driftDetection.mode of the HelmRelease to enabled'],
        ],
      }
    }
    const interval = findDuration(own, 'spec', 'interval')
    const judgement: Judgement = {
      restores: 'at-interval',
      revertsUnasked: 'yes',
      sentence: phrase`${title} puts live back every ${interval ?? 'interval of its own'} (drift detection is enabled): it may be restored before the review`,
      command: undefined,
      warnings: describeNotReady(title, own),
    }
    const exceptions = fields.flatMap((field): Exception[] =>
      hasMark(field.live, `${HELM}/driftDetection`, ['disabled'])
        ? [{ field, why: ['the object is marked driftDetection: disabled'] }]
        : ignoreException(field, HELM_RELEASE_IGNORES, own, 'spec.driftDetection.ignore'),
    )
    return addExceptions(judgement, question, exceptions)
  })
}

function hasMark(live: JsonObject | undefined, key: string, values: readonly string[]): boolean {
  if (live === undefined) return false
  const found = [getLabels(live).get(key), getAnnotations(live).get(key)]
  return found.some((value) => value !== undefined && values.includes(value.toLowerCase()))
}

/**
 * Flux applies every YAML file below a path without kustomization.yaml, except ignored ones
 * (`docs/spec/v1/gitrepositories.md`).
 */
function checkKustomization(
  own: JsonObject,
  sources: readonly JsonObject[],
  repository: SyncedRepository,
): Finding[] {
  const name = `Flux Kustomization ${formatOwnTitle(own)}`
  const namespace =
    getTextAt(own, 'spec', 'sourceRef', 'namespace') || getMetadataText(own, 'namespace')
  const source = sources.find(
    (one) =>
      getMetadataText(one, 'name') === getTextAt(own, 'spec', 'sourceRef', 'name') &&
      getMetadataText(one, 'namespace') === namespace,
  )
  if (getTextAt(own, 'spec', 'sourceRef', 'kind') !== 'GitRepository' || source === undefined)
    return []
  const { folder, isHere, rootKustomization } = repository
  if (
    !isHere(getTextAt(source, 'spec', 'url')) ||
    !reachesFolder(getTextAt(own, 'spec', 'path'), folder)
  )
    return []
  if (rootKustomization) return []
  const artifact = new ArtifactFiles(repository.ignoreFiles, getArtifactContent(source))
  const packed = repository.retained.filter(({ path }) => artifact.has(path))
  if (repository.retained.length > 0 && packed.length === 0)
    return [
      createPassedFinding(
        `${name} reads the root, and its artifact excludes ${folder}/ (.sourceignore, spec.ignore or spec.sparseCheckout)`,
      ),
    ]
  return [
    createVerdict(name, { ...repository, retained: packed }, ({ localConfig }) => localConfig),
  ]
}
