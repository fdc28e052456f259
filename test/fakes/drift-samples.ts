/** Differences for tests that do not care where they come from. */
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { UNKNOWN_ACTOR } from '../../src/drift/attribute/actor.ts'
import type { Drift } from '../../src/drift/compare/drift.ts'
import { path } from './live-object.ts'

export const TEST_KEY = createRedactionKey(new Uint8Array(32).fill(7))

/** `field` is a keyed path; empty for a whole object. */
export function driftOf(field: string, more: Partial<Drift> = {}): Drift {
  return {
    id: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
    apiVersion: 'apps/v1',
    uid: 'u-1',
    change: 'modified',
    path: field === '' ? [] : path(field),
    git: 3,
    live: 5,
    liveUnread: false,
    actor: {
      ...UNKNOWN_ACTOR,
      manager: 'kubectl-edit',
      operation: 'Update',
      class: 'human-tool',
      at: '2026-11-21T09:30:00Z',
      confidence: 'field-manager',
    },
    risk: 'medium',
    reason: 'AVAIL-REPLICAS',
    notes: [],
    ...more,
  }
}
