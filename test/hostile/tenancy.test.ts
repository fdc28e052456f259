/** A tenant's package names objects of another tenant: of these only the names are told, and nothing is written to them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApprovedWrite } from '@backporch/cluster/cluster'
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { listPendingSettles } from '../../src/plan/unit/pending-settles.ts'
import { assertMayWrite } from '../../src/plan/unit/plan-settle.ts'
import { findBoundary } from '../../src/policy/boundary.ts'
import { type PolicyFile, parsePolicyFiles } from '../../src/policy/parse-policy.ts'
import { settleByWriting } from '../../src/reconcile/turn/settle.ts'
import { runInWorld } from '../fakes/cli-world.ts'
import { marked } from '../fakes/inventory-world.ts'
import { appliedBy } from '../fakes/live-object.ts'
import {
  CONFIG,
  DEPLOYMENT,
  policyText,
  TurnWorld,
  WEB,
  WEB_CONFIG,
  yaml,
} from '../fakes/turn-world.ts'

const SETTLES = '{mode: Propose, settle: backporch}'
/** A value that is only live, in another tenant's object. */
const CANARY = 'canary-5b1f'

const OTHERS: { readonly [kind: string]: string } = {
  ConfigMap: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs, namespace: b}\ndata: {color: ${CANARY}, more: ${CANARY}}\n`,
  Deployment: DEPLOYMENT.replace(
    'name: web\n  namespace: shop',
    'name: theirs\n  namespace: b',
  ).replace('nginx:1.27', `nginx:${CANARY}`),
  Secret: `apiVersion: v1\nkind: Secret\nmetadata: {name: theirs, namespace: b, labels: {for: ${CANARY}}}\nstringData: {key: ${CANARY}}\n`,
  ClusterRole: `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: theirs}\nrules: [{verbs: [get], resources: [${CANARY}]}]\n`,
  Namespace: `apiVersion: v1\nkind: Namespace\nmetadata: {name: b, labels: {level: ${CANARY}}}\n`,
}

/** What the first tenant writes: a good copy, but for the values that he does not know. */
function guessed(text: string): string {
  return text.replaceAll(CANARY, 'guess')
}

const NAMES: { readonly [kind: string]: string } = { ClusterRole: 'theirs', Namespace: 'b' }

/** How the other tenant's object came there. */
const APPLIED: { readonly [how: string]: (object: JsonObject) => JsonObject } = {
  'the same syncer': (object) => appliedBy('kustomize-controller', object),
  'the same syncer, with marks': (object) =>
    marked(appliedBy('kustomize-controller', object), {
      labels: {
        'kustomize.toolkit.fluxcd.io/name': 'b',
        'kustomize.toolkit.fluxcd.io/namespace': 'flux-b',
      },
    }),
  'another syncer': (object) => appliedBy('argocd-controller', object),
  'a bootstrap of the same syncer': (object) => appliedBy('flux', object),
  kubectl: (object) => appliedBy('kubectl', object),
}

/** Tenant a has a package that its syncer applied, and declares an object of tenant b in it. */
function attack(
  kind: string,
  how: string,
  policy = SETTLES,
  files: { readonly [path: string]: string } = {},
): TurnWorld {
  const world = new TurnWorld(policy, files)
  const theirs = OTHERS[kind] ?? ''
  world.repository.commitByHand('main', { 'apps/web/theirs.yaml': guessed(theirs) })
  world.cluster.put((APPLIED[how] ?? ((object) => object))(yaml(theirs)))
  return world
}

function placement(allow: string, more = 'clusters: [prod], packages: ["apps/**"]'): string {
  return `apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: tenant-a}\nspec: {${more}, allow: ${allow}}\n`
}

/** Everything that a reader of the repository, of a review or of a terminal may see. */
async function everythingReported(world: TurnWorld): Promise<string> {
  const reported: string[] = []
  for (const argv of [
    ['diff'],
    ['diff', '-o', 'json'],
    ['diff', '-o', 'yaml'],
    ['diff', '--show-ignored', '--show-ownership', '-v'],
    ['diff', '-o', 'sarif'],
    ['explain', 'apps/web'],
    ['scan'],
    ['status', '-o', 'json'],
    ['report'],
  ]) {
    const { stdout, stderr } = await runInWorld(world, argv)
    reported.push(`${argv.join(' ')}\n${stdout}${stderr}`)
  }
  for (const [ref, commit] of (await world.repository.listRefs()).refs) {
    const files = await world.repository.list(commit, '')
    const blobs = await world.repository.read(files.map(({ id }) => id))
    for (const { path, id } of files)
      reported.push(`${ref} ${path}\n${new TextDecoder().decode(blobs.get(id))}`)
  }
  return reported.join('\n')
}

for (const kind of Object.keys(OTHERS))
  for (const how of Object.keys(APPLIED))
    test(`${kind} of another tenant, applied by ${how}: only its name is shown`, async () => {
      const world = attack(kind, how)
      world.edit(WEB, 'spec.replicas', 5)
      const { code, stdout } = await runInWorld(world, ['diff'])
      assert.equal(code, 3)
      assert.match(
        stdout,
        new RegExp(
          `${kind} (b/)?${NAMES[kind] ?? 'theirs'} outside \\(BP3017\\): outside what this package covers: .*\\(TEN-[A-Z-]+\\)`,
        ),
      )
      // The package's own drift is found all the same.
      assert.match(stdout, /spec\.replicas/)
      assert.doesNotMatch(await everythingReported(world), new RegExp(CANARY))
    })

for (const kind of Object.keys(OTHERS))
  for (const origin of ['operator', 'repository'] as const)
    test(`${kind} of another namespace, with allow of the ${origin}: is never read, and the rule is named`, async () => {
      const allow = placement(
        '{namespaces: [shop], clusterScoped: [rbac.authorization.k8s.io/Role*]}',
      )
      const world = attack(
        kind,
        'kubectl',
        SETTLES,
        origin === 'repository' ? { '.drift/place.yaml': allow } : {},
      )
      const read: string[] = []
      const { readLive } = world.cluster
      world.cluster.readLive = (wanted) => {
        read.push(...wanted.map(({ id }) => `${id.kind} ${id.name}`))
        return readLive.call(world.cluster, wanted)
      }
      const options = { readPolicyFiles: () => [{ path: '/etc/operator.yaml', text: allow }] }
      const argv =
        origin === 'operator' ? ['diff', '--operator-policy', '/etc/operator.yaml'] : ['diff']
      const { code, stdout } = await runInWorld(world, argv, options)
      const rule =
        kind === 'ClusterRole' || kind === 'Namespace' ? 'TEN-CLUSTER-SCOPED' : 'TEN-NAMESPACE'
      assert.equal(code, 3)
      assert.match(
        stdout,
        new RegExp(
          `outside \\(BP3017\\): .* of the ${origin}'s Placement tenant-a .*\\(${rule}\\)`,
        ),
      )
      assert.deepEqual(
        read.filter((name) => name.endsWith('theirs') || name === 'Namespace b'),
        [],
      )
    })

