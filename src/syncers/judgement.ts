import type { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { describeResourceId } from '@backporch/kyaml/resource'
import { listPhrases, type Phrase, phrase } from '@backporch/kyaml/text'
import { type Ignored, isIgnoredBySource } from './ignore-rules.ts'
import { findConditionReason, findOwn } from './own-resource.ts'
import type { ApplierCase, DriftedField, IgnoreSource, Judgement } from './syncer.ts'

export interface Exception {
  readonly field: DriftedField
  readonly why: Phrase
}

/** @param elsewhere the resource may be in another cluster and apply to this one from there */
export function judgeOwn(
  { own, title, byHand }: ApplierCase,
  elsewhere: string | undefined,
  judge: (own: JsonObject, namespace: string) => Judgement,
): Judgement {
  const found = findOwn(own)
  if (!('failure' in found)) return judge(found.object, found.wanted.id.namespace)
  return found.failure === undefined
    ? judgeAbsent(title, byHand, elsewhere)
    : judgeUnreadable(title, found.failure)
}

/** An error is not absence. */
function judgeUnreadable(title: Phrase, { code, why, remedy }: Failure): Judgement {
  return {
    restores: 'unknown',
    revertsUnasked: 'unknown',
    sentence: phrase`${title} applies the package; its behaviour after the merge is unknown, because it could not be read (${code}: ${why})`,
    command: undefined,
    warnings: [phrase`to know what it does: ${remedy}`],
  }
}

function judgeAbsent(
  title: Phrase,
  command: string | undefined,
  elsewhere: string | undefined,
): Judgement {
  const nobody = phrase`${title}, which the objects name as theirs, is not in this cluster`
  if (elsewhere === undefined) {
    return {
      restores: 'never',
      revertsUnasked: 'no',
      sentence: phrase`${nobody}: no syncer applies the package`,
      command,
      warnings: [],
    }
  }
  return {
    restores: 'unknown',
    revertsUnasked: 'unknown',
    sentence: phrase`${nobody}: unless ${[elsewhere]}, no syncer applies the package`,
    command,
    warnings: [],
  }
}

/** `never` if nothing else is left. */
export function addExceptions(
  judgement: Judgement,
  { title, fields }: ApplierCase,
  exceptions: readonly Exception[],
): Judgement {
  if (exceptions.length === 0) return judgement
  const all = listPhrases(
    exceptions.map(({ field, why }) => phrase`${describeField(field)} (${why})`),
  )
  const rest = phrase`${title} leaves unchanged, even after a merge: ${all}`
  if (exceptions.length < fields.length)
    return { ...judgement, warnings: [...judgement.warnings, rest] }
  return {
    ...judgement,
    restores: 'never',
    revertsUnasked: 'no',
    sentence: rest,
    command: undefined,
  }
}

export function describeField({ drift: { id, path } }: DriftedField): Phrase {
  return path.length === 0
    ? phrase`${describeResourceId(id)}`
    : phrase`${describeResourceId(id)} ${formatRedactedPath(path, id)}`
}

/** An unevaluated rule may apply: a false promise to restore would be worse. */
export function ignoreException(
  field: DriftedField,
  source: IgnoreSource,
  own: JsonObject,
  where: string,
): Exception[] {
  const ignored: Ignored = isIgnoredBySource(source, own, field)
  if (ignored === 'no') return []
  return [
    {
      field,
      why:
        ignored === 'yes'
          ? [`ignored by ${where}`]
          : [`perhaps ignored by ${where}, which has an unreadable target`],
    },
  ]
}

export function judgeSuspended(title: Phrase, command: string): Judgement {
  return {
    restores: 'when-told',
    revertsUnasked: 'no',
    sentence: phrase`${title} is suspended: merging changes nothing in the cluster until it is resumed`,
    command,
    warnings: [],
  }
}

export function describeNotReady(title: Phrase, own: JsonObject): Phrase[] {
  const reason = findConditionReason(own, 'Ready', 'False')
  return reason === undefined
    ? []
    : [phrase`${title} is not ready now (${reason}): it may not get as far as applying`]
}

export function describeNotPruned({ title, fields }: ApplierCase, prunes: boolean): Phrase[] {
  const unexpected = fields.some(({ drift }) => drift.change === 'unexpected')
  return !unexpected || prunes ? [] : [phrase`${title} does not prune: the unexpected objects stay`]
}
