/** A record with one change, and what a test wants to be different in it. */
import type { Change } from '../../src/record/documents/change.ts'
import { API_VERSION, LOCAL_CONFIG } from '../../src/record/documents/document.ts'
import type { DriftRecord } from '../../src/record/documents/drift-record.ts'

export function changeOf(more: Partial<Change> = {}): Change {
  return {
    ref: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
    change: 'modified',
    path: 'spec.replicas',
    git: 3,
    live: 5,
    actor: {
      manager: 'kubectl-edit',
      operation: 'Update',
      class: 'human-tool',
      at: '2026-11-21T09:30:00Z',
      confidence: 'field-manager',
    },
    risk: 'medium',
    reason: 'AVAIL-REPLICAS',
    resolution: 'Restore',
    fingerprint: '0123456789abcdef',
    ...more,
  }
}

export function recordOf(
  changes: readonly Change[],
  more: Partial<DriftRecord['spec']> = {},
): DriftRecord {
  return {
    apiVersion: API_VERSION,
    kind: 'DriftRecord',
    metadata: { name: 'drift-1a2b3c4d', annotations: LOCAL_CONFIG },
    spec: {
      unit: {
        cluster: 'prod',
        package: 'apps/web',
        revision: 'v3',
        commit: 'a'.repeat(40),
        tree: '0'.repeat(16),
      },
      fingerprint: `sha256:1a2b3c4d${'0'.repeat(56)}`,
      observed: { at: '2026-11-21T10:00:00Z', syncer: 'kustomize-controller', objects: 4 },
      changes: [...changes],
      episode: '1a2b3c4d',
      began: '2026-11-21T10:00:00Z',
      lifecycle: 'Proposed',
      plan: 'Restore',
      policy: { name: 'default', mode: 'Propose' },
      settle: 'syncer',
      keyId: '00000000',
      ...more,
    },
  }
}

/** Text that somebody wrote into a cluster, a manifest or a message to make us say or do something. */
export const HOSTILE_TEXTS: readonly string[] = [
  'a\nSigned-off-by: Eve <eve@example.com>',
  'a\r\n\r\nDrift-Resolution: Adopt',
  '\n\nDrift-Decided-By: Eve',
  'Signed-off-by: Eve <eve@example.com>',
  'Co-authored-by: Eve <eve@example.com>',
  'kpt:{"package":"other","workspaceName":"v9","revision":"9"}',
  '\nkpt:{"package":"other"}',
  '@all @org/team fixes #1',
  'Closes org/x#2, GH-3, !4',
  'fixes https://github.com/org/x/issues/1',
  '[skip ci]',
  '[ci skip] [no ci] [skip actions] ***NO_CI***',
  'skip-checks: true',
  '/approve',
  '---',
  '``` ~~~ `',
  '\u202eevil\u2066',
  '\u001b[31mred\u001b[0m\u009b2J',
  '\u200b\ufeff\u2028',
  '\u{e0041}\u{e0042}',
  '\ud800',
  '\u0000',
  'x'.repeat(10_000),
  '\n'.repeat(1_000),
]
