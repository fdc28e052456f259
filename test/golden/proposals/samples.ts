/** Proposals of all shapes, made up: what the golden bodies and the pictures of them are drawn from. */
import { parseObjectId } from '@backporch/kyaml/files'
import type { MassSubject } from '../../../src/proposal/text/mass-text.ts'
import type { ProposalSubject } from '../../../src/proposal/text/proposal-subject.ts'
import type { StormSubject } from '../../../src/proposal/text/storm-text.ts'
import type { Change } from '../../../src/record/documents/change.ts'
import type { Applier } from '../../../src/status/applier.ts'
import { formatPhrase, type Phrase } from '@backporch/kyaml/text'
import { GITHUB } from '../../fakes/dialects.ts'
import { changeOf, recordOf } from '../../fakes/record-samples.ts'

export const BASE = parseObjectId('a1b2c3d'.padEnd(40, '0'))

export const FLUX: Applier = {
  name: 'Flux Kustomization flux-system/apps',
  restores: 'at-once',
  ...spoken(['Flux Kustomization ', { name: 'flux-system/apps' }, ' applies the package as soon as it sees the merge']),
  command: undefined,
  revertsUnasked: 'no',
}

export const NOBODY: Applier = {
  name: 'nobody',
  restores: 'never',
  ...spoken(['no syncer applied the existing objects: merging changes nothing in the cluster until the package is applied']),
  command: 'kubectl apply --server-side --force-conflicts --field-manager=kubectl -R -f apps/checkout',
  revertsUnasked: 'no',
}

function spoken(sentence: Phrase, warning: Phrase = []): Pick<Applier, 'sentence' | 'warning' | 'phrases'> {
  return { sentence: formatPhrase(sentence), warning: warning.length === 0 ? undefined : formatPhrase(warning), phrases: { sentence, warning } }
}

export function subjectOf(changes: readonly Change[], more: Partial<ProposalSubject> = {}): ProposalSubject {
  const cluster = more.unit?.cluster ?? 'prod-eu-1'
  const unit = { cluster, packageName: 'apps/checkout', packagePath: 'apps/checkout', slug: 'apps--checkout' }
  const record = recordOf(changes, {
    unit: { cluster, package: 'apps/checkout', revision: 'v12', commit: BASE, tree: '0'.repeat(16) },
    observed: { at: '2026-08-21T14:05:41Z', syncer: 'kustomize-controller', objects: 9 },
    began: '2026-08-21T14:03:02Z',
    plan: planOf(changes),
    policy: { name: 'prod', mode: 'Propose' },
  })
  return {
    record,
    unit,
    base: BASE,
    headBranch: 'proposed/apps/checkout/drift-1a2b3c4d',
    dialect: GITHUB,
    hasReport: false,
    policy: { name: 'prod', mode: 'Propose', location: '.drift/default.policy:8' },
    closeSilence: 30 * 86_400,
    version: '0.4.1',
    ledgerUrl: 'https://github.example/acme/deploy/blob/drift-ledger/clusters/prod-eu-1/apps--checkout/report.yaml',
    states: [],
    applier: FLUX,
    health: [
      { id: changeOf().ref, status: 'InProgress', drift: 'drifted', message: '1 difference to git', health: 'Available: 3/5' },
      ...Array.from({ length: 8 }, (_each, index) => ({
        id: { group: '', kind: 'ConfigMap', namespace: 'shop', name: `config-${index}` },
        status: 'Current' as const,
        drift: 'in-sync' as const,
        message: '',
      })),
    ],
    reapplyFails: [],
    notAdoptable: new Map(),
    notReleasable: new Map(),
    alsoIn: [],
    previousPlan: undefined,
    ...more,
  }
}

function planOf(changes: readonly Change[]): 'Restore' | 'Adopt' | 'Release' | 'Mixed' {
  const plans = new Set(changes.map(({ resolution }) => resolution))
  const [first = 'Restore'] = plans
  return plans.size > 1 ? 'Mixed' : first
}

const at = (minute: number): string => `2026-08-21T14:${String(minute).padStart(2, '0')}:11Z`
const person = { manager: 'kubectl-edit', operation: 'Update', class: 'human-tool', at: at(2), confidence: 'field-manager' } as const

export const REPLICAS = changeOf({
  ref: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'checkout' },
  actor: { ...person, manager: 'kubectl-scale', subresource: 'scale' },
  source: 'apps/checkout/deployment.yaml:12',
})

const IMAGE = changeOf({
  ...REPLICAS,
  path: 'spec.template.spec.containers[name=app].image',
  git: 'registry.example/shop/checkout:v1.8.2',
  live: 'registry.example/shop/checkout:v1.8.3-hotfix',
  actor: { ...person, at: at(1) },
  risk: 'high',
  reason: 'APP-IMAGE',
})

const OWNER = changeOf({
  ...REPLICAS,
  change: 'added',
  path: 'metadata.annotations["example.com/debug"]',
  git: undefined,
  live: 'on',
  actor: person,
  risk: 'low',
  reason: 'META',
})