for (const [kind, allow] of [
  ['ConfigMap', '{namespaces: [shop, "b*"]}'],
  ['Deployment', '{namespaces: ["*"]}'],
  ['ClusterRole', '{namespaces: [shop], clusterScoped: [rbac.authorization.k8s.io/ClusterRole]}'],
  ['Namespace', '{namespaces: [shop, b], clusterScoped: [Namespace]}'],
] as const)
  test(`compares a ${kind} that a placement allows, whoever applied it`, async () => {
    const world = attack(kind, 'kubectl', SETTLES, { '.drift/place.yaml': placement(allow) })
    const { code, stdout } = await runInWorld(world, ['diff'])
    assert.equal(code, 1)
    assert.match(stdout, new RegExp(CANARY))
  })

test('compares what a bootstrap applied before the syncer reconciles it', async () => {
  const world = new TurnWorld()
  const role = guessed(OTHERS['ClusterRole'] ?? '')
  world.repository.commitByHand('main', { 'apps/web/role.yaml': role })
  world.cluster.put(appliedBy('kustomize-controller', yaml(role)))
  for (const text of [DEPLOYMENT, CONFIG]) world.cluster.put(appliedBy('flux', yaml(text)))
  const agrees = await runInWorld(world, ['diff'])
  assert.equal(agrees.code, 0, agrees.stdout)
  // Their controllers write to them at once.
  for (const key of [WEB, WEB_CONFIG])
    world.edit(key, 'metadata.finalizers', ['finalizers.fluxcd.io'], 'gotk-kustomize-controller')
  world.edit(WEB, 'spec.replicas', 5)
  const drifted = await runInWorld(world, ['diff'])
  assert.equal(drifted.code, 1, drifted.stdout)
  assert.match(drifted.stdout, /spec\.replicas[\s\S]*metadata\.finalizers/)
})

