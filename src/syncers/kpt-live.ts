/**
 * Shared with Config Sync through cli-utils. Sources: cli-utils `pkg/inventory/policy.go` (the
 * owning-inventory annotation, CanPrune), `pkg/common/common.go` (lifecycle annotations),
 * `pkg/object/{dependson,mutation}`; kpt's ResourceGroup.
 */
import { getAnnotations } from '@backporch/kyaml/resource'
import { phrase } from '@backporch/kyaml/text'
import { addExceptions, type Exception } from './judgement.ts'
import { createUnlistedApplier, isName } from './own-resource.ts'
import {
  type ApplierKind,
  type DriftedField,
  type KeepRule,
  NO_SYNCER_REPORT,
  type Syncer,
} from './syncer.ts'

export const OWNING_INVENTORY = 'config.k8s.io/owning-inventory'
export const KPT_LIVE_TOOL = 'kpt-live'

const DELETION = 'client.lifecycle.config.k8s.io/deletion'
const ON_REMOVE = 'cli-utils.sigs.k8s.io/on-remove'

export const KEPT_BY_INVENTORY: readonly KeepRule[] = [
  ({ annotations }) => {
    const mark =
      annotations.get(DELETION) === 'detach'
        ? `${DELETION}: detach`
        : annotations.get(ON_REMOVE) === 'keep'
          ? `${ON_REMOVE}: keep`
          : undefined
    return mark === undefined
      ? undefined
      : {
          rule: 'kpt-keep',
          why: `the object is marked to stay when its package lets go of it (${mark})`,
        }
  },
  // The default policy prunes only objects with the id.
  ({ annotations, inventoryId, idIsWritten }) => {
    if (inventoryId === undefined) return undefined
    const id = annotations.get(OWNING_INVENTORY)
    if (id === inventoryId || (id === undefined && !idIsWritten)) return undefined
    const why =
      id === undefined
        ? `its ${OWNING_INVENTORY} annotation was taken off, so the inventory no longer owns the object`
        : `another inventory owns the object by now (${OWNING_INVENTORY})`
    return { rule: 'kpt-abandoned', why }
  },
]

/** The existing object is never changed. */
export function listIgnoredMutation(field: DriftedField): Exception[] {
  const { live } = field
  const ignored =
    live !== undefined &&
    getAnnotations(live).get('client.lifecycle.config.k8s.io/mutation') === 'ignore'
  return ignored ? [{ field, why: ['the object is marked mutation: ignore'] }] : []
}

const INVENTORY: ApplierKind = {
  tool: KPT_LIVE_TOOL,
  title: ({ name }) => (name === '' ? ['kpt live'] : phrase`kpt live (inventory ${name})`),
  claim: ({ annotations }) => {
    const name = annotations.get(OWNING_INVENTORY)
    return name === undefined ? undefined : createUnlistedApplier(isName(name) ? name : '')
  },
  wraps: [],
  selector: () => '',
  source: () => ({ folder: undefined, transformed: undefined, choosesNamespace: false }),
  inventory: {
    listed: () => undefined,
    questions: ({ name }, _own, namespaces) =>
      namespaces.map((namespace) => ({ namespace, name: undefined, id: name || undefined })),
    id: ({ name }) => name || undefined,
    ofPackage: true,
  },
  keeps: KEPT_BY_INVENTORY,
  ownNamespaceOnly: () => false,
  sourcePath: 'none',
  leavesUnmarked: () => false,
  namesObject: false,
  hooks: 'none',
  report: () => NO_SYNCER_REPORT,
  judge: (question) => {
    const { title, folder, fields } = question
    return addExceptions(
      {
        restores: 'when-told',
        revertsUnasked: 'no',
        sentence: phrase`${title} applied the package, and nothing in the cluster repeats it: run it again after the merge`,
        command: `kpt live apply ${folder}`,
        warnings: [],
      },
      question,
      fields.flatMap(listIgnoredMutation),
    )
  },
}

export const KPT_LIVE: Syncer = {
  name: 'kpt live',
  managers: [
    {
      names: ['kpt', 'kpt-*'],
      class: 'gitops',
      alone: false,
      repeats: 'none',
      what: 'kpt live and other programs of kpt',
    },
  ],
  lastAppliedBy: ['kpt', 'kpt-*'],
  accounts: ['porch-system'],
  marks: {
    labels: 'none',
    annotations:
      /^(config\.k8s\.io\/owning-inventory|(internal\.)?config\.kubernetes\.io\/(path|index|package-path|annotations-migration-resource-id)|internal\.kpt\.dev\/.+)$/,
    shared: [],
    // cli-utils applies under kubectl's own names (docs/facts/applier-managers.md).
    writers: ['kubectl', 'kubectl-client-side-apply'],
    copies: [],
  },
  directives: new Map([
    ['config.kubernetes.io/depends-on', 'depends-on'],
    ['config.kubernetes.io/apply-time-mutation', 'depends-on'],
    [DELETION, 'client-lifecycle'],
    ['client.lifecycle.config.k8s.io/mutation', 'client-lifecycle'],
    [ON_REMOVE, 'client-lifecycle'],
  ]),
  requests: 'none',
  appliers: [INVENTORY],
  ignores: [],
  ignoreMark: 'none',
  check: 'none',
}
