/** What is said after a Restore about the Applications of Argo CD. */
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { APPLICATION, drift } from '../../test/fakes/applier-world.ts'
import { assertRestored, KUBECTL, type RestoreCase } from '../../test/fakes/restored-after.ts'

const argo = (spec: JsonObject, more: JsonObject = {}): { readonly [key: string]: JsonObject } => ({
  [APPLICATION]: { spec, ...more },
})
const replicasIgnored = (
  options: readonly string[] = [],
  rule: JsonObject = { jsonPointers: ['/spec/replicas'] },
): JsonObject => ({
  ignoreDifferences: [{ group: 'apps', kind: 'Deployment', ...rule }],
  syncPolicy: { automated: { selfHeal: true }, syncOptions: [...options] },
})

const CASES: readonly RestoreCase[] = [
  [
    'an Application with self-heal',
    { by: ['argo'], own: argo({ syncPolicy: { automated: { selfHeal: true } } }) },
    {
      restores: 'at-once',
      reverts: 'yes',
      sentence: /^Argo CD Application argocd\/web heals itself/,
    },
  ],
  [
    'an Application that syncs new commits only',
    { by: ['argo'], own: argo({ syncPolicy: { automated: {} } }) },
    {
      restores: 'at-interval',
      reverts: 'no',
      sentence: /syncs once for each new commit/,
      command: 'argocd app sync web',
    },
  ],
  [
    'a manually synced Application',
    { by: ['argo'], own: argo({}) },
    {
      restores: 'when-told',
      reverts: 'no',
      sentence: /is synced by hand/,
      command: 'argocd app sync web',
    },
  ],
  [
    'an Application with disabled automation is synced manually',
    { by: ['argo'], own: argo({ syncPolicy: { automated: { enabled: false, selfHeal: true } } }) },
    {
      restores: 'when-told',
      reverts: 'no',
      sentence: /is synced by hand/,
      command: 'argocd app sync web',
    },
  ],
  [
    'a manual sync has to prune objects removed from git',
    { by: ['argo'], own: argo({}), drifts: [drift('', 'unexpected', 'kubectl', 'old')] },
    {
      restores: 'when-told',
      reverts: 'no',
      sentence: /is synced by hand/,
      command: 'argocd app sync web --prune',
    },
  ],
  [
    'automation without prune keeps objects removed from git',
    {
      by: ['argo'],
      own: argo({ syncPolicy: { automated: { selfHeal: true } } }),
      drifts: [drift('', 'unexpected', 'kubectl', 'old')],
    },
    {
      restores: 'at-once',
      reverts: 'yes',
      sentence: /heals itself/,
      warning: /does not prune by itself/,
    },
  ],
  [
    'an Application outside the Argo CD namespace is named with its own namespace',
    { by: ['argoElsewhere'], own: { 'argoproj.io/Application/team/web': { spec: {} } } },
    {
      restores: 'when-told',
      reverts: 'no',
      sentence: /Application team\/web is synced by hand/,
      command: 'argocd app sync team/web',
    },
  ],
  [
    'an Application of OpenShift GitOps is found in its namespace',
    { by: ['argo'], own: { 'argoproj.io/Application/openshift-gitops/web': { spec: {} } } },
    {
      restores: 'when-told',
      reverts: 'no',
      sentence: /openshift-gitops\/web is synced/,
      command: 'argocd app sync openshift-gitops/web',
    },
  ],
  [
    'an Application without a known namespace may be anywhere',
    { by: ['argo'] },
    {
      restores: 'unknown',
      reverts: 'unknown',
      sentence: /unless Argo CD has it in another namespace or runs in another cluster/,
      command: KUBECTL('argocd-controller'),
      warning: /looked for it in argocd and openshift-gitops/,
    },
  ],
  [
    'an ignored field starts no sync, and a sync applies it',
    { by: ['argo'], own: argo(replicasIgnored()) },
    {
      restores: 'when-told',
      reverts: 'no',
      sentence: /does not see the difference/,
      command: 'argocd app sync web',
    },
  ],
  [
    'an ignored field is never restored where syncs respect the rule',
    { by: ['argo'], own: argo(replicasIgnored(['RespectIgnoreDifferences=true'])) },
    {
      restores: 'never',
      reverts: 'no',
      sentence: /leaves unchanged, even after a merge.*RespectIgnoreDifferences/,
    },
  ],
  [
    'a field of a manager that Argo CD trusts is ignored',
    { by: ['argo'], own: argo(replicasIgnored([], { managedFieldsManagers: ['kubectl-edit'] })) },
    {
      restores: 'when-told',
      reverts: 'no',
      sentence: /does not see the difference/,
      command: 'argocd app sync web',
    },
  ],
  [
    'a jq rule beyond a plain path may match',
    {
      by: ['argo'],
      own: argo(replicasIgnored([], { jqPathExpressions: ['.spec | select(.replicas > 3)'] })),
    },
    {
      restores: 'at-once',
      reverts: 'yes',
      sentence: /heals itself/,
      warning: /may ignore Deployment shop\/web spec\.replicas: .* jq/,
    },
  ],
  [
    'an Application that is not reconciled restores nothing',
    {
      by: ['argo'],
      own: argo(replicasIgnored([], {}), {
        metadata: { annotations: { 'argocd.argoproj.io/skip-reconcile': 'true' } },
      }),
    },
    { restores: 'never', reverts: 'no', sentence: /is not reconciled/ },
  ],
  [
    'a failed sync is reported',
    {
      by: ['argo'],
      own: argo(
        { syncPolicy: { automated: {} } },
        { status: { operationState: { phase: 'Failed' } } },
      ),
    },
    {
      restores: 'at-interval',
      reverts: 'no',
      sentence: /once for each new commit/,
      command: 'argocd app sync web',
      warning: /the last sync of .* failed/,
    },
  ],
]

for (const [name, world, expected] of CASES)
  test(`after a Restore: ${name}`, () => {
    assertRestored(world, expected)
  })
