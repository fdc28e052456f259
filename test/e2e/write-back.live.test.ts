/** What a turn writes into git, held against git itself, against kpt, and against a second turn. */
import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { whyNoKpt } from '../kpt/find-kpt.ts'
import { policy, webPackage } from './packages.ts'
import { assertExit, type Files, openWorld, type World } from './world.ts'

await controlPlaneSuite('write-back', { controllerManager: true }, (plane) => {
  /** A package in sync, then three edits in two objects. */
  async function drifted(
    t: TestContext,
    more: Files = {},
  ): Promise<{ world: World; namespace: string }> {
    const namespace = await plane.namespace('write')
    const world = await openWorld(t, plane, { ...webPackage(namespace), ...more })
    await world.sync('apps/web')
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    await world.kubectl(
      'patch',
      'configmap/web',
      '-n',
      namespace,
      '-p',
      '{"data":{"timeout":"60","more":"yes"}}',
    )
    await world.settled(namespace, 'web', 5)
    return { world, namespace }
  }

  async function onlyBranch(world: World): Promise<string> {
    const [branch, ...more] = await world.proposals()
    assert.ok(branch !== undefined && more.length === 0, `branches: ${[branch, ...more].join(' ')}`)
    return branch
  }

  test('without a policy it records drift as a draft in the form of design §7, and a second scan changes no ref', async (t) => {
    const { world, namespace } = await drifted(t)
    const run = assertExit(await world.backporch('scan'), 1)
    const branch = await onlyBranch(world)
    assert.match(branch, /^drafts\/apps\/web\/drift-[0-9a-f]{8}$/)
    assert.ok(run.stdout.includes(branch), run.stdout)
    const id = branch.slice(-8)

    // The branch is one commit on top of main, and changes the Kptfile's condition and the record, nothing else.
    assert.equal(
      await world.remote('rev-parse', `${branch}^`),
      await world.remote('rev-parse', 'main'),
    )
    const date = (
      await world.remote('show', '--no-patch', '--format=%cd', '--date=format-local:%Y%m%d', branch)
    ).trim()
    const record = `.drift/records/test/apps--web/${date}-${id}.record`
    assert.deepEqual((await world.remote('diff', '--name-status', 'main', branch)).split('\n'), [
      `A\t${record}`,
      'M\tapps/web/Kptfile',
    ])
    const lines = (await world.remote('diff', '--unified=0', 'main', branch, '--', 'apps'))
      .split('\n')
      .filter((line) => /^[+-](?![+-])/.test(line))
    assert.deepEqual(lines, [
      '+status:',
      '+  conditions:',
      '+  - type: Drifted',
      '+    status: "True"',
      '+    reason: DriftDetected',
      `+    message: drift-${id}`,
    ])
    assert.doesNotMatch(await world.remote('ls-tree', '-r', branch), /^(120000|160000|100755)/m)

    // The record is inert for every syncer, and says what the cluster has.
    const text = await world.show(branch, record)
    assert.equal(text.split('\n')[0], '# +argocd:skip-file-rendering')
    assert.match(text, /\n---\nbackporch: no manifest\n?$/)
    const [first] = parseAllDocuments(text)
    const document = first?.toJS()
    assert.deepEqual(
      [document.apiVersion, document.kind, document.metadata],
      [
        'backporch.dev/v1alpha1',
        'DriftRecord',
        { name: `drift-${id}`, annotations: { 'config.kubernetes.io/local-config': 'true' } },
      ],
    )
    const changes = document.spec.changes.map(
      (change: { ref: { kind: string }; path: string; git: unknown; live: unknown }) => [
        change.ref.kind,
        change.path,
        change.git,
        change.live,
      ],
    )
    assert.deepEqual(changes, [
      ['ConfigMap', 'data.timeout', '30', '60'],
      ['ConfigMap', 'data.more', undefined, 'yes'],
      ['Deployment', 'spec.replicas', 3, 5],
    ])

    // The commit: conventional subject, the kpt: line alone in its paragraph, trailers last, the bot as author, the actor as trailer.
    const message = await world.remote('show', '--no-patch', '--format=%B', branch)
    assert.match(message, /^chore\(drift\): record 3 changes of apps\/web in test\n\n/)
    const kpt = message.split('\n\n').filter((paragraph) => paragraph.startsWith('kpt:'))
    assert.equal(kpt.length, 1)
    const annotation = JSON.parse((kpt[0] ?? '').slice('kpt:'.length))
    assert.deepEqual(annotation, {
      package: 'apps/web',
      workspaceName: `drift-${id}`,
      revision: '0',
      task: { type: 'edit' },
    })
    const trailers = await trailersOf(world, branch)
    assert.equal(trailers.get('Drift-Id'), `test/apps--web/${id}`)
    assert.equal(trailers.get('Drift-Fingerprint'), document.spec.fingerprint)
    assert.ok(document.spec.fingerprint.startsWith(`sha256:${id}`))
    assert.equal(trailers.get('Drift-Resolution'), 'Restore')
    assert.equal(trailers.get('Drift-Risk'), 'medium')
    assert.equal(trailers.get('Drift-Cluster'), 'test')
    assert.equal(trailers.get('Drift-Package'), 'apps/web')
    assert.equal(
      trailers.get('Drift-Object'),
      `/ConfigMap/${namespace}/web\napps/Deployment/${namespace}/web`,
    )
    assert.equal(
      trailers.get('Drift-Actor'),
      'kubectl-patch (field-manager)\nkubectl (field-manager)',
    )
    assert.match(
      await world.remote('show', '--no-patch', '--format=%an %cn', branch),
      /^backporch\[bot\] backporch\[bot\]$/,
    )
    assert.match(trailers.get('Signed-off-by') ?? '', /^backporch\[bot\] </)

    const before = await world.refs()
    assertExit(await world.backporch('scan'), 1)
    assert.deepEqual(await world.refs(), before)
    // Nor does one from a machine that has nothing in its cache.
    assertExit(
      await world.backporchIn(
        world.checkout,
        { XDG_CACHE_HOME: join(world.folder, 'other') },
        'scan',
        '--repo',
        world.repository,
      ),
      1,
    )
    assert.deepEqual(await world.refs(), before)
    assert.doesNotMatch(await world.remote('fsck', '--strict', '--full'), /error|warning|missing/)
  })

  test('writes the report and the live status as a ResourceGroup to an orphan ledger branch', async (t) => {
    const { world, namespace } = await drifted(t)
    assertExit(await world.backporch('scan'), 1)
    const [, root] = (await world.remote('rev-list', 'drift-ledger')).split('\n').reverse()
    assert.equal(root, undefined, 'one turn is one commit, without a parent')
    assert.match(
      await world.remote('log', '-1', '--format=%B', 'drift-ledger'),
      /^status\(test\): apps\/web: Drifted \(3\)\n\n\[skip ci\]/,
    )
    assert.deepEqual(
      (await world.remote('ls-tree', '-r', '--name-only', 'drift-ledger')).split('\n'),
      [
        'clusters/test/apps--web/report.yaml',
        'clusters/test/apps--web/resourcegroup.yaml',
        'clusters/test/observation.yaml',
        ...[...(await world.refs()).keys()]
          .filter((ref) => ref.startsWith('refs/heads/drafts/'))
          .map((ref) => `pushed/${ref.replace('refs/heads/', '')}.yaml`),
      ],
    )
    const group = parse(
      await world.show('drift-ledger', 'clusters/test/apps--web/resourcegroup.yaml'),
    )
    assert.deepEqual([group.apiVersion, group.kind], ['kpt.dev/v1alpha1', 'ResourceGroup'])
    assert.deepEqual(group.spec.resources, [
      { group: '', kind: 'ConfigMap', namespace, name: 'web' },
      { group: 'apps', kind: 'Deployment', namespace, name: 'web' },
    ])
    const status = group.status.resourceStatuses.map(
      (one: { kind: string; status: string; conditions: { type: string; status: string }[] }) => [
        one.kind,
        one.status,
        one.conditions.find(({ type }) => type === 'Drifted')?.status,
      ],
    )
    assert.deepEqual(status, [
      ['ConfigMap', 'Current', 'True'],
      // No node runs its Pods.
      ['Deployment', 'InProgress', 'True'],
    ])
    const report = parse(await world.show('drift-ledger', 'clusters/test/apps--web/report.yaml'))
    assert.equal(report.kind, 'DriftReport')
    assert.equal(report.status.state, 'Drifted')
    // A status that is in git needs no cluster to be read.
    const read = assertExit(
      await world.backporchIn(
        world.checkout,
        { KUBECONFIG: '/nowhere' },
        'status',
        '--repo',
        world.repository,
      ),
      1,
    )
    assert.match(read.stdout, /^test +apps\/web +- +~ Drifted +~ InProgress +2\/2 +medium /m)
  })

  test('mode Propose opens a proposal that changes only the Kptfile when git is right', async (t) => {
    const { world } = await drifted(t, policy('mode: Propose'))
    assertExit(await world.backporch('scan'), 1)
    const branch = await onlyBranch(world)
    assert.match(branch, /^proposed\/apps\/web\/drift-[0-9a-f]{8}$/)
    const kptfile = parse(await world.show(branch, 'apps/web/Kptfile'))
    assert.deepEqual(kptfile.status.conditions, [
      {
        type: 'Drifted',
        status: 'False',
        reason: 'RestoreApproved',
        message: branch.slice(branch.lastIndexOf('/') + 1),
      },
    ])
    assert.match(
      await world.remote('diff', '--name-only', 'main', branch),
      /^\.drift\/records\/test\/apps--web\/[0-9]{8}-[0-9a-f]{8}\.record\napps\/web\/Kptfile$/,
    )
    const before = await world.refs()
    assertExit(await world.backporch('scan'), 1)
    assert.deepEqual(await world.refs(), before)
  })

  test('mode Off writes nothing, and --dry-run reports what would be written and writes nothing', async (t) => {
    const { world } = await drifted(t, policy('mode: Off'))
    const before = await world.refs()
    assertExit(await world.backporch('scan'), 1)
    assert.deepEqual(await world.refs(), before)
    await world.commit(policy('mode: Propose'), 'propose')
    const moved = await world.refs()
    const run = assertExit(await world.backporch('scan', '--dry-run'), 1)
    assert.match(run.stdout, /would be proposed: proposed\/apps\/web\/drift-[0-9a-f]{8}/)
    assert.deepEqual(await world.refs(), moved)
  })

  test('one episode is one branch: more drift updates it, and only a commit to the package rebuilds it', async (t) => {
    const { world, namespace } = await drifted(t)
    assertExit(await world.backporch('scan'), 1)
    const branch = await onlyBranch(world)
    const first = await world.remote('rev-parse', branch)

    await world.commit({ 'README.md': 'elsewhere\n' }, 'elsewhere')
    assertExit(await world.backporch('scan'), 1)
    assert.equal(await world.remote('rev-parse', branch), first)

    await world.commit(
      { 'apps/web/config.yaml': `${world.read('apps/web/config.yaml')}# a comment\n` },
      'a comment',
    )
    assertExit(await world.backporch('scan'), 1)
    assert.equal(await onlyBranch(world), branch)
    assert.equal(
      await world.remote('rev-parse', `${branch}^`),
      await world.remote('rev-parse', 'main'),
    )

    await world.kubectl('label', 'configmap/web', 'stray=yes', '-n', namespace)
    assertExit(await world.backporch('scan'), 1)
    assert.equal(await onlyBranch(world), branch)
    assert.match(
      await world.show(branch, `.drift/records/test/apps--web/${await recordName(world, branch)}`),
      /metadata\.labels\.stray/,
    )
    assert.equal((await trailersOf(world, branch)).get('Drift-Object')?.split('\n').length, 2)
  })

  test('closes its record when drift goes away by itself', async (t) => {
    const { world, namespace } = await drifted(t)
    assertExit(await world.backporch('scan'), 1)
    const id = (await onlyBranch(world)).slice(-8)
    await world.sync('apps/web')
    await world.kubectl(
      'patch',
      'configmap/web',
      '-n',
      namespace,
      '--type=merge',
      '-p',
      '{"data":{"more":null}}',
    )
    const run = assertExit(await world.backporch('scan'), 0)
    assert.match(run.stdout, /is withdrawn: the cluster returned to git by itself/)
    assert.deepEqual(await world.proposals(), [])
    const closed = (await world.remote('ls-tree', '-r', '--name-only', 'drift-ledger'))
      .split('\n')
      .filter((path) => path.startsWith('closed/'))
    assert.equal(closed.length, 1)
    assert.match(closed[0] ?? '', new RegExp(`^closed/\\d{4}/\\d{2}/${id}\\.yaml$`))
    assert.equal(parse(await world.show('drift-ledger', closed[0] ?? '')).status.outcome, 'Healed')
  })

  test('writes the same bytes for the same observation on two machines', async (t) => {
    const { world, namespace } = await drifted(t)
    const live = join(world.folder, 'live.yaml')
    writeFileSync(
      live,
      await world.kubectl(
        'get',
        'configmaps,deployments',
        '-n',
        namespace,
        '-o',
        'yaml',
        '--show-managed-fields',
      ),
    )
    const copy = join(world.folder, 'copy', 'packages.git')
    cpSync(world.repository, copy, { recursive: true })
    const scan = (repository: string, machine: string): Promise<unknown> =>
      world.backporchIn(
        world.folder,
        { XDG_CACHE_HOME: join(world.folder, machine), KUBECONFIG: '/nowhere' },
        ...['scan', '--repo', repository, '--live', live, '--cluster', 'air-gapped'],
      )
    await scan(world.repository, 'one')
    await scan(copy, 'two')
    const copied = await world.remote(
      '--git-dir',
      copy,
      'for-each-ref',
      '--format=%(refname) %(objectname)',
    )
    assert.equal(copied, [...(await world.refs())].map((ref) => ref.join(' ')).join('\n'))
    assert.match(copied, /refs\/heads\/drafts\/apps\/web\/drift-/)
  })

  test('kpt gets, renders and reads the branch as it reads the package', {
    skip: whyNoKpt(),
  }, async (t) => {
    const { world } = await drifted(t, policy('mode: Propose'))
    assertExit(await world.backporch('adopt', 'apps/web', '-m', 'more shoppers'), 0)
    const branch = await onlyBranch(world)
    await world.kpt(world.folder, 'pkg', 'get', `${world.repository}/apps/web@${branch}`, 'got')
    await world.kpt(world.folder, 'fn', 'render', 'got')
    const { stdout } = await world.kpt(world.folder, 'fn', 'source', 'got')
    const list = parse(stdout)
    assert.deepEqual(list.items.map((item: { kind: string }) => item.kind).sort(), [
      'ConfigMap',
      'Deployment',
      'Kptfile',
    ])
    assert.equal(
      list.items.find((item: { kind: string }) => item.kind === 'Deployment').spec.replicas,
      5,
    )
    const kptfile = list.items.find((item: { kind: string }) => item.kind === 'Kptfile')
    assert.equal(
      kptfile.status.conditions.find((condition: { type: string }) => condition.type === 'Drifted')
        .reason,
      'Adopted',
    )

    // After the merge, the revision is got by its number as Porch tags it.
    assertExit(await world.backporch('approve', 'apps/web', '--yes'), 0)
    await world.kpt(world.folder, 'pkg', 'get', `${world.repository}/apps/web@v1`, 'revision')
    await world.kpt(world.folder, 'fn', 'render', 'revision')
  })
})

async function recordName(world: World, branch: string): Promise<string> {
  const path = await world.remote('ls-tree', '-r', '--name-only', branch, '.drift/records')
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Trailers as git reads them; several of one name are lines of one value. */
async function trailersOf(world: World, revision: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const line of (
    await world.remote('show', '--no-patch', '--format=%(trailers:only,unfold)', revision)
  ).split('\n')) {
    const [, key, value] = /^([A-Za-z-]+): (.*)$/.exec(line) ?? []
    if (key === undefined || value === undefined) continue
    const before = found.get(key)
    found.set(key, before === undefined ? value : `${before}\n${value}`)
  }
  return found
}
