import { Failure } from '@backporch/kyaml/failure'
import { createFieldStep, type FieldPath, getManagedFields } from '@backporch/kyaml/field'
import {
  filterObjects,
  filterTexts,
  getPartAt,
  getTextAt,
  type JsonObject,
} from '@backporch/kyaml/json'
import { formatRedactedPath, isHiddenOfSecret, isSecret } from '@backporch/kyaml/redaction'
import { describeResourceId, getMetadataText, type ResourceId } from '@backporch/kyaml/resource'
import { convertToOneLine } from '@backporch/kyaml/text'
import { listOwners } from '../attribute/actor.ts'
import type { CreationAnswer } from '../unowned/unowned-fields.ts'

export function createContentNotReadFailure(id: ResourceId): Failure {
  return new Failure({
    code: 'BP3012',
    what: `the content of ${describeResourceId(id)} was not read`,
    why: 'only its metadata may be read, so ownership shows who wrote a key and not what it holds',
    remedy: 'nothing, or grant get and list on secrets to see whether the value differs',
  })
}

export function createBeingDeletedFailure(id: ResourceId, live: JsonObject): Failure {
  const holders = listDeletionHolders(id, live)
  const held =
    holders.length === 0
      ? ''
      : `, and ${holders.join(', ')} ${holders.length === 1 ? 'holds' : 'hold'} it`
  return new Failure({
    code: 'BP3012',
    what: `${describeResourceId(id)} is being deleted`,
    why: `somebody deleted it at ${getMetadataText(live, 'deletionTimestamp')}${held}; git still has it`,
    remedy:
      holders.length === 0
        ? 'wait until it is gone, then apply the package again'
        : 'see why the controller of the finalizer does not remove it; once the object is gone, apply the package again',
  })
}

function listDeletionHolders(id: ResourceId, live: JsonObject): readonly string[] {
  const managed = getManagedFields(live)
  const own = filterTexts(getPartAt(live, 'metadata', 'finalizers')).map((finalizer) => {
    const path = [
      createFieldStep('metadata'),
      createFieldStep('finalizers'),
      { kind: 'member', value: finalizer } as const,
    ]
    const [writer] = listOwners(managed, path)
    const name =
      isSecret(id) && isHiddenOfSecret(path, finalizer)
        ? 'a finalizer that is not shown'
        : `the finalizer ${convertToOneLine(finalizer, 200)}`
    return `${name}${writer === undefined ? '' : ` of ${convertToOneLine(writer.manager, 100)}`}`
  })
  if (id.group !== '' || id.kind !== 'Namespace') return own
  const left = filterObjects(getPartAt(live, 'status', 'conditions')).filter(
    (one) => LEFT.has(getTextAt(one, 'type')) && getTextAt(one, 'status') === 'True',
  )
  return [
    ...own,
    ...left.map(
      (one) => `what is left in it (${convertToOneLine(getTextAt(one, 'message'), 300)})`,
    ),
  ]
}

/** k8s.io/kubernetes `pkg/controller/namespace/deletion/status_condition_utils.go` */
const LEFT = new Set([
  'NamespaceContentRemaining',
  'NamespaceFinalizersRemaining',
  'NamespaceDeletionContentFailure',
])

/** The server rejects these in a server-side apply (docs/facts/refused-applies.md). */
export function createUnknownFieldsFailure(id: ResourceId, paths: readonly FieldPath[]): Failure {
  const fields = paths.slice(0, SHOWN).map((path) => formatRedactedPath(path, id))
  return new Failure({
    code: 'BP3011',
    what: `the server refuses ${describeResourceId(id)}`,
    why: `the server does not know ${fields.join(', ')} and refuses a server-side apply that has it`,
    remedy: 'correct the name of the field in git, or remove it',
    retry: 'on-change',
  })
}

export function describeNotTried({ why }: Failure): string {
  return `an admission webhook may write it: the server could not dry-run the object (${why})`
}

const SHOWN = 5

export function createNotExplainedFailure(
  id: ResourceId,
  paths: readonly FieldPath[],
  creation: CreationAnswer | undefined,
): Failure {
  const fields = paths.slice(0, SHOWN).map((path) => formatRedactedPath(path, id))
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ''
  const requested =
    creation?.prediction.state === 'predicted' ? undefined : creation?.prediction.failure
  return new Failure({
    code: 'BP3012',
    what: `some fields of ${describeResourceId(id)} cannot be explained`,
    why: `the object does not say who wrote ${fields.join(', ')}${more}, which git does not declare; they may be defaults, and the values that the server sets itself are unknown${requested === undefined ? '' : `: ${requested.why}`}`,
    remedy:
      requested?.remedy ??
      'apply the package with kubectl apply --server-side, which begins to keep owners',
  })
}