test('a Namespace needs both its kind and its name allowed', async () => {
  const world = attack('Namespace', 'kubectl', SETTLES, {
    '.drift/place.yaml': placement('{namespaces: [shop], clusterScoped: ["*"]}'),
  })
  assert.match(
    (await runInWorld(world, ['diff'])).stdout,
    /Namespace b outside .*\(TEN-NAMESPACE\)/,
  )
})

test('a package that no placement names covers nothing once any placement of the cluster has allow', async () => {
  const bound = placement('{namespaces: [shop]}', 'clusters: [prod], packages: [apps/other]')
  const files = [{ path: 'operator.yaml', text: bound }]
  const { stdout, code } = await runInWorld(
    new TurnWorld(),
    ['diff', '--operator-policy', 'operator.yaml'],
    {
      readPolicyFiles: () => files,
    },
  )
  assert.equal(code, 3)
  assert.match(
    stdout,
    /Deployment shop\/web outside \(BP3017\): .*operator\.yaml:4.*\(TEN-UNBOUND\)/,
  )
})

test('a repository can narrow the bounds of the operator and never widen them', async () => {
  const operator: PolicyFile[] = [
    { path: 'operator.yaml', text: placement('{namespaces: [shop]}') },
  ]
  const ask = async (own: string, kind: string) => {
    const world = attack(kind, 'kubectl', SETTLES, { '.drift/place.yaml': placement(own) })
    return (
      await runInWorld(world, ['diff', '--operator-policy', 'operator.yaml'], {
        readPolicyFiles: () => operator,
      })
    ).stdout
  }
  const wider = await ask('{namespaces: ["*"], clusterScoped: ["*"]}', 'ConfigMap')
  assert.match(wider, /ConfigMap b\/theirs outside .*of the operator's Placement/)
  assert.doesNotMatch(wider, new RegExp(CANARY))
  assert.match(
    await ask('{namespaces: [nothing]}', 'ConfigMap'),
    /Deployment shop\/web outside .*of the repository's Placement/,
  )
})

test('a binding on an unmerged branch has no effect', async () => {
  const world = attack('ConfigMap', 'kubectl', SETTLES, {
    '.drift/place.yaml': placement('{namespaces: [shop]}'),
  })
  world.repository.commitByHand('wider', { '.drift/place.yaml': placement('{namespaces: ["*"]}') })
  assert.match((await runInWorld(world, ['diff'])).stdout, /ConfigMap b\/theirs outside/)
})

test("an inventory that is not proven to be the package's names none of its objects", async () => {
  const inventory =
    'apiVersion: kpt.dev/v1alpha1\nkind: ResourceGroup\nmetadata: {name: inv, namespace: b, labels: {cli-utils.sigs.k8s.io/inventory-id: of-b}}\n'
  const world = new TurnWorld(SETTLES, { 'apps/web/resourcegroup.yaml': inventory })
  world.cluster.inventory = {
    source: 'ResourceGroup b/inv',
    resources: [{ group: '', kind: 'ConfigMap', namespace: 'b', name: CANARY }],
  }
  world.cluster.put(
    marked(
      appliedBy(
        'kubectl',
        yaml(CONFIG.replace('name: web, namespace: shop', `name: ${CANARY}, namespace: b`)),
      ),
      {
        annotations: { 'config.k8s.io/owning-inventory': 'of-b' },
      },
    ),
  )
  const { stdout, code } = await runInWorld(world, ['diff'])
  assert.equal(code, 3)
  assert.match(stdout, /lists one object outside what this package covers: .*\(TEN-INVENTORY\)/)
  assert.doesNotMatch(await everythingReported(world), new RegExp(CANARY))
})

test('a RepoSync covers only its own namespace, although the object elsewhere was guessed completely', async () => {
  const repoSync = (namespace: string) => ({
    annotations: {
      'configsync.gke.io/manager': namespace,
      'configmanagement.gke.io/managed': 'enabled',
    },
  })
  const guess =
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: small, namespace: b}\ndata: {on: "true"}\n'
  const world = attack('ConfigMap', 'the same syncer')
  world.repository.commitByHand('main', { 'apps/web/small.yaml': guess })
  world.cluster.put(appliedBy('kustomize-controller', yaml(guess)))
  for (const key of [WEB, WEB_CONFIG])
    world.cluster.change(key, (live) => marked(live, repoSync('shop')))
  for (const key of ['/ConfigMap/b/theirs', '/ConfigMap/b/small'])
    world.cluster.change(key, (live) => marked(live, repoSync('b')))
  const reported = await everythingReported(world)
  assert.doesNotMatch(reported, new RegExp(CANARY))
  for (const name of ['theirs', 'small'])
    assert.match(
      reported,
      new RegExp(
        `ConfigMap b/${name} outside .*RepoSync of another namespace.*\\(TEN-OTHER-SYNCER\\)`,
      ),
    )
  assert.doesNotMatch(reported, /shop\/web outside/)
})

