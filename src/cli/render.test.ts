/** `render`: what a render would change, told file by file. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld } from '../../test/fakes/turn-world.ts'

const KPTFILE = `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web
pipeline:
  mutators:
    - image: ghcr.io/kptdev/krm-functions-catalog/set-namespace:v0.4.1
      configMap:
        namespace: shop
`

function config(namespace: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n${namespace}data:\n  a: b\n`
}

function worldOf(files: { readonly [path: string]: string }): TurnWorld {
  const world = new TurnWorld()
  world.repository.commitByHand('main', files)
  return world
}

test('a package that is kept rendered changes nowhere, and exits 0', async () => {
  const world = worldOf({ 'apps/web/Kptfile': KPTFILE, 'apps/web/config.yaml': config('  namespace: shop\n') })
  const { stdout, stderr, code } = await runInWorld(world, ['render', 'apps/web'])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^. apps\/web {2}1 function, [0-9]+ resources, 0 files would change$/m)
})

test('a file that a function changes is shown as a diff, with exit 1', async () => {
  const world = worldOf({ 'apps/web/Kptfile': KPTFILE, 'apps/web/config.yaml': config('') })
  const { stdout, code } = await runInWorld(world, ['render', 'apps/web'])
  assert.equal(code, 1)
  assert.match(
    stdout,
    /1 file would change\n--- git\/apps\/web\/config\.yaml\n\+\+\+ rendered\/apps\/web\/config\.yaml\n@@[\s\S]*\n\+ {2}namespace: shop\n/,
  )
})

test('the lines of a file with a Secret in it are not shown', async () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: web\nstringData:\n  password: hunter2\n'
  const { stdout, code } = await runInWorld(worldOf({ 'apps/web/Kptfile': KPTFILE, 'apps/web/secret.yaml': secret }), [
    'render',
    'apps/web',
  ])
  assert.equal(code, 1)
  assert.match(stdout, /apps\/web\/secret\.yaml: changes, and holds a Secret/)
  assert.doesNotMatch(stdout, /hunter2/)
})

test('a function that nothing can run is an error of its package, and the others are told', async () => {
  const world = worldOf({
    'apps/web/Kptfile': KPTFILE,
    'apps/web/config.yaml': config('  namespace: shop\n'),
    'apps/other/Kptfile': KPTFILE.replace('set-namespace:v0.4.1', 'no-such-function:v1').replace('name: web', 'name: other'),
  })
  const { stdout, stderr, code } = await runInWorld(world, ['render'])
  assert.equal(code, 2)
  assert.match(stdout, /apps\/other {2}does not render/)
  assert.match(stdout, /apps\/web {2}1 function/)
  assert.match(stderr, /error BP1201: RuntimeMissing\(no-such-function\)[\s\S]*apps\/other\/Kptfile:7/)
})
