/** Manifests that are not read: what they declare is not compared. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld } from '../../test/fakes/turn-world.ts'

const POINTER = 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n'

test('a Git LFS pointer in a package exits with 3 and names the file', async () => {
  const world = new TurnWorld()
  world.repository.commitByHand('main', { 'apps/web/big.yaml': POINTER })
  const { code, stdout, stderr } = await runInWorld(world, ['diff', 'apps/web'])
  assert.equal(code, 3)
  assert.match(
    `${stdout}${stderr}`,
    /apps\/web\/big\.yaml may declare objects and is not read: it is a link, a submodule or a pointer of Git LFS/,
  )
  assert.equal((await runInWorld(world, ['diff', 'apps/web', '-q'])).code, 3)
})