test('several RepoSyncs of one namespace can share one package', async () => {
  const world = new TurnWorld()
  for (const [key, name] of [
    [WEB, 'shop_web'],
    [WEB_CONFIG, 'shop_config'],
  ] as const)
    world.cluster.change(key, (live) =>
      marked(live, {
        annotations: {
          'configsync.gke.io/manager': name,
          'configmanagement.gke.io/managed': 'enabled',
        },
      }),
    )
  assert.equal((await runInWorld(world, ['diff'])).code, 0)
})

test('ignores a RepoSync mark copied to an object of another namespace', async () => {
  const world = attack('ConfigMap', 'kubectl')
  const copied = {
    annotations: {
      'configsync.gke.io/manager': 'shop',
      'configmanagement.gke.io/managed': 'enabled',
    },
  }
  for (const key of [WEB, WEB_CONFIG, '/ConfigMap/b/theirs'])
    world.cluster.change(key, (live) => marked(live, copied))
  const reported = await everythingReported(world)
  assert.match(reported, /ConfigMap b\/theirs outside .*\(TEN-NOT-APPLIED\)/)
  assert.doesNotMatch(reported, new RegExp(CANARY))
})

test("compares objects in several namespaces, and cluster-scoped ones, that the package's syncer applied", async () => {
  const world = new TurnWorld()
  const files = {
    'apps/web/watch.yaml': CONFIG.replace(
      'name: web, namespace: shop',
      'name: rules, namespace: monitoring',
    ),
    'apps/web/role.yaml':
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: web, labels: {app: web}}\nrules: []\n',
    'apps/web/namespace.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n',
  }
  world.repository.commitByHand('main', files)
  world.sync()
  world.edit('/ConfigMap/monitoring/rules', 'data.color', 'red')
  world.edit('rbac.authorization.k8s.io/ClusterRole//web', 'metadata.labels.app', 'shop')
  world.edit('/Namespace//shop', 'metadata.labels.level', 'none')
  const { stdout, code } = await runInWorld(world, ['diff'])
  assert.equal(code, 1)
  for (const path of [/data\.color/, /metadata\.labels\.app/, /metadata\.labels\.level/])
    assert.match(stdout, path)
})

