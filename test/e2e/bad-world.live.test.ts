/** Bad surroundings: a cluster, a remote, a checkout or a disk that does not do what is asked. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { policy, webPackage } from './packages.ts'
import { assertExit, openWorld, refsOfPeople, type World } from './world.ts'

await controlPlaneSuite('bad input: cluster, remote, checkout and disk', {}, (plane) => {
  /** A drift that is proposed. */
  async function proposed(
    t: TestContext,
  ): Promise<{ world: World; namespace: string; branch: string }> {
    const namespace = await plane.namespace('world')
    const world = await openWorld(t, plane, {
      ...webPackage(namespace),
      ...policy('mode: Propose'),
    })
    await world.sync('apps/web')
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    assertExit(await world.backporch('scan'), 1)
    const [branch = ''] = await world.proposals()
    return { world, namespace, branch }
  }

  test('an unreachable cluster is exit 3 without drift, and the open proposal stays', async (t) => {
    const { world } = await proposed(t)
    const kubeconfig = writeKubeconfig(world, 'gone', 'https://127.0.0.1:1', plane.caData, {
      token: 'x',
    })
    const before = await refsOfPeople(world)
    for (const args of [
      ['scan'],
      ['diff', '-o', 'json'],
      ['approve', '--yes'],
      ['adopt', 'apps/web'],
    ]) {
      const run = assertExit(await world.backporch(...args, '--kubeconfig', kubeconfig), 3)
      assert.match(
        run.stderr,
        /^error BP3001: .*\n {2}where: cluster test\n {2}why: .*\n {2}fix: /m,
      )
      assert.doesNotMatch(run.stdout + run.stderr, /missing/)
      assert.deepEqual(await refsOfPeople(world), before)
    }
  })

  test('reports an untrusted server and rejected credentials', async (t) => {
    const { world } = await proposed(t)
    const before = await refsOfPeople(world)
    const untrusted = writeKubeconfig(world, 'untrusted', plane.url, undefined, { token: 'x' })
    assert.match(
      assertExit(await world.backporch('scan', '--kubeconfig', untrusted), 3).stderr,
      /^error BP3007: /,
    )
    const unknown = writeKubeconfig(world, 'unknown', plane.url, plane.caData, {
      token: 'not-a-token',
    })
    const run = assertExit(await world.backporch('scan', '--kubeconfig', unknown), 4)
    assert.match(
      run.stderr,
      /^error BP3002: .*\n {2}where: cluster test\n {2}why: .*\(401\)\n {2}fix: /,
    )
    assert.deepEqual(await refsOfPeople(world), before)
  })

  test('reports missing rights as the exact RBAC rule to add, and keeps open proposals', async (t) => {
    const { world, namespace, branch } = await proposed(t)
    const user = `${namespace}-ci`
    const kubeconfig = await plane.kubeconfigFor(user)
    const proposal = await world.remote('rev-parse', branch)
    const given = new Set<string>()
    for (let round = 0; ; round += 1) {
      assert.ok(round < 6, `still refused after ${[...given].join('; ')}`)
      const run = await world.backporch('scan', '--kubeconfig', kubeconfig)
      assert.equal(await world.remote('rev-parse', branch), proposal)
      assert.doesNotMatch(run.stdout, /missing|removed/)
      if (run.code === 1) break
      assertExit(run, 4)
      const reported = run.stdout.matchAll(
        /bind user "([^"]+)" to a Role in namespace (\S+) with apiGroups: (.*?), resources: (.*?), verbs: (\[.*?\])/g,
      )
      const rules = [...reported].map(([, who, where, groups, resources, verbs]) => {
        assert.deepEqual([who, where], [user, namespace])
        return {
          apiGroups: parse(groups ?? ''),
          resources: parse(resources ?? ''),
          verbs: parse(verbs ?? ''),
        }
      })
      const added = rules.filter((rule) => !given.has(JSON.stringify(rule)))
      assert.ok(added.length > 0, `no new rule is told: ${run.stdout}`)
      for (const rule of added) given.add(JSON.stringify(rule))
      await grant(plane, namespace, user, `round-${round}`, added)
    }
    // Reads and dry runs only: nothing else was ever asked for.
    const verbs = [...given].flatMap((rule): string[] => JSON.parse(rule).verbs)
    assert.deepEqual([...new Set(verbs)].sort(), ['list', 'patch'])
  })

  test('reads a base branch again that moves before the push, and forces nothing', async (t) => {
    const { world } = await proposed(t)
    hook(world, `${MOVE_MAIN}\n[ "$(wc -l < moves)" -ge 2 ] && : > hooks/pre-receive\nexit 0`)
    const run = assertExit(await world.backporch('approve', '--yes'), 0)
    assert.match(run.stdout, /apps\/web v1 is published/)
    assert.equal(readFileSync(join(world.repository, 'moves'), 'utf8').length, 2 * 'moved\n'.length)
    const log = await world.remote('log', '--first-parent', '--format=%s', 'main')
    assert.deepEqual(log.split('\n').slice(1), [
      'somebody was faster',
      'somebody was faster',
      'packages',
    ])
  })

  test('gives up after five such moves and writes nothing', async (t) => {
    const { world, branch } = await proposed(t)
    hook(world, `${MOVE_MAIN}\nexit 0`)
    const run = assertExit(await world.backporch('approve', '--yes'), 2)
    assert.match(run.stderr, /^error BP2006: /)
    assert.equal(readFileSync(join(world.repository, 'moves'), 'utf8').length, 5 * 'moved\n'.length)
    assert.equal(await world.remote('log', '-1', '--format=%s', 'main'), 'somebody was faster')
    assert.equal(await world.remote('tag'), '')
    assert.deepEqual(await world.proposals(), [branch])
  })

  test('a protected branch refuses the whole push: no tag, the proposal stays, and the rule is reported', async (t) => {
    const { world } = await proposed(t)
    const before = await world.refs()
    hook(
      world,
      'while read old new ref; do [ "$ref" = refs/heads/main ] && echo "main is protected: use a pull request" >&2 && exit 1; done; exit 0',
    )
    const run = assertExit(await world.backporch('approve', '--yes'), 2)
    assert.match(
      run.stderr,
      /^error BP4002: .*\n {2}where: .*\n {2}why: .*refs\/heads\/main.*main is protected: use a pull request.*\n {2}fix: /,
    )
    assert.deepEqual(await world.refs(), before)
  })

  test('reads commits and never the work tree; approve fast-forwards a clean checkout and refuses a dirty one', async (t) => {
    const { world } = await proposed(t)
    await world.git('fetch', '--quiet', 'origin', '+refs/heads/*:refs/remotes/origin/*')
    const here = (...args: string[]): ReturnType<World['backporchIn']> =>
      world.backporchIn(world.checkout, {}, ...args)
    const text = world.read('apps/web/deployment.yaml')
    const line = (): string | undefined =>
      world.read('apps/web/deployment.yaml').match(/^ {2}replicas: .*$/m)?.[0]

    world.write('apps/web/deployment.yaml', text.replace('replicas: 3', 'replicas: 5'))
    const dirty = assertExit(await here('diff'), 1)
    assert.match(dirty.stdout, /spec\.replicas +3 → 5/)
    assert.match(
      dirty.stderr,
      /^note: the work tree has changes that are not committed; commits are compared/,
    )
    assertExit(await here('adopt', 'apps/web'), 0)
    const head = await world.git('rev-parse', 'HEAD')
    const refused = assertExit(await here('approve', 'apps/web', '--yes'), 2)
    assert.match(refused.stderr, /^error BP4007: .*\n.*\n {2}why: .*apps\/web\/deployment\.yaml/)
    assert.equal(await world.git('rev-parse', 'HEAD'), head)
    assert.equal(await world.git('tag'), '')
    assert.match(await world.git('branch', '--list', 'proposed/*'), /proposed\/apps\/web\/drift-/)

    await world.git('checkout', '--quiet', '.')
    assertExit(await here('approve', 'apps/web', '--yes'), 0)
    assert.equal(line(), '  replicas: 5   # two zones and a spare')
    assert.equal(await world.git('status', '--porcelain'), '')
    assert.equal(await world.git('rev-parse', 'HEAD'), await world.git('rev-parse', 'apps/web/v1'))
  })

  test('leaves a checkout of another branch alone', async (t) => {
    const { world } = await proposed(t)
    await world.git('checkout', '--quiet', '-b', 'mine')
    world.write('apps/web/config.yaml', 'mine\n')
    const here = (...args: string[]): ReturnType<World['backporchIn']> =>
      world.backporchIn(world.checkout, {}, ...args, '--branch', 'main')
    assertExit(await here('adopt', 'apps/web'), 0)
    assertExit(await here('approve', 'apps/web', '--yes'), 0)
    assert.equal(world.read('apps/web/config.yaml'), 'mine\n')
    assert.equal(await world.git('branch', '--show-current'), 'mine')
    assert.match(await world.git('log', '-1', '--format=%s', 'main'), /^fix\(drift\): adopt /)
  })

  test('reports an unwritable cache and continues without it', async (t) => {
    const { world, namespace } = await proposed(t)
    await world.kubectl('scale', 'deployment/web', '--replicas=6', '-n', namespace)
    const before = await world.refs()
    const cache = join(world.folder, 'cache')
    mkdirSync(cache)
    writeFileSync(join(cache, 'backporch'), 'a file where a folder is wanted\n')
    const without = assertExit(
      await world.backporchIn(
        world.checkout,
        { XDG_CACHE_HOME: cache },
        'scan',
        '--repo',
        world.repository,
      ),
      1,
    )
    assert.match(
      without.stderr,
      /^note: the cache folder .* cannot be written \(the file system answered ENOTDIR\)/m,
    )
    assert.notDeepEqual(await world.refs(), before)
  })

  test('reports a full disk of the cache and continues without it', async (t) => {
    const { world, namespace } = await proposed(t)
    await world.kubectl('scale', 'deployment/web', '--replicas=6', '-n', namespace)
    const cache = join(world.folder, 'tiny')
    mkdirSync(cache)
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', cache], { stdio: 'ignore' })
    } catch {
      t.diagnostic(
        'no small file system can be mounted here; the test before this one has a cache that takes no data',
      )
      return
    }
    try {
      const before = await world.refs()
      // A path would be read in place, without the cache.
      const remote = `file://${world.repository}`
      const run = assertExit(
        await world.backporchIn(
          world.checkout,
          { XDG_CACHE_HOME: cache },
          'scan',
          '--repo',
          remote,
        ),
        1,
      )
      assert.match(
        run.stderr,
        /^note: the cache folder .* cannot be written \(the file system answered ENOSPC\)/m,
      )
      assert.notDeepEqual(await world.refs(), before)
    } finally {
      execFileSync('umount', [cache])
    }
  })
})

