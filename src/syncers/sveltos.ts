/**
 * Sources: libsveltos `lib/deployer/utils.go` (marks), addon-controller `api/v1beta1/spec.go` (sync
 * modes, DriftExclusion) and `controllers/handlers_utils.go` (the field manager), k0rdent kcm
 * `api/v1beta1/multiclusterservice_types.go`: k0rdent passes its rules to a Sveltos profile. Read
 * only: not tested against Sveltos.
 */
import { getPartAt, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { getAnnotations } from '@backporch/kyaml/resource'
import { phrase } from '@backporch/kyaml/text'
import { readIgnores } from './ignore-rules.ts'
import { addExceptions, type Exception, ignoreException, judgeOwn } from './judgement.ts'
import { createNamedApplier, isName, UNKNOWN_SOURCE } from './own-resource.ts'
import {
  type ApplierCase,
  type ApplierKind,
  type DriftedField,
  type ForeignIgnore,
  type IgnoreSource,
  type Judgement,
  type MarkedObject,
  type NamedApplier,
  NO_SYNCER_REPORT,
  type Syncer,
} from './syncer.ts'

const GROUP = 'config.projectsveltos.io'
const DRIFT_IGNORE = 'projectsveltos.io/driftDetectionIgnore'

const PROFILE_IGNORES: IgnoreSource = {
  group: GROUP,
  kind: 'ClusterProfile',
  product: 'Sveltos',
  names: 'exact',
  rules: (own) => readIgnores(getPartAt(own, 'spec', 'driftExclusions'), 'paths', 'target'),
  notImported: 'none',
}

const K0RDENT_IGNORES: IgnoreSource = {
  group: 'k0rdent.mirantis.com',
  kind: 'MultiClusterService',
  product: 'k0rdent',
  names: 'exact',
  rules: listK0rdentRules,
  notImported:
    'k0rdent hands it to a Sveltos profile, from which it is imported if that profile is in an observed cluster',
}

const PROFILE: ApplierKind = {
  tool: 'sveltos',
  title: ({ kind, namespace, name }) =>
    phrase`Sveltos ${[kind]} ${namespace === '' ? name : `${namespace}/${name}`}`,
  claim: findApplier,
  wraps: [],
  selector: () => '',
  source: () => UNKNOWN_SOURCE,
  inventory: 'none',
  keeps: [],
  ownNamespaceOnly: () => false,
  sourcePath: 'none',
  leavesUnmarked: () => false,
  namesObject: false,
  hooks: 'none',
  report: () => NO_SYNCER_REPORT,
  judge,
}

export const SVELTOS: Syncer = {
  name: 'Sveltos',
  managers: [
    {
      // Other programs also use `application/apply-patch`.
      names: ['application/apply-patch', 'addon-controller', 'sveltos*', 'projectsveltos*'],
      class: 'gitops',
      alone: false,
      repeats: 'a Sveltos ClusterProfile or Profile',
      what: 'Sveltos and k0rdent',
    },
  ],
  lastAppliedBy: [],
  accounts: ['projectsveltos'],
  marks: {
    labels: /^projectsveltos\.io\//,
    annotations: /^projectsveltos\.io\//,
    shared: [],
    writers: [],
    copies: [],
  },
  directives: new Map(),
  requests: 'none',
  appliers: [PROFILE],
  ignores: [
    PROFILE_IGNORES,
    { ...PROFILE_IGNORES, kind: 'Profile' },
    K0RDENT_IGNORES,
    { ...K0RDENT_IGNORES, kind: 'ServiceSet' },
  ],
  ignoreMark: {
    annotation: DRIFT_IGNORE,
    reason: 'Sveltos ignores it: the object is marked driftDetectionIgnore',
  },
  check: 'none',
}

/** A Profile's namespace is not reported. */
function findApplier({ annotations }: MarkedObject): NamedApplier | undefined {
  const [kind, name] = [
    annotations.get('projectsveltos.io/owner-kind'),
    annotations.get('projectsveltos.io/owner-name') ?? '',
  ]
  if ((kind !== 'ClusterProfile' && kind !== 'Profile') || !isName(name)) return undefined
  return createNamedApplier(GROUP, kind, kind === 'ClusterProfile' ? [''] : [], name)
}

function judge(question: ApplierCase): Judgement {
  const { title, byHand, fields } = question
  return judgeOwn(question, 'Sveltos runs in a management cluster', (own) => {
    const mode = getPartAt(own, 'spec', 'syncMode')
    if (mode === 'ContinuousWithDriftDetection') {
      const judgement: Judgement = {
        restores: 'at-once',
        revertsUnasked: 'yes',
        sentence: phrase`${title} watches the objects and deploys them again when one changes: live may be restored before the review`,
        command: undefined,
        warnings: [],
      }
      return addExceptions(
        judgement,
        question,
        fields.flatMap((field) => listExceptions(field, own)),
      )
    }
    if (mode === 'OneTime' || mode === 'DryRun') {
      return {
        restores: 'never',
        revertsUnasked: 'no',
        sentence: phrase`${title} deploys nothing again (syncMode ${[mode]}): merging changes nothing in the cluster`,
        command: byHand,
        warnings: [],
      }
    }
    return {
      restores: 'unknown',
      revertsUnasked: 'no',
      sentence: phrase`${title} deploys again when the content that it has changes, which the merge of a Restore alone may not do`,
      command: byHand,
      warnings: [],
    }
  })
}

function listExceptions(field: DriftedField, own: JsonObject): Exception[] {
  // With any value.
  if (field.live !== undefined && getAnnotations(field.live).has(DRIFT_IGNORE))
    return [{ field, why: ['the object is marked driftDetectionIgnore'] }]
  return ignoreException(field, PROFILE_IGNORES, own, 'spec.driftExclusions')
}

function listK0rdentRules(own: JsonObject): readonly ForeignIgnore[] {
  const locations = [
    getPartAt(own, 'spec', 'serviceSpec'),
    getPartAt(own, 'spec', 'provider', 'config'),
    getPartAt(own, 'spec', 'serviceSpec', 'provider', 'config'),
  ]
  return locations
    .filter(isJsonObject)
    .flatMap((location) =>
      ['driftIgnore', 'driftExclusions'].flatMap((name) =>
        readIgnores(getPartAt(location, name), 'paths', undefined),
      ),
    )
}