test('what the syncer has not applied yet stays Behind, also in a separate namespace', async () => {
  const world = new TurnWorld('{mode: Propose, detect: {stuckAfter: 5000d}}')
  const rules = CONFIG.replace('name: web, namespace: shop', 'name: rules, namespace: monitoring')
  world.repository.commitByHand('main', { 'apps/web/watch.yaml': rules })
  world.sync()
  world.repository.commitByHand('main', {
    'apps/web/watch.yaml': rules.replace('blue', 'green').replace('"5"', '"6"'),
  })
  const { stdout, code } = await runInWorld(world, ['diff'])
  assert.equal(code, 0)
  assert.match(stdout, /Behind/)
})

/** The only merged decision, to be carried out. */
async function settled(world: TurnWorld, operator?: string): Promise<string | undefined> {
  const more =
    operator === undefined
      ? {}
      : { operator: parsePolicyFiles([{ path: 'operator.yaml', text: operator }], 'operator') }
  const [pending] = listPendingSettles(await world.scan())
  assert.ok(pending !== undefined, 'something is to be settled')
  try {
    await settleByWriting(
      { ...world.ports, writer: world.cluster },
      world.request(more),
      pending,
      new AbortController().signal,
    )
    return undefined
  } catch (thrown) {
    assert.ok(thrown instanceof Failure)
    return thrown.code
  }
}

test('does not write what was approved before the operator bound the package elsewhere', async () => {
  const world = new TurnWorld(SETTLES)
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  await world.approve()
  assert.equal(await settled(world, placement('{namespaces: [elsewhere]}')), 'BP3017')
  assert.deepEqual(world.cluster.writes, [])
  await settled(world, placement('{namespaces: [shop]}'))
  assert.ok(world.cluster.writes.length > 0)
})

test('writes the covered objects of a package, and reports those that it does not cover', async () => {
  const world = new TurnWorld(SETTLES, {
    'apps/web/planted.yaml': CONFIG.replace(
      'name: web, namespace: shop',
      'name: planted, namespace: b',
    ),
  })
  world.cluster.objects.delete('/ConfigMap/b/planted')
  world.edit(WEB, 'spec.replicas', 5)
  await world.plan()
  await world.approve()
  await settled(world)
  const written = world.cluster.writes.map((write) =>
    write.kind === 'apply' ? write.resource.id.name : write.kind,
  )
  assert.deepEqual([...new Set(written)], ['web'])
  world.edit(WEB, 'spec.replicas', 3, world.syncer)
  assert.equal(await settled(world), 'BP3017')
})

test('the check before each write refuses what the placement forbids, whatever was planned', async () => {
  const world = new TurnWorld(SETTLES)
  const { units } = await world.scan()
  const [unit] = units
  assert.ok(unit?.state === 'planned')
  const bindings = parsePolicyFiles(
    [{ path: 'operator.yaml', text: placement('{namespaces: [shop]}') }],
    'operator',
  )
  const observed = { ...unit.observation, boundary: findBoundary(bindings, 'prod', 'apps/web') }
  const write = (namespace: string): ApprovedWrite => {
    const id = { group: '', kind: 'ConfigMap', namespace, name: 'web' }
    return { kind: 'delete', target: { id, apiVersion: 'v1' }, uid: 'u', resourceVersion: '1' }
  }
  assert.throws(
    () => assertMayWrite(observed, write('b')),
    (thrown) =>
      thrown instanceof Failure && thrown.code === 'BP3017' && /TEN-NAMESPACE/.test(thrown.why),
  )
  assertMayWrite(observed, write('shop'))
})

