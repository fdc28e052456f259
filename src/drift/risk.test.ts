import assert from 'node:assert/strict'
import { test } from 'node:test'
import { path } from '../../test/fakes/live-object.ts'
import type { Json } from '../krm/json.ts'
import type { ChangeKind, Risk } from './drift.ts'
import { assessRisk, RISK_RULES } from './risk.ts'

const APP = 'spec.template.spec.containers[name=app]'

const ROWS: readonly (readonly [
  kind: string,
  field: string,
  git: Json | undefined,
  live: Json | undefined,
  change: ChangeKind,
  code: string,
  risk: Risk,
])[] = [
  ['ClusterRole', 'rules', [], [{}], 'modified', 'SEC-RBAC', 'critical'],
  ['RoleBinding', '', undefined, undefined, 'missing', 'SEC-RBAC', 'critical'],
  ['ClusterRole', 'metadata.labels.a', undefined, 'x', 'added', 'META', 'low'],
  ['ServiceAccount', 'automountServiceAccountToken', false, true, 'modified', 'SEC-RBAC', 'critical'],
  ['NetworkPolicy', '', undefined, undefined, 'missing', 'SEC-NETPOL', 'critical'],
  ['CiliumNetworkPolicy', 'spec.egress', [], undefined, 'removed', 'SEC-NETPOL', 'critical'],
  ['Deployment', `${APP}.securityContext.privileged`, undefined, true, 'added', 'SEC-PSS', 'critical'],
  [
    'Deployment',
    `${APP.replace('app', 'x')}`,
    undefined,
    { name: 'x', securityContext: { privileged: true } },
    'added',
    'SEC-PSS',
    'critical',
  ],
  ['Deployment', 'spec.template.spec.volumes[name=h]', undefined, { name: 'h', hostPath: { path: '/' } }, 'added', 'SEC-PSS', 'critical'],
  ['Deployment', 'spec.template.spec.hostNetwork', undefined, true, 'added', 'SEC-PSS', 'critical'],
  ['Deployment', `${APP}.image`, 'nginx:1', 'evil.example.com/nginx:1', 'modified', 'SUP-REGISTRY', 'critical'],
  ['Deployment', `${APP}.image`, 'nginx:1', 'library/nginx:2', 'modified', 'APP-IMAGE', 'high'],
  ['Deployment', `${APP}.image`, 'localhost/x:1', 'x:1', 'modified', 'SUP-REGISTRY', 'critical'],
  ['Secret', 'data.user', 'a', 'b', 'modified', 'SEC-SECRET', 'high'],
  ['Secret', 'metadata.labels.a', 'a', 'b', 'modified', 'META', 'low'],
  ['PodDisruptionBudget', 'spec.minAvailable', 2, 0, 'modified', 'AVAIL-PDB', 'high'],
  ['Deployment', '', undefined, undefined, 'missing', 'OBJ-MISSING', 'high'],
  ['ConfigMap', '', undefined, undefined, 'unexpected', 'OBJ-UNEXPECTED', 'medium'],
  ['Service', 'spec.type', 'ClusterIP', 'LoadBalancer', 'modified', 'NET-EXPOSE', 'high'],
  ['TLSRoute', 'spec.hostnames', [], ['x'], 'modified', 'NET-EXPOSE', 'high'],
  ['Deployment', `${APP}.command`, ['a'], ['b'], 'modified', 'APP-IMAGE', 'high'],
  ['Deployment', 'spec.template.spec.initContainers[name=x]', undefined, { name: 'x' }, 'added', 'APP-IMAGE', 'high'],
  ['Deployment', `${APP}.env[name=A].value`, 'a', 'b', 'modified', 'APP-ENV', 'medium'],
  ['Deployment', 'spec.replicas', 3, 5, 'modified', 'AVAIL-REPLICAS', 'medium'],
  ['Deployment', `${APP}.resources.limits.cpu`, '1', '2', 'modified', 'APP-RESOURCES', 'medium'],
  ['ConfigMap', 'data.color', 'a', 'b', 'modified', 'APP-CONFIG', 'medium'],
  ['Deployment', 'spec.paused', undefined, true, 'added', 'SPEC-OTHER', 'medium'],
]

for (const [kind, field, git, live, change, code, risk] of ROWS) {
  test(`${code}, ${risk}: ${change} ${kind} ${field} ${JSON.stringify(live) ?? ''}`, () => {
    const id = { group: kind === 'Secret' || kind === 'Service' || kind === 'ConfigMap' ? '' : 'x', kind, namespace: 'shop', name: 'web' }
    const rule = assessRisk({ id, change, path: field === '' ? [] : path(field), git, live })
    assert.deepEqual([rule.code, rule.risk], [code, risk])
  })
}

test('every code stands once, and the last rule takes everything', () => {
  assert.equal(new Set(RISK_RULES.map(({ code }) => code)).size, RISK_RULES.length)
  assert.equal(RISK_RULES.at(-1)?.code, 'SPEC-OTHER')
})
