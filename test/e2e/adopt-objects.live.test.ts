/** Adopt of objects that git does not declare, on a real API server: what is written is what people would write, and an apply of it changes nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect, create } from '../apiserver/live-cluster.ts'
import { createSyncer, installSyncerKinds, SYNCER_KINDS } from '../apiserver/syncer-kinds.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { kptfile } from './packages.ts'
import { assertExit, type Files, openWorld, type World } from './world.ts'

/** The operator allows the builds of `kubectl kustomize`. */
const KUBECTL = ['--allow-render', 'kubectl']

await controlPlaneSuite('adopt-objects', { controllerManager: true }, (plane) => {
  test('adopts an undeclared object as a clean manifest, an apply changes nothing, and a Secret is refused', async (t) => {
    await installSyncerKinds(plane, await connect(plane))
    const namespace = await plane.namespace('adopt-objects')
    const syncers = await plane.namespace('syncers')
    const mark = `labels: {kustomize.toolkit.fluxcd.io/name: web, kustomize.toolkit.fluxcd.io/namespace: ${syncers}}`
    const config = (name: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}, ${mark}}\ndata: {a: b}\n`
    const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: ${namespace}
  labels:
    app: web
spec:
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: app
        image: example.com/web:1
        ports:
        - containerPort: 80
`
    const service = `apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: ${namespace}
spec:
  ports:
  - port: 80
    targetPort: 8080
  selector:
    app: web
  type: NodePort
`
    const secret = `apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: ${namespace}}\nstringData: {password: hunter2}\n`
    const owned = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: owned\n  namespace: ${namespace}\n  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: $UID}]\n`
    const world = await openWorld(t, plane, {
      'apps/web/Kptfile': kptfile('web'),
      'apps/web/configmap-a.yaml': config('a'),
      'apps/web/configmap-b.yaml': config('b'),
    })
    await world.sync('apps/web')
    await world.pipe([deployment, service, secret].join('---\n'), 'create', '--filename=-')
    const listed = [
      'a__ConfigMap',
      'b__ConfigMap',
      'web_apps_Deployment',
      'web__Service',
      'db__Secret',
      'owned__ConfigMap',
    ]
    await inventory(
      plane,
      { namespace: syncers, name: 'web' },
      './apps/web',
      listed.map((id) => `${namespace}_${id}`),
    )
    // A controller writes the status and the revision, and a scale changes the count.
    await world.kubectl('scale', 'deployment/web', '--replicas=3', '-n', namespace)
    const uid = await world.kubectl(
      'get',
      'configmap/a',
      '-n',
      namespace,
      '-o',
      'jsonpath={.metadata.uid}',
    )
    await world.pipe(owned.replace('$UID', uid), 'create', '--filename=-')

    const refused = assertExit(await world.backporch('adopt', 'apps/web', 'secret/db'), 2)
    assert.match(
      refused.stderr,
      /BP2002: cannot adopt Secret .*\/db\n.*why: it is a Secret.*\n.*fix: .*SOPS.*SealedSecret.*ExternalSecret/,
    )
    const controlled = assertExit(await world.backporch('adopt', 'apps/web', 'configmap/owned'), 2)
    assert.match(controlled.stderr, /BP2010: .*\n.*another object of the cluster owns it/)
    assert.deepEqual(await world.proposals(), [])

    assertExit(
      await world.backporch('adopt', 'apps/web', 'deployment/web', 'service/web', '-m', 'it stays'),
      0,
    )
    const [branch = ''] = await world.proposals()
    const files = (await world.remote('diff', '--name-status', 'main', branch, '--', 'apps')).split(
      '\n',
    )
    assert.deepEqual(files, [
      'M\tapps/web/Kptfile',
      'A\tapps/web/deployment-web.yaml',
      'A\tapps/web/service-web.yaml',
    ])
    const scaled = deployment.replace('spec:\n', 'spec:\n  replicas: 3\n')
    assert.equal(
      `${await world.remote('show', `${branch}:apps/web/deployment-web.yaml`)}\n`,
      scaled,
    )
    assert.equal(`${await world.remote('show', `${branch}:apps/web/service-web.yaml`)}\n`, service)
    assert.doesNotMatch(await world.remote('show', branch), /hunter2|aHVudGVyMg/)
    const again = assertExit(await world.backporch('scan', 'apps/web'), 1)
    assert.match(again.stdout, /unchanged|proposed/)
    const [same = ''] = await world.proposals()
    assert.equal(
      await world.remote('rev-parse', same),
      await world.remote('rev-parse', branch),
      'the same objects give the same commit',
    )

    assertExit(await world.backporch('approve', 'apps/web', '--yes'), 0)
    await world.git('pull', '--quiet')
    const before = await versions(world, namespace)
    await world.sync('apps/web')
    assert.deepEqual(await versions(world, namespace), before)
    const left = assertExit(await world.backporch('diff', 'apps/web', '-o', 'json'), 1)
    assert.deepEqual(
      JSON.parse(left.stdout).items[0].spec.changes.map(
        ({ ref }: { ref: { name: string } }) => ref.name,
      ),
      ['db', 'owned'].sort(),
    )
  })

  test('in an overlay the manifest and its entry go into the overlay, and the base stays unchanged', async (t) => {
    await installSyncerKinds(plane, await connect(plane))
    const namespace = await plane.namespace('adopt-overlay')
    const kustomization = `namespace: ${namespace}\nnamePrefix: prod-\nresources: # all of it\n- ../base\n- settings.yaml # ours\n`
    const config = (name: string, data: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: ${data}\n`
    const files: Files = {
      'apps/base/kustomization.yaml': 'resources:\n- web.yaml\n',
      'apps/base/web.yaml': config('web', '{a: b}'),
      'apps/production/kustomization.yaml': kustomization,
      'apps/production/settings.yaml': config('settings', '{c: d}'),
      'apps/staging/kustomization.yaml': 'resources:\n- ../base\n',
    }
    const world = await openWorld(t, plane, files)
    const source = { url: `file://${world.repository}`, ref: { branch: 'main' }, interval: '1m' }
    await createSyncer(plane, SYNCER_KINDS.gitRepository, namespace, 'flux-system', source)
    const marked = (text: string) => {
      const labels = `{kustomize.toolkit.fluxcd.io/name: production, kustomize.toolkit.fluxcd.io/namespace: ${namespace}}`
      return text.replace(
        /metadata: \{name: (\w+)\}/,
        `metadata: {name: prod-$1, namespace: ${namespace}, labels: ${labels}}`,
      )
    }
    const manifests = [config('web', '{a: b}'), config('settings', '{c: d}')]
      .map(marked)
      .join('---\n')
    await world.pipe(
      manifests,
      'apply',
      '--server-side',
      '--field-manager=kustomize-controller',
      '--filename=-',
    )
    await world.pipe(config('prod-extra', '{e: f}'), 'create', '--filename=-', '-n', namespace)
    const ids = ['web', 'settings', 'extra'].map((name) => `${namespace}_prod-${name}__ConfigMap`)
    await inventory(plane, { namespace, name: 'production' }, './apps/production', ids)

    assertExit(
      await world.backporch(
        'adopt',
        'apps/production',
        'configmap/prod-extra',
        '--cluster',
        'prod',
        ...KUBECTL,
      ),
      0,
    )
    const [branch = ''] = await world.proposals()
    const changed = await world.remote('diff', '--unified=0', 'main', branch, '--', 'apps')
    assert.deepEqual(
      changed.split('\n').filter((line) => /^[-+]/.test(line)),
      [
        '--- /dev/null',
        '+++ b/apps/production/extra.yaml',
        '+apiVersion: v1',
        '+kind: ConfigMap',
        '+metadata:',
        '+  name: extra',
        `+  namespace: ${namespace}`,
        '+data:',
        '+  e: f',
        '--- a/apps/production/kustomization.yaml',
        '+++ b/apps/production/kustomization.yaml',
        '+- extra.yaml',
      ],
    )
  })

  test('imports an unmanaged namespace as one package, and an apply changes nothing', async (t) => {
    const namespace = await plane.namespace('imported')
    const world = await openWorld(t, plane, {
      'apps/web/Kptfile': kptfile('web'),
      'apps/web/configmap-a.yaml': declared(namespace),
    })
    const made = ['create', '--filename=-', '-n', namespace] as const
    await world.pipe(
      `${declared(namespace)}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\ndata: {e: f}\n`,
      ...made,
    )
    await world.pipe(
      'apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: hunter2}\n',
      ...made,
    )
    await world.pipe(
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: login}\ndata: {password: hunter2}\n',
      ...made,
    )
    await world.kubectl(
      'create',
      'deployment',
      'shop',
      '--image=example.com/shop:1',
      '-n',
      namespace,
    )
    await world.settled(namespace, 'shop', 1)

    const dry = assertExit(
      await world.backporch('import', '--namespace', namespace, '--to', 'apps/shop', '--dry-run'),
      0,
    )
    assert.match(
      dry.stdout,
      /would be proposed:\n {2}apps\/shop\/Kptfile.*\n(?:.*\n)* {2}not imported: /,
    )
    const taken = assertExit(
      await world.backporch('import', '--namespace', namespace, '--to', 'apps/web/more'),
      2,
    )
    assert.match(taken.stderr, /BP1001: .*\n(?:.*\n)*.*part of the package above it/)
    const run = assertExit(
      await world.backporch('import', '--namespace', namespace, '--to', 'apps/shop'),
      0,
    )
    assert.match(
      run.stdout,
      /not imported: Secret .*\/db: it is a Secret.*\n {4}fix: .*SOPS.*SealedSecret.*ExternalSecret/,
    )
    assert.match(
      run.stdout,
      /not imported: ConfigMap .*\/login: it has a credential \(data\.password\)/,
    )
    const branches = [...(await world.refs()).keys()].filter((ref) =>
      ref.startsWith('refs/heads/drift/import-'),
    )
    const [branch = ''] = branches
    const files = (await world.remote('diff', '--name-only', 'main', branch)).split('\n')
    assert.deepEqual(files, [
      'apps/shop/Kptfile',
      'apps/shop/configmap-extra.yaml',
      'apps/shop/deployment-shop.yaml',
    ])
    assert.doesNotMatch(
      await world.remote('show', branch),
      /hunter2|aHVudGVyMg|status:|resources: \{\}|terminationMessagePath/,
    )
    assertExit(await world.backporch('import', '--namespace', namespace, '--to', 'apps/shop'), 0)
    assert.deepEqual(
      [...(await world.refs()).keys()].filter((ref) => ref.startsWith('refs/heads/drift/import-')),
      branches,
      'the same request is the same branch',
    )

    await world.git('fetch', '--quiet')
    await world.git('merge', '--quiet', `origin/${branch.replace('refs/heads/', '')}`)
    await world.git('push', '--quiet', 'origin', 'HEAD:main')
    const before = await versions(world, namespace)
    await world.sync('apps/shop')
    assert.equal(await versions(world, namespace), before)
    assert.equal(assertExit(await world.backporch('diff', 'apps/shop'), 0).stdout, '')
    const again = assertExit(
      await world.backporch('import', '--namespace', namespace, '--to', 'apps/more'),
      2,
    )
    assert.match(again.stderr, /BP1011: the namespace .* has no objects to import/)
  })
})

function declared(namespace: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ${namespace}}\ndata: {a: b}\n`
}

/** A Flux Kustomization with these objects in its inventory. */
async function inventory(
  plane: World['plane'],
  { namespace, name }: { readonly namespace: string; readonly name: string },
  path: string,
  ids: readonly string[],
): Promise<void> {
  await create(
    plane,
    `/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/${namespace}/kustomizations`,
    {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name, namespace },
      spec: {
        path,
        sourceRef: { kind: 'GitRepository', name: 'flux-system' },
        interval: '10m',
        prune: true,
      },
      status: { inventory: { entries: ids.map((id) => ({ id, v: 'v1' })) } },
    },
  )
}

/** Generations, which an apply raises that changes a specification, and the content of ConfigMaps. */
async function versions(world: World, namespace: string): Promise<string> {
  const { items } = JSON.parse(
    await world.kubectl('get', 'deployment,service,configmap', '-n', namespace, '-o', 'json'),
  )
  return JSON.stringify(
    items.map(
      (item: {
        metadata: { name: string; generation?: number }
        spec?: unknown
        data?: unknown
      }) => [item.metadata.name, item.metadata.generation, item.spec, item.data],
    ),
  )
}