for (const [what, text] of [
  [
    'in another namespace',
    CONFIG.replace('name: web, namespace: shop', 'name: planted, namespace: b'),
  ],
  [
    'without a namespace',
    'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: planted}\nrules: []\n',
  ],
] as const)
  test(`reports an object ${what} that never existed as missing, and does not create it`, async () => {
    const world = new TurnWorld(SETTLES, { 'apps/web/planted.yaml': text })
    world.sync()
    for (const key of world.cluster.objects.keys())
      if (key.endsWith('/planted')) world.cluster.objects.delete(key)
    const plan = await world.plan()
    assert.deepEqual(
      plan.record?.spec.changes.map(({ change }) => change),
      ['missing'],
    )
    await world.approve()
    assert.equal(await settled(world), 'BP3017')
    assert.equal(world.cluster.writes.length, 0)
    await settled(world, placement('{namespaces: [shop, b], clusterScoped: ["*"]}'))
    assert.equal(world.cluster.writes[0]?.kind, 'apply')
  })

const OFF = 'backporch.dev/mode: "Off"'
const ENFORCED = { path: 'operator.yaml', text: policyText('{mode: Propose, enforce: true}') }

test('annotations of a package cannot disable an enforced mode, and a note says so', async () => {
  const quiet = DEPLOYMENT.replace(
    'labels:',
    `annotations: {${OFF}, backporch.dev/reason: mine}\n  labels:`,
  )
  const kptfile = `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n  annotations: {${OFF}}\n`
  const files = { 'apps/web/deployment.yaml': quiet, 'apps/web/Kptfile': kptfile }
  const free = new TurnWorld('{mode: Propose}', files)
  free.edit(WEB, 'spec.replicas', 5)
  assert.equal((await runInWorld(free, ['diff'])).code, 0)
  const world = new TurnWorld('{mode: Propose, enforce: true}', files)
  world.edit(WEB, 'spec.replicas', 5)
  const { stdout, stderr, code } = await runInWorld(world, ['diff'])
  assert.equal(code, 1)
  assert.match(stdout, /spec\.replicas/)
  assert.match(
    stdout + stderr,
    /apps\/web\/\S+:\d+: the annotation has no effect: policy\/test \(\.drift\/policy\.yaml:1\) is enforced/,
  )
  assert.match(
    (await runInWorld(world, ['explain', 'apps/web'])).stdout,
    /mode Propose <- enforced by policy\/test \(\.drift\/policy\.yaml:1\)/,
  )
})

test('policies of a repository cannot weaken what the operator enforces', async () => {
  const own =
    '{priority: 1000000, mode: "Off", settle: backporch, ignore: [{paths: [spec.replicas], reason: mine}], extends: ["preset:none"]}'
  const world = new TurnWorld(own)
  world.edit(WEB, 'spec.replicas', 5)
  assert.equal((await runInWorld(world, ['diff'])).code, 0)
  const options = { readPolicyFiles: () => [ENFORCED] }
  const flag = ['--operator-policy', 'operator.yaml']
  const { stdout, code } = await runInWorld(world, ['diff', ...flag], options)
  assert.equal(code, 1)
  assert.match(stdout, /spec\.replicas/)
  const explained = (await runInWorld(world, ['explain', 'apps/web', ...flag], options)).stdout
  assert.match(
    explained,
    /mode Propose <- enforced by operator policy\/test \(operator\.yaml:1\) > shipped default \(Warn\)/,
  )
})

test('explain knows every refusing rule', async () => {
  for (const rule of [
    'TEN-UNBOUND',
    'TEN-NAMESPACE',
    'TEN-CLUSTER-SCOPED',
    'TEN-OTHER-SYNCER',
    'TEN-NOT-APPLIED',
    'TEN-INVENTORY',
    'BP3017',
  ]) {
    const { stdout, code } = await runInWorld(new TurnWorld(), ['explain', rule])
    assert.equal(code, 0)
    assert.match(stdout, /exit code 3/)
  }
})
