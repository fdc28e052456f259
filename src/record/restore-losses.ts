import { describeResourceId, getResourceKey } from '@backporch/kyaml/resource'
import type { Change } from './documents/change.ts'
import type { DriftRecord, ObjectCopy } from './documents/drift-record.ts'

const NAMED = 5

/** Empty if only values are lost that the record has as changes. */
export function restoreLosses({
  spec: { changes, copies = [], settle },
}: Pick<DriftRecord, 'spec'>): string[] {
  const restored = changes.filter(({ resolution }) => resolution === 'Restore')
  const objects = new Set(restored.map(({ ref }) => getResourceKey(ref)))
  const gone = new Set(
    restored.filter(({ change }) => change === 'unexpected').map(({ ref }) => getResourceKey(ref)),
  )
  const own = copies.filter(({ ref }) => objects.has(getResourceKey(ref)))
  const retained = own.filter(({ manifest }) => manifest !== undefined)
  const [deleted, kept] = [
    retained.filter(({ ref }) => gone.has(getResourceKey(ref))),
    retained.filter(({ ref }) => !gone.has(getResourceKey(ref))),
  ]
  const isWhole = ({ lost: paths = [] }: ObjectCopy): boolean => paths.length === 0
  const lost = [
    ...restored
      .filter(canLoseCredential)
      .map(({ ref, path }) => `${path} of ${describeResourceId(ref)}`),
    ...deleted.flatMap(({ ref, lost: paths = [] }) =>
      paths.map((path) => `${path} of ${describeResourceId(ref)}`),
    ),
  ]
  const uncopied = own.flatMap((copy) => {
    const why = explainNotDeleted(copy)
    if (why === undefined) return []
    const name = describeResourceId(copy.ref)
    if (settle === 'backporch' && gone.has(getResourceKey(copy.ref)))
      return [`backporch does not delete ${name}: ${why}. Delete it by hand.`]
    return [
      copy.notKept === undefined
        ? `If ${name} is deleted, ${why}.`
        : `There is no copy of ${name}: ${why}.`,
    ]
  })
  return [
    ...formatSentenceAbout(
      deleted.filter(isWhole),
      (names) => `The record keeps a copy of ${names}, which can be applied again.`,
    ),
    ...formatSentenceAbout(
      deleted.filter((copy) => !isWhole(copy)),
      (names) => `The record keeps a copy of ${names} without credentials.`,
    ),
    ...formatSentenceAbout(
      kept,
      (names) =>
        `A plain apply of git cannot restore ${names}: if it has to be deleted and recreated, the record has a copy of the live state.`,
    ),
    ...(lost.length === 0
      ? []
      : [
          `A Restore loses the live value of ${formatNameList(lost)}: git never keeps credentials.`,
        ]),
    ...uncopied.slice(0, NAMED),
    ...(uncopied.length > NAMED
      ? [`The same applies to ${uncopied.length - NAMED} more objects, see copies in the record.`]
      : []),
  ]
}

/** There is no copy of everything that would be lost. */
export function explainNotDeleted(copy: ObjectCopy | undefined): string | undefined {
  if (copy === undefined) return 'the record that was approved has no copy of it'
  return copy.notKept ?? copy.takesAlong
}

function formatSentenceAbout(
  copies: readonly ObjectCopy[],
  sentence: (names: string) => string,
): readonly string[] {
  if (copies.length === 0) return []
  return [sentence(formatNameList(copies.map(({ ref }) => describeResourceId(ref))))]
}

function canLoseCredential({ change, redacted, live }: Change): boolean {
  return redacted === true && live !== undefined && (change === 'modified' || change === 'added')
}

function formatNameList(names: readonly string[]): string {
  const more = names.length - NAMED
  const shown = names.slice(0, NAMED).join(', ')
  return more <= 0 ? shown : `${shown} and ${more} more`
}