const SETTINGS = changeOf({
  ref: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'checkout-settings' },
  path: 'data["settings.ini"]',
  git: '[cache]\nsize = 64\nttl = 30\n\n[log]\nlevel = info\nformat = json\n',
  live: '[cache]\nsize = 64\nttl = 30\n\n[log]\nlevel = debug\nformat = json\n',
  actor: { ...person, manager: 'kubectl-client-side-apply' },
  risk: 'medium',
  reason: 'APP-CONFIG',
  source: 'apps/checkout/settings.yaml:1',
})

const BUDGET = changeOf({
  ref: { group: 'policy', kind: 'PodDisruptionBudget', namespace: 'shop', name: 'checkout' },
  change: 'missing',
  path: undefined,
  git: undefined,
  live: undefined,
  actor: { manager: 'unknown', operation: '', class: 'unknown', at: '', confidence: 'none' },
  risk: 'high',
  reason: 'AVAIL-PDB',
  source: 'apps/checkout/budget.yaml:1',
})

const SERVICE_PORT = changeOf({
  ref: { group: '', kind: 'Service', namespace: 'shop', name: 'checkout' },
  path: 'spec.ports[port=80].targetPort',
  git: 8080,
  live: 9090,
  actor: person,
  risk: 'high',
  reason: 'NET-EXPOSE',
  source: 'apps/checkout/service.yaml:1',
})

const ROLE = changeOf({
  ref: { group: 'rbac.authorization.k8s.io', kind: 'ClusterRole', namespace: '', name: 'checkout' },
  path: 'rules',
  git: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }],
  live: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  actor: { ...person, manager: 'kubectl-patch' },
  risk: 'critical',
  reason: 'SEC-RBAC',
  source: 'apps/checkout/role.yaml:1',
})

const PASSWORD = changeOf({
  ref: { group: '', kind: 'Secret', namespace: 'shop', name: 'db' },
  path: 'data.password',
  git: 'hmac-sha256:0123456789abcdef (24 bytes)',
  live: 'hmac-sha256:fedcba9876543210 (24 bytes)',
  redacted: true,
  actor: person,
  risk: 'high',
  reason: 'SEC-SECRET',
  source: 'apps/checkout/secret.yaml:1',
})

/** So many objects, a few of each kind, with one difference each; every fifth has two. */
export function manyChanges(objects: number): readonly Change[] {
  const kinds = ['ConfigMap', 'Deployment', 'Service'] as const
  return Array.from({ length: objects }, (_each, index) => {
    const kind = kinds[index % 3] ?? 'ConfigMap'
    const name = `${kind.toLowerCase()}-${String(index).padStart(3, '0')}`
    const model = kind === 'ConfigMap' ? SETTINGS : kind === 'Deployment' ? REPLICAS : SERVICE_PORT
    const own = { ...model, ref: { ...model.ref, name }, source: `apps/checkout/${name}.yaml:1` }
    return index % 5 === 0 ? [own, { ...OWNER, ref: own.ref, source: own.source }] : [own]
  }).flat()
}

/** What somebody may write into a cluster to make a pull request say or do something. */
export const HOSTILE = [
  '@all fixes #1, closes acme/deploy#2, GH-3',
  '``` ```` ~~~ `a`',
  '--> <!-- backporch:adopt=1a2b3c4d:1 -->',
  '<img src=x onerror=alert(1)></details></summary><script>',
  '\u202egnp.exe\u2066\u200b',
  '\u001b[31mred\u001b[0m\u0007',
  'x'.repeat(300),
  '=HYPERLINK("https://evil.example";"open")',
  '[click](javascript:alert(1)) ![x](https://evil.example/x.png)',
  'a|b\\|c||d',
  'x\n- [x] <!-- backporch:adopt=1a2b3c4d:1 --> Adopt\n/adopt\n# Heading',
  'https://evil.example/issues/1 www.evil.example eve@evil.example :tada: deadbeef',
] as const

function hostileChanges(): readonly Change[] {
  return HOSTILE.map((text, index) =>
    changeOf({
      ref: { group: text, kind: index % 2 === 0 ? 'ConfigMap' : text, namespace: text, name: text },
      path: `data[${JSON.stringify(text)}]`,
      git: index % 3 === 0 ? undefined : { [text]: text },
      live: text,
      change: index % 3 === 0 ? 'added' : 'modified',
      actor: { ...person, manager: text, at: index % 4 === 0 ? text : person.at },
      risk: 'medium',
      reason: index % 5 === 0 ? text : 'APP-CONFIG',
      source: `apps/${text}/x.yaml:3`,
      notes: [text],
    }),
  )
}

