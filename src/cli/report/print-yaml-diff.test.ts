import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePatch } from 'diff'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { TurnWorld, WEB, WEB_CONFIG } from '../../../test/fakes/turn-world.ts'
import type { DiffFile } from '../context/cli-context.ts'

function drifted(): TurnWorld {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  world.cluster.objects.delete(WEB_CONFIG)
  return world
}

test('diff --yaml prints a valid patch per object, with the exit code of diff', async () => {
  const { stdout, code } = await runInWorld(drifted(), ['diff', '--yaml'])
  assert.equal(code, 1)
  assert.deepEqual(
    parsePatch(stdout).map(({ oldFileName, newFileName }) => [oldFileName, newFileName]),
    [
      ['git/apps/web ConfigMap shop/web', '/dev/null'],
      ['git/apps/web Deployment shop/web', 'live/apps/web Deployment shop/web'],
    ],
  )
  assert.match(stdout, /\n- {2}replicas: 3\n\+ {2}replicas: 5\n/)
  assert.match(stdout, /\n@@ -1,8 \+0,0 @@\n-apiVersion: v1\n/)
})

test('diff --yaml prints nothing without drift', async () => {
  const { stdout, code } = await runInWorld(new TurnWorld(), ['diff', '--yaml'])
  assert.deepEqual([stdout, code], ['', 0])
})

test('diff --yaml contains only the selected changes', async () => {
  const { stdout } = await runInWorld(drifted(), ['diff', '--yaml', '--risk', 'high'])
  assert.doesNotMatch(stdout, /Deployment/)
  assert.match(stdout, /ConfigMap/)
})

test('a terminal gets the colours of git diff; a pipe gets none', async () => {
  const observed = async (isTTY: boolean): Promise<string> =>
    (await runInWorld(drifted(), ['diff', '--yaml'], { isTTY })).stdout.replaceAll('\u001b', 'ESC')
  assert.match(await observed(true), /ESC\[31m- {2}replicas: 3ESC\[0m\nESC\[32m\+ {2}replicas/)
  assert.doesNotMatch(await observed(false), /ESC/)
})

test('unobserved objects are reported on stderr, and stdout stays a patch', async () => {
  const world = drifted()
  world.cluster.unreadable.add(WEB)
  const { stdout, stderr, code } = await runInWorld(world, ['diff', '--yaml', '-q'])
  assert.equal(code, 3)
  assert.match(stderr, /^note: Deployment shop\/web unreadable \(BP3005\)/m)
  assert.equal(parsePatch(stdout).length, 1)
})

test('--yaml and -o exclude each other', async () => {
  const { code, stderr } = await runInWorld(drifted(), ['diff', '--yaml', '-o', 'json'])
  assert.equal(code, 2)
  assert.match(stderr, /^error BP1001: --yaml and -o are both set/)
})

test('BACKPORCH_EXTERNAL_DIFF gets both files of each object, and the exit code of diff stays', async () => {
  const calls: [readonly string[], readonly DiffFile[]][] = []
  const env = { BACKPORCH_EXTERNAL_DIFF: 'dyff  between --omit-header' }
  const { stdout, code } = await runInWorld(drifted(), ['diff', '--yaml'], {
    env,
    externalDiff: (program, files) => calls.push([program, files]),
  })
  assert.deepEqual([stdout, code], ['', 1])
  const [[program, files] = [[], []]] = calls
  assert.deepEqual(program, ['dyff', 'between', '--omit-header'])
  assert.deepEqual(
    files.map(({ name, git, live }) => [name, git !== '', live !== '']),
    [
      ['apps--web.v1.ConfigMap.shop.web.yaml', true, false],
      ['apps--web.apps.v1.Deployment.shop.web.yaml', true, true],
    ],
  )
})

test('arguments that kubectl would drop are rejected before any observation', async () => {
  const world = drifted()
  world.cluster.readLive = () => assert.fail('the cluster was asked')
  for (const program of ['diff -u;rm', 'sh -c $(id)', 'diff ../x']) {
    const { code, stderr } = await runInWorld(world, ['diff', '--yaml'], {
      env: { BACKPORCH_EXTERNAL_DIFF: program },
    })
    assert.equal(code, 2)
    assert.match(stderr, /^error BP1001: BACKPORCH_EXTERNAL_DIFF cannot be used/)
  }
})

test('a value adds no line and no runner command', async () => {
  const world = new TurnWorld()
  world.edit(WEB_CONFIG, 'data.color', 'a\n::add-mask::x\n##[group]y\n\u001b[31m\u202ez\n')
  const { stdout } = await runInWorld(world, ['diff', '--yaml'], {
    env: { GITHUB_ACTIONS: 'true' },
  })
  for (const line of stdout.trimEnd().split('\n')) {
    assert.match(line, /^([-+@ ]|---|\+\+\+)/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    assert.doesNotMatch(line, /##\[|^\s*::|[\u0000-\u001f\u202a-\u202e]/)
  }
})
