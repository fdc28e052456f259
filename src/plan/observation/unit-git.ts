import { createHash } from 'node:crypto'
import type { TreeFile } from '@backporch/git-store/package-repository'
import { shortenBranch } from '@backporch/git-store/ref-name'
import type { Observation, OpenBranch } from './observation.ts'

/** An unknown listing equals none. */
export function isSameTree(
  left: readonly TreeFile[],
  right: readonly TreeFile[] | undefined,
): boolean {
  return (
    right !== undefined && left.length === right.length && hashContent(left) === hashContent(right)
  )
}

/** 16 hex digits. */
export function hashContent(tree: readonly TreeFile[]): string {
  const hash = createHash('sha256')
  for (const { path, mode, id } of tree) hash.update(`${path}\0${mode}\0${id}\n`)
  return hash.digest('hex').slice(0, 16)
}

export function isInQueue(
  { proposals }: Pick<Observation, 'proposals'>,
  { ref }: Pick<OpenBranch, 'ref'>,
): boolean {
  return proposals.get(ref)?.isQueued === true
}

/** A sentence; undefined if the turn may push. */
export function explainUntouched(
  observation: Pick<Observation, 'proposals' | 'key'>,
  { ref, record }: Pick<OpenBranch, 'ref' | 'record'>,
): string | undefined {
  const branch = shortenBranch(ref)
  if (record.spec.keyId !== observation.key.id)
    return `${branch} was recorded with another installation key, which cannot be compared (set BACKPORCH_KEY)`
  return isInQueue(observation, { ref })
    ? `${branch} is in the merge queue, and a push would take it out`
    : undefined
}

/** Porch drops what is written to a branch that it has read. */
export function isOutdated(
  { outdated, hasEarlierName }: OpenBranch,
  { policy }: Pick<Observation, 'policy'>,
): boolean {
  return outdated === true || (hasEarlierName === true && policy.approval !== 'porch')
}