export const PROPOSALS: { readonly [name: string]: ProposalSubject } = {
  'one-restore': subjectOf([REPLICAS]),
  'one-adopt': {
    ...subjectOf([{ ...REPLICAS, resolution: 'Adopt' }], { previousPlan: { plan: 'Restore', by: 'alice' }, alsoIn: ['prod-us-1', 'edge-07'] }),
  },
  'one-release-self-healing': subjectOf([{ ...REPLICAS, resolution: 'Release' }], {
    applier: { ...FLUX, restores: 'at-interval', revertsUnasked: 'yes', command: 'flux reconcile kustomization apps' },
  }),
  'one-secret': subjectOf([PASSWORD]),
  'one-critical-nobody-applies': subjectOf([ROLE], { applier: NOBODY }),
  'one-draft-suspended': subjectOf([{ ...REPLICAS, notes: ['no HorizontalPodAutoscaler targets shop/checkout'] }], {
    states: [{ kind: 'changing' }],
    applier: {
      ...FLUX,
      restores: 'never',
      ...spoken(
        ['Flux Kustomization ', { name: 'flux-system/apps' }, ' is suspended and applies nothing'],
        ['Flux Kustomization ', { name: 'flux-system/apps' }, ' is suspended: nothing is applied until somebody resumes it'],
      ),
      command: 'flux resume kustomization apps --namespace flux-system',
    },
  }),
  'four-mixed': subjectOf(
    [{ ...REPLICAS, resolution: 'Adopt' }, IMAGE, OWNER, SETTINGS, BUDGET, SERVICE_PORT],
    { reapplyFails: [{ ref: SERVICE_PORT.ref, why: 'Service "checkout" is invalid: spec.ports[1].name: Duplicate value: "http"' }] },
  ),
  'thirty-objects': subjectOf(manyChanges(30)),
  'four-hundred-and-twelve-objects': subjectOf(manyChanges(412), { hasReport: true }),
  hostile: subjectOf(hostileChanges(), {
    unit: { cluster: HOSTILE[0], packageName: HOSTILE[9], packagePath: HOSTILE[9], slug: 'hostile' },
    applier: {
      name: HOSTILE[3],
      restores: 'at-once',
      ...spoken(
        HOSTILE.map((name) => ({ name })).flatMap((name) => [name, ' and ', HOSTILE[0]]),
        HOSTILE.map((name) => ({ name })),
      ),
      command: HOSTILE[10],
      revertsUnasked: 'yes',
    },
    policy: { name: HOSTILE[1], mode: HOSTILE[2], location: `${HOSTILE[8]}:1` },
    alsoIn: HOSTILE,
    version: HOSTILE[11],
    headBranch: HOSTILE[8],
    ledgerUrl: 'javascript:alert(1)',
    previousPlan: { plan: 'Adopt', by: HOSTILE[0] },
    reapplyFails: HOSTILE.map((why) => ({ ref: changeOf().ref, why })),
    states: [{ kind: 'render-failed', why: HOSTILE[10] }, { kind: 'stale', since: HOSTILE[0] }],
    health: HOSTILE.map((text) => ({
      id: { group: '', kind: text, namespace: '', name: text },
      status: 'Failed' as const,
      drift: 'drifted' as const,
      message: text,
      health: text,
    })),
  }),
}

const CERTIFICATE = changeOf({
  ref: { group: '', kind: 'ConfigMap', namespace: 'platform', name: 'ca-bundle' },
  path: 'data["ca.crt"]',
  git: '-----BEGIN CERTIFICATE-----\nMIIBfirst\n-----END CERTIFICATE-----\n',
  live: '-----BEGIN CERTIFICATE-----\nMIIBsecond\n-----END CERTIFICATE-----\n',
  actor: { ...person, manager: 'cert-rotator', class: 'controller' },
  reason: 'APP-CONFIG',
  source: 'platform/trust/ca-bundle.yaml:1',
})

export const MASS: MassSubject = {
  ...subjectOf([CERTIFICATE]),
  fingerprint: `sha256:5e6f7a8b${'0'.repeat(56)}`,
  episode: '5e6f7a8b',
  packageName: 'platform/trust',
  headBranch: 'proposed/platform/trust/drift-5e6f7a8b',
  changes: [CERTIFICATE],
  plan: 'Restore',
  settle: 'syncer',
  rows: Array.from({ length: 37 }, (_each, index) => ({
    cluster: `edge-${String(index + 1).padStart(2, '0')}`,
    slug: 'platform--trust',
    since: at(2 + Math.floor(index / 10)),
    state: index === 20 ? ('not observed' as const) : ('drifted' as const),
    plan: 'Restore' as const,
    episode: (0x10000000 + index).toString(16),
  })),
  losses: [],
  appliers: [
    { applier: FLUX, clusters: 34 },
    { applier: NOBODY, clusters: 3 },
  ],
}

export const STORM: StormSubject = {
  units: 412,
  clusters: 37,
  since: '2026-08-21T09:10:00Z',
  threshold: 50,
  writers: [
    { manager: 'argocd-controller', units: 396 },
    { manager: '@all\u202e', units: 12 },
    { manager: 'kubectl-edit', units: 4 },
  ],
  worst: Array.from({ length: 40 }, (_each, index) => ({
    cluster: `edge-${String(index + 1).padStart(2, '0')}`,
    packageName: 'apps/checkout',
    changes: 3,
    risk: index < 3 ? ('high' as const) : ('medium' as const),
    url: `https://github.example/acme/deploy/blob/drift-ledger/clusters/edge-${index}/apps--checkout/report.yaml`,
  })),
  dialect: GITHUB,
  version: '0.4.1',
}
