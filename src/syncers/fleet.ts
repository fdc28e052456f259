/**
 * Fleet's agent installs bundles through Helm's library. Sources: fleet (commit 3b2c622)
 * `internal/helmdeployer/postrender.go` (marks),
 * `internal/cmd/agent/deployer/desiredset/{plan,diff}.go` (the set id, compare patches),
 * `internal/cmd/agent/controller/drift_controller.go` (correctDrift),
 * `pkg/apis/fleet.cattle.io/v1alpha1`. Not tested with a running Fleet
 * (docs/facts/fleet-and-kluctl.md).
 */
import { filterObjects, getKey, getPartAt, getTextAt, type JsonObject } from '@backporch/kyaml/json'
import { getLabels, parseApiVersion } from '@backporch/kyaml/resource'
import { phrase } from '@backporch/kyaml/text'
import { findHelmHook, findHelmKeepRule, isLeftUnmarkedByHelm, releaseMark } from './helm.ts'
import { readIgnores } from './ignore-rules.ts'
import { addExceptions, ignoreException, judgeOwn } from './judgement.ts'
import {
  createNamedApplier,
  findConditionProblem,
  findOwn,
  hasCondition,
  isName,
  parseCommit,
  UNKNOWN_SOURCE,
} from './own-resource.ts'
import type {
  ApplierCase,
  ApplierKind,
  ForeignIgnore,
  IgnoreSource,
  Judgement,
  MarkedObject,
  NamedApplier,
  Syncer,
  SyncerReport,
} from './syncer.ts'

const GROUP = 'fleet.cattle.io'
const SET_ID = 'objectset.rio.cattle.io/id'
/** In the set id: the namespace of the agent's deployments. */
const PREFIX = 'default-'
/** Of the management cluster; other clusters have no bundles. */
const LOCAL = 'fleet-local'

const COMPARE_PATCHES: IgnoreSource = {
  group: GROUP,
  kind: 'Bundle',
  product: 'Rancher Fleet',
  // Fleet uses the normalizer of Argo CD's engine.
  names: 'globs',
  rules: comparePatches,
  notImported: 'none',
}

const BUNDLE: ApplierKind = {
  tool: 'fleet',
  title: ({ name }) => phrase`Rancher Fleet bundle ${name}`,
  claim: findApplier,
  wraps: ['helm'],
  selector: () => '',
  source: () => UNKNOWN_SOURCE,
  inventory: {
    listed: () => undefined,
    questions: ({ release }) => (release === undefined ? [] : [{ helmRelease: release }]),
    ofPackage: false,
  },
  keeps: [findHelmKeepRule],
  ownNamespaceOnly: () => false,
  sourcePath: 'none',
  leavesUnmarked: isLeftUnmarkedByHelm,
  namesObject: false,
  hooks: findHelmHook,
  report,
  judge,
}

export const FLEET: Syncer = {
  name: 'Fleet',
  managers: [
    // Helm 4's library applies, updates or replaces, under the name of the program.
    {
      names: ['fleetagent'],
      class: 'gitops',
      alone: true,
      repeats: 'a Rancher Fleet bundle',
      what: "Rancher Fleet's agent",
    },
    {
      names: ['fleet*'],
      class: 'gitops',
      alone: false,
      repeats: 'a Rancher Fleet bundle',
      what: 'other programs of Rancher Fleet',
    },
  ],
  lastAppliedBy: [],
  accounts: ['cattle-fleet-system', 'cattle-fleet-local-system'],
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
  ignores: [COMPARE_PATCHES],
  ignoreMark: 'none',
  // Bundles have no hidden folders, such as the records folder.
  check: 'none',
}

/** k3s uses the same library, but without a Helm release. */
function findApplier(marked: MarkedObject): NamedApplier | undefined {
  const name = marked.annotations.get(SET_ID) ?? ''
  const isRelease = marked.annotations.has('meta.helm.sh/release-name')
  if (!isName(name) || !isRelease || marked.annotations.has('objectset.rio.cattle.io/owner-gvk'))
    return undefined
  const bundle = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name
  const release = releaseMark(marked)
  return {
    ...createNamedApplier(GROUP, 'Bundle', [LOCAL], bundle),
    namespace: '',
    name,
    ...(release === undefined
      ? {}
      : { release: { namespace: release.namespace, name: release.name } }),
  }
}

/** `ignore` applies to whole objects. */
function comparePatches(own: JsonObject): readonly ForeignIgnore[] {
  const patches = filterObjects(getPartAt(own, 'spec', 'diff', 'comparePatches'))
  const rules = readIgnores(patches, 'jsonPointers', undefined)
  return patches.flatMap((patch, index) => {
    const rule = rules[index]
    if (rule === undefined) return []
    const removed = filterObjects(getKey(patch, 'operations')).flatMap((each) =>
      getKey(each, 'op') === 'remove' ? [getTextAt(each, 'path')] : [],
    )
    const { group } = parseApiVersion(getTextAt(patch, 'apiVersion'))
    return [
      { ...rule, target: { ...rule.target, group }, pointers: [...rule.pointers, ...removed] },
    ]
  })
}

function report(own: JsonObject, title: string): SyncerReport {
  return {
    applied: hasCondition(own, 'Ready', 'True')
      ? parseCommit(getLabels(own).get('fleet.cattle.io/commit'))
      : undefined,
    atWork: undefined,
    suspended: getPartAt(own, 'spec', 'paused') === true ? `${title} is paused` : undefined,
    title,
    says: findConditionProblem(title, own, ['Ready', 'False']),
    // Which conditions are failures is untested.
    failed: undefined,
    unappliedSince: undefined,
    interval: undefined,
  }
}

function judge(question: ApplierCase): Judgement {
  const { title, own, byHand, fields } = question
  const found = findOwn(own)
  if ('failure' in found && found.failure === undefined) {
    return {
      restores: 'unknown',
      revertsUnasked: 'unknown',
      sentence: phrase`${title} applies the package; it puts live back where correctDrift is enabled, which only the management cluster shows`,
      command: undefined,
      warnings: [],
    }
  }
  return judgeOwn(question, undefined, (bundle) => {
    if (getPartAt(bundle, 'spec', 'paused') === true) {
      return {
        restores: 'never',
        revertsUnasked: 'no',
        sentence: phrase`${title} is paused: merging changes nothing in the cluster until spec.paused is removed`,
        command: undefined,
        warnings: [],
      }
    }
    if (getPartAt(bundle, 'spec', 'correctDrift', 'enabled') !== true) {
      return {
        restores: 'unknown',
        revertsUnasked: 'no',
        sentence: phrase`${title} deploys again when the content of its bundle changes, which the merge of a Restore alone may not do: its correctDrift is not enabled`,
        command: byHand,
        warnings: [],
      }
    }
    const judgement: Judgement = {
      restores: 'at-once',
      revertsUnasked: 'yes',
      sentence: phrase`${title} watches the objects and rolls its release back to what it applied when one changes (correctDrift is enabled): live may be restored before the review`,
      command: undefined,
      warnings: [],
    }
    const exceptions = fields.flatMap((field) =>
      ignoreException(field, COMPARE_PATCHES, bundle, 'spec.diff.comparePatches'),
    )
    return addExceptions(judgement, question, exceptions)
  })
}
