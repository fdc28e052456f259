/** Bad repositories and packages. A clear error, the right exit code, and nothing written. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { kptfile, policy, webPackage } from './packages.ts'
import { assertExit, assertNoDrift, openWorld, refsOfPeople, type World } from './world.ts'

const CORPUS = fileURLToPath(new URL('../corpus/kptfile', import.meta.url))

await controlPlaneSuite('bad input: repositories and packages', {}, (plane) => {
  /** The call fails with this code and says what, why and what to do, on stderr only; no ref moves but the ledger, which says what could not be read. */
  async function assertRefused(
    world: World,
    args: readonly string[],
    exit: number,
    error: RegExp,
    cwd = world.checkout,
  ): Promise<string> {
    const before = await refsOfPeople(world)
    const run = assertExit(await world.backporchIn(cwd, {}, ...args), exit)
    assert.match(run.stderr, error)
    assert.match(run.stderr, /^error BP\d{4}: .+\n( {2}where: .+\n)? {2}why: (.+\n)+? {2}fix: .+$/m)
    assert.equal(run.stdout, '')
    assert.deepEqual(await refsOfPeople(world), before)
    return run.stderr
  }

  test('reports a folder that is no repository, a missing path or branch, and a repository without packages or commits', async (t) => {
    const world = await openWorld(t, plane, { 'README.md': 'no package\n' })
    const empty = join(world.folder, 'empty')
    mkdirSync(empty)
    for (const verb of ['diff', 'scan', 'status', 'history']) {
      await assertRefused(world, [verb, '--repo', empty], 2, /^error BP1002: /)
      await assertRefused(world, [verb], 2, /^error BP1002: /, empty)
    }
    await assertRefused(
      world,
      ['scan', '--repo', join(world.folder, 'nowhere')],
      2,
      /^error BP1002: /,
    )
    await assertRefused(
      world,
      ['scan', '--repo', world.repository, '--branch', 'release'],
      2,
      /^error BP1003: .*"release"\n.*\n {2}why: it has main$/m,
    )
    await assertRefused(world, ['scan', '--repo', world.repository], 2, /^error BP1004: /)
    await assertRefused(
      world,
      ['scan', 'apps/nothing', '--repo', world.repository],
      2,
      /^error BP1004: /,
    )
    await world.git('init', '--quiet', '--bare', join(world.folder, 'new.git'))
    await assertRefused(
      world,
      ['scan', '--repo', join(world.folder, 'new.git')],
      2,
      /^error BP1003: .*\n.*\n {2}why: it has no branch: nothing is committed yet/m,
    )
  })

  test('reports every invalid Kptfile with its line in one run, without hiding drift of a good package', async (t) => {
    const namespace = await plane.namespace('bad')
    const cases = readdirSync(CORPUS).filter((name) => /^c0[1-8].*\.yaml$/.test(name))
    const bad = cases.map(
      (name) =>
        [
          `apps/${name.replace('.yaml', '')}/Kptfile`,
          readFileSync(join(CORPUS, name), 'utf8'),
        ] as const,
    )
    const world = await openWorld(t, plane, {
      ...webPackage(namespace),
      ...Object.fromEntries(bad),
    })
    await world.sync('apps/web')
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)

    // Without -v, failures that differ only in their place are one.
    const run = assertExit(await world.backporch('scan', '-v'), 2)
    for (const [path] of bad) {
      const about = run.stderr
        .split(/^error /m)
        .filter((text) => new RegExp(`where: ${path}(:|\n)`).test(text))
      assert.ok(about.length > 0, `${path} is not named in\n${run.stderr}`)
      for (const text of about)
        assert.match(text, /^BP11\d\d: .+\n {2}where: [^:\n]+(:\d+:\d+)?\n {2}why: .+\n {2}fix: .+/)
    }
    assert.match(run.stdout, /spec\.replicas +3 → 5/)
    assert.equal((await world.proposals()).length, 1)
    assert.match(run.stderr, /pipline.*\n.*(pipeline)/s)
    const list = JSON.parse((await world.backporch('diff', '-o', 'json')).stdout)
    assert.deepEqual(
      new Set(list.incomplete.map(({ package: path }: { package: string }) => `${path}/Kptfile`)),
      new Set(bad.map(([path]) => path)),
    )
  })

  test('reports invalid YAML with file, line and column, and an object declared twice with both places', async (t) => {
    const namespace = await plane.namespace('bad')
    const map = (name: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\n`
    const world = await openWorld(t, plane, {
      'apps/broken/Kptfile': kptfile('broken'),
      'apps/broken/config.yaml': `${map('broken')}data:\n  a: "b\n  c: d\n`,
      'apps/twice/Kptfile': kptfile('twice'),
      'apps/twice/one.yaml': `# first\n${map('same')}`,
      'apps/twice/two.yaml': `${map('other')}---\n${map('same')}`,
      'apps/half/Kptfile': kptfile('half'),
      'apps/half/config.yaml': 'apiVersion: v1\nkind: ConfigMap\ndata: {}\n',
    })
    const text = await assertRefused(world, ['scan', '--repo', world.repository], 2, /^error /)
    assert.match(text, /^error BP1110: .*\n {2}where: apps\/broken\/config\.yaml:\d+:\d+$/m)
    assert.match(
      text,
      /^error BP1113: .*\n {2}where: apps\/twice\/two\.yaml:7 .*\n {2}why: .*\/same is also declared at apps\/twice\/one\.yaml:2/m,
    )
    assert.match(text, /^error BP1112: .*\n {2}where: apps\/half\/config\.yaml:1/m)
  })

  test('reports every mistake in the policy at once, with file and line', async (t) => {
    const namespace = await plane.namespace('bad')
    const world = await openWorld(t, plane, {
      ...webPackage(namespace),
      '.drift/policy.yaml': `apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata:
  name: default
spec:
  mode: Proprose
  ignore:
  - paths: ["spec.replicas["]
    expires: tomorrow
  settel: syncer
`,
      '.drift/placement.yaml':
        'apiVersion: backporch.dev/v1alpha1\nkind: Placment\nmetadata: {name: x}\n',
    })
    await world.sync('apps/web')
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    const text = await assertRefused(
      world,
      ['scan', '--repo', world.repository],
      2,
      /^error BP1005: /,
    )
    for (const location of [
      'policy.yaml:6',
      'policy.yaml:8',
      'policy.yaml:9',
      'policy.yaml:10',
      'placement.yaml:2',
    ]) {
      assert.ok(text.includes(`.drift/${location}`), `${location} is not in\n${text}`)
    }
  })

  test('a pipeline that cannot run blocks only its own package, and the error names line and reason', async (t) => {
    const namespace = await plane.namespace('bad')
    const bad = (name: string, pipeline: string): readonly [path: string, text: string] => [
      `apps/${name}/Kptfile`,
      kptfile(
        name,
        `pipeline:\n  mutators:\n  - image: ghcr.io/kptdev/krm-functions-catalog/${pipeline}\n`,
      ),
    ]
    const world = await openWorld(t, plane, {
      ...webPackage(namespace),
      ...webPackage(namespace, 'apps/config'),
      ...webPackage(namespace, 'apps/gone'),
      ...webPackage(namespace, 'apps/release'),
      ...Object.fromEntries([
        bad('config', 'set-image:v0.1.1\n    configMap: {nmae: web, newTag: "2"}'),
        bad('gone', 'apply-setters:v0.2.0\n    configPath: setters.yaml'),
        bad('release', 'set-labels:v9.9.9\n    configMap: {tier: web}'),
      ]),
    })
    await world.sync('apps/web')
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    const run = assertExit(await world.backporch('scan'), 2)
    assert.match(run.stdout, /spec\.replicas +3 → 5/)
    assert.match((await world.proposals()).join(), /^drafts\/apps\/web\/drift-[0-9a-f]{8}$/)
    assert.match(
      run.stderr,
      /^error BP1202: .*set-image.*\n {2}where: apps\/config\/Kptfile:11 .*\n {2}why: (.*\n)*?.*missing image name/m,
    )
    assert.match(
      run.stderr,
      /^error BP\d{4}: .*\n {2}where: apps\/gone\/Kptfile.*\n {2}why: .*setters\.yaml/m,
    )
    assert.match(
      run.stderr,
      /^error BP1201: .*set-labels.*\n {2}where: apps\/release\/Kptfile:11 .*\n {2}why: .*v9\.9\.9/m,
    )
  })

  test('supports a package at the root: kpt ignores the records, and Porch is mentioned once', async (t) => {
    const namespace = await plane.namespace('bad')
    const files = Object.entries(webPackage(namespace, '.')).map(([path, text]) => [
      path.replace('./', ''),
      text,
    ])
    const world = await openWorld(t, plane, {
      ...Object.fromEntries(files),
      ...policy('mode: Propose'),
    })
    await world.sync('.')
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    const run = assertExit(await world.backporch('scan'), 1)
    assert.equal(`${run.stdout}${run.stderr}`.match(/Porch/g)?.length, 1, run.stderr)
    const [branch = ''] = await world.proposals()
    assert.match(branch, /^proposed\/web\/drift-[0-9a-f]{8}$/)
    const changed = await world.remote('diff', '--name-only', 'main', branch)
    assert.match(changed, /^\.drift\/records\/test\/web\/\d{8}-[0-9a-f]{8}\.record\nKptfile$/)
    assertExit(await world.backporch('adopt'), 0)
    assertExit(await world.backporch('approve', '--yes'), 0)
    assert.equal(await world.remote('tag'), 'web/v1')
    await world.sync('.')
    assertExit(await world.backporch('scan'), 0)
    assert.match(assertNoDrift(await world.backporch('status')).stdout, /^test +web +v1 +✓ InSync/m)
    // One name: of branches and tags, in lists, and where a package is asked for.
    assert.match((await world.backporch('get', 'packages')).stdout, /^\S+ +web .* (?:0|-)/m)
    for (const name of ['web', '.']) assertNoDrift(await world.backporch('status', name))
    assert.match((await world.backporch('history')).stdout, / web /)
  })

  test('rejects unknown commands, flags, selectors and values', async (t) => {
    const namespace = await plane.namespace('bad')
    const world = await openWorld(t, plane, webPackage(namespace))
    await world.sync('apps/web')
    const repository = ['--repo', world.repository]
    await assertRefused(world, ['scna'], 2, /^error BP1001: .*scna/)
    await assertRefused(world, ['scan', '--dry'], 2, /^error BP1001: .*--dry/)
    await assertRefused(world, ['diff', '-o', 'xml', ...repository], 2, /^error BP1001: .*xml/)
    await assertRefused(
      world,
      ['diff', '--live', 'x', '--context', 'y', ...repository],
      2,
      /^error BP1001: /,
    )
    await assertRefused(
      world,
      ['diff', '--kubeconfig', '/nowhere', ...repository],
      2,
      /^error BP1006: /,
    )
    await assertRefused(
      world,
      ['diff', '--context', 'other', ...repository],
      2,
      /^error BP1006: .*\n.*\n {2}why: .*"other"/,
    )
    await assertRefused(world, ['adopt', 'apps/web', ...repository], 2, /^error BP2008: /)
    await assertRefused(
      world,
      ['approve', 'apps/web', '--yes', ...repository],
      2,
      /^error BP2004: /,
    )
    await assertRefused(world, ['explain', 'BP0000'], 2, /^error BP1001: /)
    const short = { BACKPORCH_KEY: 'short' }
    assert.match(
      assertExit(await world.backporchIn(world.checkout, short, 'diff', ...repository), 2).stderr,
      /^error BP1009: /,
    )
    await world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', namespace)
    await assertRefused(world, ['adopt', 'apps/web', '2', ...repository], 2, /^error BP1011: /)
    await assertRefused(
      world,
      ['adopt', 'apps/web', '1:spec.paused', ...repository],
      2,
      /^error BP1011: /,
    )
  })
})
