/** What is said about an object after a Restore, as an expectation about the answer that its world gives. */
import assert from 'node:assert/strict'
import type { Applier } from '../../src/status/applier.ts'
import { type ApplierWorld, judged } from './applier-world.ts'

interface Expected {
  readonly restores: Applier['restores']
  readonly reverts: Applier['revertsUnasked']
  readonly sentence: RegExp
  readonly command?: string
  readonly warning?: RegExp
}

export const KUBECTL = (manager: string): string =>
  `kubectl apply --server-side --force-conflicts --field-manager=${manager} -R -f apps/web`

/** A name, a world and what is said of it. */
export type RestoreCase = readonly [name: string, world: ApplierWorld, expected: Expected]

export function assertRestored(world: ApplierWorld, expected: Expected): void {
  const applier = judged(world)
  assert.equal(applier.restores, expected.restores)
  assert.equal(applier.revertsUnasked, expected.reverts)
  assert.match(applier.sentence, expected.sentence)
  assert.equal(applier.command, expected.command)
  if (expected.warning === undefined) assert.equal(applier.warning, undefined)
  else assert.match(applier.warning ?? '', expected.warning)
}