/** Commits onto `main` behind the back of the push that runs the hook, as another person's push would. */
const MOVE_MAIN = `unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
echo moved >> moves
commit=$(git -c user.name=x -c user.email=x@example.com commit-tree -p main -m 'somebody was faster' 'main^{tree}')
git update-ref refs/heads/main "$commit"`

function hook(world: World, script: string): void {
  const path = join(world.repository, 'hooks', 'pre-receive')
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
}

function writeKubeconfig(
  world: World,
  name: string,
  server: string,
  caData: string | undefined,
  user: object,
): string {
  const path = join(world.folder, `${name}.kubeconfig`)
  const cluster = {
    server,
    ...(caData === undefined ? {} : { 'certificate-authority-data': caData }),
  }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster }],
    users: [{ name, user }],
    contexts: [{ name: 'test', context: { cluster: name, user: name } }],
    'current-context': 'test',
  }
  writeFileSync(path, JSON.stringify(config))
  return path
}

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

async function grant(
  plane: ControlPlane,
  namespace: string,
  user: string,
  name: string,
  rules: readonly Rule[],
): Promise<void> {
  const root = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
  const apiGroup = 'rbac.authorization.k8s.io'
  const created = [
    await plane.request('POST', `${root}/roles`, { body: { metadata: { name }, rules } }),
    await plane.request('POST', `${root}/rolebindings`, {
      body: {
        metadata: { name },
        roleRef: { apiGroup, kind: 'Role', name },
        subjects: [{ apiGroup, kind: 'User', name: user }],
      },
    }),
  ]
  for (const { status, body } of created) assert.equal(status, 201, JSON.stringify(body))
  // The authoriser learns of a role by a watch.
  for (const { apiGroups, resources, verbs } of rules) {
    const question = [
      'auth',
      'can-i',
      verbs[0] ?? '',
      `${resources[0]}.${apiGroups[0]}`,
      `--as=${user}`,
      `--namespace=${namespace}`,
    ]
    for (
      let requested = 0;
      (await plane.kubectl(question, { exitCodes: [0, 1] })).code !== 0;
      requested += 1
    )
      assert.ok(requested < 50, question.join(' '))
  }
}
