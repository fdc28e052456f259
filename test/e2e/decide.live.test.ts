/** Each decision, from the hand edit to a cluster and a git that agree, and what git tells of it later. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import { policy, webPackage } from './packages.ts'
import { assertExit, assertNoDrift, type Files, openWorld, type World } from './world.ts'

await controlPlaneSuite('decisions', { controllerManager: true }, (plane) => {
  async function open(
    t: TestContext,
    more: Files = policy('mode: Propose'),
  ): Promise<{ world: World; namespace: string }> {
    const namespace = await plane.namespace('decide')
    const world = await openWorld(t, plane, { ...webPackage(namespace), ...more })
    await world.sync('apps/web')
    return { world, namespace }
  }

  /** Edits that an apply puts back: a value, a replica count, a variable taken away. */
  async function editByHand(world: World, namespace: string): Promise<void> {
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    await world.kubectl('set', 'env', 'deployment/web', '-c', 'app', 'CURRENCY-', '-n', namespace)
    await world.kubectl(
      'patch',
      'configmap/web',
      '-n',
      namespace,
      '-p',
      '{"data":{"timeout":"60"}}',
    )
  }

  const VERIFIED =
    /^✓ drift-[0-9a-f]{8}(-\d+)? of apps\/web is verified: test agrees with the decision\n/m

  /** @returns what the scan said: of a decision that it is the first to find settled, that it is */
  async function assertInSync(world: World): Promise<string> {
    const scan = assertExit(await world.backporch('scan', 'apps/web'), 0)
    assert.equal(
      scan.stdout.replace(/^\d+ Released \(no drift\): .*\n/m, '').replace(VERIFIED, ''),
      '',
    )
    const status = assertNoDrift(await world.backporch('status', 'apps/web'))
    assert.match(status.stdout, /^test +apps\/web +\S+ +✓ InSync +\S+ \w+ +0\/2 /m)
    return scan.stdout
  }

  /** Lines that a commit changes in the manifests, as `git diff` marks them. */
  async function changedLines(world: World, from: string, to: string): Promise<string[]> {
    const text = await world.remote('diff', '--unified=0', from, to, '--', 'apps/web/*.yaml')
    return text.split('\n').filter((line) => /^[+-](?![+-])/.test(line))
  }

  test('Restore: from scan and approve to InSync after the apply, with a revision tag', async (t) => {
    const { world, namespace } = await open(t)
    await editByHand(world, namespace)
    assertExit(await world.backporch('scan', 'apps/web'), 1)
    const base = await world.remote('rev-parse', 'main')
    const [branch = ''] = await world.proposals()
    const proposal = await world.remote('rev-parse', branch)

    const approved = assertExit(await world.backporch('approve', 'apps/web', '--yes'), 0)
    assert.match(
      approved.stdout,
      /apps\/web v1 is published: Restore merged into main at [0-9a-f]{7}/,
    )
    assert.match(
      approved.stdout,
      /run: kubectl apply --server-side --force-conflicts --field-manager=ci -R -f apps\/web\n/,
    )
    assert.deepEqual(await world.proposals(), [])
    assert.equal(
      await world.remote('show', '--no-patch', '--format=%P', 'main'),
      `${base} ${proposal}`,
    )
    assert.equal(
      await world.remote('rev-parse', 'refs/tags/apps/web/v1'),
      await world.remote('rev-parse', 'main'),
    )
    assert.deepEqual(await changedLines(world, base, 'main'), [])
    const message = await world.remote('show', '--no-patch', '--format=%B', 'main')
    assert.match(
      message,
      /^kpt:\{"package":"apps\/web","workspaceName":"drift-[0-9a-f]{8}","revision":"1",/m,
    )
    assert.match(message, /^Drift-Decided-By: Ada Lovelace <ada@example\.com>$/m)

    // Nothing was written to the cluster, and until somebody applies the package this is not in sync.
    assert.equal(await live(world, namespace, 'deployment/web', '{.spec.replicas}'), '5')
    const waiting = assertExit(await world.backporch('status', 'apps/web'), 1)
    assert.match(waiting.stdout, /Applying/)
    assertExit(await world.backporch('scan', 'apps/web'), 1)
    assert.deepEqual(await world.proposals(), [])

    await world.sync('apps/web')
    assert.equal(await live(world, namespace, 'deployment/web', '{.spec.replicas}'), '3')
    assert.match(await assertInSync(world), VERIFIED)
    assert.doesNotMatch(await assertInSync(world), VERIFIED)

    // A clone that never saw the cluster.
    const elsewhere = `${world.folder}/elsewhere`
    await world.remote('clone', '--quiet', '--mirror', '.', elsewhere)
    const away = {
      KUBECONFIG: '/nowhere',
      XDG_CACHE_HOME: `${world.folder}/away`,
      BACKPORCH_KEY: '',
    }
    const history = assertExit(
      await world.backporchIn(world.folder, away, 'history', 'apps/web', '--repo', elsewhere),
      0,
    )
    assert.match(
      history.stdout,
      / test +apps\/web +.*\(\+2\) +.*kubectl.* restore +Ada Lovelace +\S+ +\S+ \S+Z +[0-9a-f]{7}\n/,
    )
    assert.match(
      history.stdout,
      new RegExp(` ${(await world.remote('rev-parse', 'main')).slice(0, 7)}$`, 'm'),
    )
    const reported = JSON.parse(
      (await world.backporchIn(world.folder, away, 'history', '--repo', elsewhere, '-o', 'json'))
        .stdout,
    )
    assert.equal(reported.items.length, 1)
    assert.equal(reported.items[0].status.outcome, 'Merged')
    assert.ok(reported.items[0].status.verifiedAt >= reported.items[0].status.at)
    assert.equal(reported.items[0].spec.changes.length, 3)
    const revisions = assertExit(
      await world.backporchIn(world.folder, away, 'get', 'packages', '--repo', elsewhere),
      0,
    )
    assert.match(
      revisions.stdout,
      /^elsewhere\.apps\.web\.drift-[0-9a-f]{8} +apps\/web +drift-[0-9a-f]{8} +1 +true +Published /m,
    )
  })

  test('Adopt: exactly the changed lines move, with their comments, and all is in sync after the apply', async (t) => {
    const { world, namespace } = await open(t)
    await editByHand(world, namespace)
    await world.kubectl(
      'annotate',
      'configmap/web',
      'example.com/contact-',
      'example.com/owner=ops',
      '-n',
      namespace,
    )
    await world.kubectl('set', 'env', 'deployment/web', '-c', 'app', 'TRACE=1', '-n', namespace)
    assertExit(await world.backporch('scan', 'apps/web'), 1)
    const base = await world.remote('rev-parse', 'main')
    assertExit(await world.backporch('adopt', 'apps/web', '-m', 'sale starts tonight'), 0)
    const [branch = ''] = await world.proposals()
    assert.deepEqual(await changedLines(world, base, branch), [
      '-    example.com/contact: shop@example.com',
      '+    example.com/owner: ops',
      '-  timeout: "30"  # seconds',
      '+  timeout: "60"  # seconds',
      '-  replicas: 3   # two zones and a spare',
      '+  replicas: 5   # two zones and a spare',
      '-        - {name: CURRENCY, value: EUR}',
      '+        - name: TRACE',
      '+          value: "1"',
    ])
    assertExit(await world.backporch('approve', 'apps/web', '--yes'), 0)
    assert.match(
      await world.remote('show', '--no-patch', '--format=%B', 'main'),
      /^Why: sale starts tonight$/m,
    )
    await world.sync('apps/web')
    assert.equal(await live(world, namespace, 'deployment/web', '{.spec.replicas}'), '5')
    await assertInSync(world)
    const history = assertExit(await world.backporch('history', '-o', 'wide'), 0)
    assert.match(history.stdout, / adopt +Ada Lovelace .* sale starts tonight\n/)
  })

  test('publishes a second episode as the next revision, with the first as its source', async (t) => {
    const { world, namespace } = await open(t)
    for (const [replicas, revision] of [
      ['5', 'v1'],
      ['6', 'v2'],
    ] as const) {
      await world.kubectl('scale', 'deployment/web', `--replicas=${replicas}`, '-n', namespace)
      assertExit(await world.backporch('adopt', 'apps/web'), 0)
      const approved = assertExit(await world.backporch('approve', '--yes'), 0)
      assert.match(approved.stdout, new RegExp(`apps/web ${revision} is published`))
      await world.sync('apps/web')
      await assertInSync(world)
    }
    assert.deepEqual((await world.remote('tag')).split('\n'), ['apps/web/v1', 'apps/web/v2'])
    assert.match(
      await world.remote('show', '--no-patch', '--format=%B', 'main'),
      /"revision":"2","task":\{"type":"edit","edit":\{"sourceRef":\{"name":"packages\.apps\.web\.drift-[0-9a-f]{8}"\}\}\}\}/,
    )
    assert.match(
      await world.remote('show', '--no-patch', '--format=%B', 'main'),
      /^Drift-Package: apps\/web@v1$/m,
    )
  })

  test('the same drift after a verified Restore is a new episode with its own name', async (t) => {
    const { world, namespace } = await open(t)
    const workspaces: string[] = []
    for (const _time of ['once', 'again']) {
      await world.kubectl(
        'patch',
        'configmap/web',
        '-n',
        namespace,
        '-p',
        '{"data":{"timeout":"60"}}',
      )
      assertExit(await world.backporch('scan'), 1)
      workspaces.push(...(await world.proposals()))
      assertExit(await world.backporch('approve', '--yes'), 0)
      await world.sync('apps/web')
      await assertInSync(world)
    }
    const [first = '', second] = workspaces
    assert.match(first, /^proposed\/apps\/web\/drift-[0-9a-f]{8}$/)
    assert.equal(second, `${first}-2`)
    assert.equal(workspaces.length, 2)
    const listed = await world.backporch('get', 'packages', '-o', 'name')
    assert.equal(
      new Set(listed.stdout.split('\n')).size,
      listed.stdout.split('\n').length,
      listed.stdout,
    )
  })

  test('Release: git stops managing the field, and no later value of it is reported', async (t) => {
    const { world, namespace } = await open(t)
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    const base = await world.remote('rev-parse', 'main')
    assertExit(await world.backporch('release', 'apps/web', '-m', 'an autoscaler owns it'), 0)
    assertExit(await world.backporch('approve', 'apps/web', '--yes'), 0)
    assert.deepEqual(await changedLines(world, base, 'main'), [
      '-  replicas: 3   # two zones and a spare',
    ])
    await world.sync('apps/web')
    await assertInSync(world)
    await world.kubectl('scale', 'deployment/web', '--replicas=9', '-n', namespace)
    await assertInSync(world)
    const shown = assertExit(await world.backporch('diff', 'apps/web', '--show-ignored'), 0)
    assert.match(
      shown.stdout,
      /Released: .*spec\.replicas: git stopped managing it with drift-[0-9a-f]{8}/,
    )
  })

  test('selects changes by number, by number and field, and by object; the others keep their resolution', async (t) => {
    const { world, namespace } = await open(t)
    await editByHand(world, namespace)
    await world.kubectl(
      'patch',
      'configmap/web',
      '-n',
      namespace,
      '-p',
      '{"data":{"theme":"dark"}}',
    )
    assertExit(await world.backporch('scan', 'apps/web'), 1)
    const numbered = await world.backporch('diff', 'apps/web')
    const numberOf = (path: string): string => {
      const line = numbered.stdout.split('\n').find((one) => one.includes(` ${path} `)) ?? ''
      return /^ +(\d+) /.exec(line)?.[1] ?? assert.fail(`${path} is not in\n${numbered.stdout}`)
    }
    const resolutions = async (): Promise<Record<string, string>> => {
      const [branch = ''] = await world.proposals()
      const path = await world.remote('ls-tree', '-r', '--name-only', branch, '.drift/records')
      const record = parseAllDocuments(await world.show(branch, path))[0]?.toJS()
      return Object.fromEntries(
        record.spec.changes.map((change: { path: string; resolution: string }) => [
          change.path,
          change.resolution,
        ]),
      )
    }
    const env = 'spec.template.spec.containers[name=app].env[name=CURRENCY]'

    assertExit(
      await world.backporch(
        'adopt',
        'apps/web',
        `${numberOf('data.timeout')},${numberOf('spec.replicas')}`,
      ),
      0,
    )
    assert.deepEqual(await resolutions(), {
      'data.theme': 'Restore',
      'data.timeout': 'Adopt',
      'spec.replicas': 'Adopt',
      [env]: 'Restore',
    })

    assertExit(await world.backporch('release', 'apps/web', `${numberOf(env)}:spec.replicas`), 0)
    assert.equal((await resolutions())['spec.replicas'], 'Release')

    assertExit(await world.backporch('adopt', 'apps/web', 'configmap/web'), 0)
    assert.deepEqual(await resolutions(), {
      'data.theme': 'Adopt',
      'data.timeout': 'Adopt',
      'spec.replicas': 'Release',
      [env]: 'Restore',
    })

    const [branch = ''] = await world.proposals()
    assert.deepEqual(await changedLines(world, 'main', branch), [
      '-  timeout: "30"  # seconds',
      "-  theme: 'light'",
      '+  timeout: "60"  # seconds',
      "+  theme: 'dark'",
      '-  replicas: 3   # two zones and a spare',
    ])
    assert.match(
      await world.remote('show', '--no-patch', '--format=%B', branch),
      /^Drift-Resolution: Mixed$/m,
    )

    assertExit(await world.backporch('approve', 'apps/web', '--yes'), 0)
    await world.sync('apps/web')
    assert.equal(await live(world, namespace, 'deployment/web', '{.spec.replicas}'), '5')
    assert.match(
      await live(world, namespace, 'deployment/web', '{.spec.template.spec.containers[0].env}'),
      /CURRENCY/,
    )
    await assertInSync(world)

    const wrong = assertExit(await world.backporch('adopt', 'apps/web', 'deployment/nothing'), 2)
    assert.match(wrong.stderr, /^error BP(1011|2008): /)
  })

  test('reject closes the branch and silences exactly this drift; another edit is raised', async (t) => {
    const { world, namespace } = await open(t)
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    assertExit(await world.backporch('scan'), 1)
    const [first = ''] = await world.proposals()
    const main = await world.remote('rev-parse', 'main')
    assertExit(await world.backporch('reject', 'apps/web', '--yes', '-m', 'on purpose'), 0)
    assert.deepEqual(await world.proposals(), [])
    assert.equal(await world.remote('rev-parse', 'main'), main)
    const silent = await world.refs()
    await world.backporch('scan')
    assert.deepEqual([...(await world.refs()).keys()], [...silent.keys()])
    assert.match(assertNoDrift(await world.backporch('status')).stdout, /Silenced/)
    assert.equal(await live(world, namespace, 'deployment/web', '{.spec.replicas}'), '5')

    await world.kubectl('scale', 'deployment/web', '--replicas=7', '-n', namespace)
    assertExit(await world.backporch('scan'), 1)
    const [second = ''] = await world.proposals()
    assert.match(second, /^proposed\//)
    assert.notEqual(second, first)
    assert.match((await world.backporch('history')).stdout, / declined +Ada Lovelace /)
  })

  test('withdraws a proposal when live goes back, and does not decide it when live moved on', async (t) => {
    const { world, namespace } = await open(t)
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    assertExit(await world.backporch('scan'), 1)
    const [branch = ''] = await world.proposals()
    const proposal = await world.remote('rev-parse', branch)
    const main = await world.remote('rev-parse', 'main')

    await world.kubectl('scale', 'deployment/web', '--replicas=8', '-n', namespace)
    const refused = assertExit(await world.backporch('approve', 'apps/web', '--yes'), 2)
    assert.match(
      refused.stderr,
      /^error BP2005: .*\n {2}why: what differs now: spec\.replicas\n {2}fix: the proposal was updated/m,
    )
    assert.equal(await world.remote('rev-parse', 'main'), main)
    assert.deepEqual(await world.proposals(), [branch])
    assert.notEqual(await world.remote('rev-parse', branch), proposal)
    assert.match(
      await world.remote('show', '--no-patch', '--format=%B', branch),
      /spec\.replicas {2}3 → 8/,
    )

    await world.sync('apps/web')
    const withdrawn = assertExit(await world.backporch('approve', 'apps/web', '--yes'), 2)
    assert.match(
      withdrawn.stderr,
      /^error BP2005: .*\n {2}why: live agrees with git again, so the proposal was withdrawn/m,
    )
    assert.deepEqual(await world.proposals(), [])
    assertExit(await world.backporch('approve', 'apps/web', '--yes'), 2)
    assert.equal(await world.remote('rev-parse', 'main'), main)
  })

  for (const style of ['--no-ff', '--squash'] as const) {
    test(`recognises a hand-merged proposal (${style}) by its content`, async (t) => {
      const { world, namespace } = await open(t)
      await editByHand(world, namespace)
      assertExit(await world.backporch('adopt', 'apps/web'), 0)
      const [branch = ''] = await world.proposals()
      await world.git('fetch', '--quiet', 'origin')
      await world.git('merge', '--quiet', style, `origin/${branch}`)
      if (style === '--squash') await world.git('commit', '--quiet', '--message', 'squashed')
      await world.git('push', '--quiet', 'origin', 'main')
      const run = assertExit(await world.backporch('scan'), 0)
      assert.match(run.stdout, /was merged( by .+)?: its revision is v1/)
      assert.deepEqual(await world.proposals(), [])
      assert.match(
        await world.remote('show', '--no-patch', '--format=%B', 'apps/web/v1'),
        /^kpt:\{"package":"apps\/web"/m,
      )
      await world.sync('apps/web')
      await assertInSync(world)
      assert.match((await world.backporch('history')).stdout, / adopt +/)
      const settled = await world.refs()
      assertExit(await world.backporch('scan'), 0)
      assert.deepEqual(await world.refs(), settled)
    })
  }

  test('treats the deletion of a proposal branch as a rejection', async (t) => {
    const { world, namespace } = await open(t)
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    assertExit(await world.backporch('scan'), 1)
    const [branch = ''] = await world.proposals()
    await world.git('push', '--quiet', 'origin', '--delete', branch)
    assert.match(
      (await world.backporch('scan')).stdout,
      /was closed by deleting its branch: exactly this drift is silent until /,
    )
    await world.backporch('scan')
    assert.deepEqual(await world.proposals(), [])
    await world.kubectl('scale', 'deployment/web', '--replicas=6', '-n', namespace)
    assertExit(await world.backporch('scan'), 1)
    assert.equal((await world.proposals()).length, 1)
  })

  test('never pushes to, and never merges, a branch with a foreign commit', async (t) => {
    const { world, namespace } = await open(t)
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    assertExit(await world.backporch('scan'), 1)
    const [branch = ''] = await world.proposals()
    await world.git('fetch', '--quiet', 'origin')
    await world.git('checkout', '--quiet', '-b', 'mine', `origin/${branch}`)
    world.write('apps/web/note.txt', 'hello\n')
    await world.git('add', '--all')
    await world.git('commit', '--quiet', '--message', 'mine')
    await world.git('push', '--quiet', 'origin', `HEAD:${branch}`)
    await world.git('checkout', '--quiet', 'main')
    const theirs = await world.refs()
    await world.kubectl('scale', 'deployment/web', '--replicas=6', '-n', namespace)
    assert.match(
      assertExit(await world.backporch('scan'), 1).stdout,
      /has a commit that backporch did not make/,
    )
    for (const verb of ['approve', 'reject', 'adopt']) {
      const flags = verb === 'adopt' ? [] : ['--yes']
      assert.match(
        assertExit(await world.backporch(verb, 'apps/web', ...flags), 2).stderr,
        /^error BP2009: /,
        verb,
      )
    }
    const now = await world.refs()
    assert.equal(now.get(`refs/heads/${branch}`), theirs.get(`refs/heads/${branch}`))
    assert.equal(now.get('refs/heads/main'), theirs.get('refs/heads/main'))
    assert.deepEqual([...now.keys()], [...theirs.keys()])
  })

  test('requires --yes for a decision without a terminal', async (t) => {
    const { world, namespace } = await open(t)
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    assertExit(await world.backporch('scan'), 1)
    const before = await world.refs()
    assert.match(
      assertExit(await world.backporch('approve', 'apps/web'), 2).stderr,
      /^error BP2011: .*--yes/ms,
    )
    assert.deepEqual(await world.refs(), before)
  })

  test('approve --wait ends when the syncer has applied the merged commit, and reports a timeout', async (t) => {
    const { world, namespace } = await open(t)
    await editByHand(world, namespace)
    assertExit(await world.backporch('scan'), 1)
    const waiting = world.backporch(
      'approve',
      'apps/web',
      '--yes',
      '--wait',
      '--wait-timeout',
      '10m',
    )
    const published = async (): Promise<boolean> =>
      (await world.refs()).has('refs/tags/apps/web/v1')
    await waitUntil('the revision is published', published)
    await world.sync('apps/web')
    assert.match(assertExit(await waiting, 0).stdout, /test matches git: verified/)
    await assertInSync(world)

    await world.kubectl('scale', 'deployment/web', '--replicas=6', '-n', namespace)
    assertExit(await world.backporch('scan'), 1)
    const late = assertExit(
      await world.backporch('approve', 'apps/web', '--yes', '--wait', '--wait-timeout', '1s'),
      3,
    )
    assert.match(late.stderr, /^error BP3014: /m)
    assert.equal((await world.refs()).has('refs/tags/apps/web/v2'), true)
  })
})

function live(world: World, namespace: string, object: string, jsonpath: string): Promise<string> {
  return world.kubectl('get', object, '-n', namespace, '-o', `jsonpath=${jsonpath}`)
}
