/** The pull request for a value that several units share. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ask, type Scene } from '../../../test/fakes/answered-proposal.ts'
import { BASE, KustomizeWorld } from '../../../test/fakes/kustomize-world.ts'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { KPTFILE, yaml } from '../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../test/kpt/find-kubectl.ts'

const STAGING = {
  'units/staging/Kptfile': KPTFILE,
  'units/staging/kustomization.yaml': 'namespace: test\nresources: [../../bases/web]\n',
}
const CONFIG = 'bases/web/config.yaml'
const HERE =
  'Note: ConfigMap `shop/settings`: `data.size` comes from the manifest (`bases/web/config.yaml:5`), which `units/staging` is built from too: a new patch (`units/prod/kustomization.yaml`) changes it here only'
const ALL =
  'Note: ConfigMap `shop/settings`: the edit of the manifest (`bases/web/config.yaml:5`) also changes `data.size` of ConfigMap `test/settings` in `units/staging`'

async function proposed(files: { readonly [path: string]: string } = STAGING) {
  const world = await new KustomizeWorld({ files }).apply()
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  forge.permissions.set('ada', 'write')
  world.edit('/ConfigMap/shop/settings', 'data.size', '6')
  await world.plan()
  const scene: Scene = { world, forge, ref: forge.proposals[0]?.ref ?? '' }
  return { world, forge, scene, branch: scene.ref.replace('refs/heads/', '') }
}

function noteLines({ forge }: Scene): readonly string[] {
  const body = forge.proposals[0]?.body ?? ''
  return body
    .split('\n')
    .filter((line) => /Note: |Another choice/.test(line))
    .map((line) => line.replace(/^- /, ''))
}

describe('a pull request about a shared value', { skip: whyNoKubectl() }, () => {
  test('names the other readers of the value once it is adopted', async () => {
    const { scene, world, branch } = await proposed()
    assert.deepEqual(noteLines(scene), [])
    assert.equal((await ask(scene, '/adopt 1')).outcome, 'done')
    assert.equal(world.sourcesOf(branch)[CONFIG], undefined)
    assert.deepEqual(noteLines(scene), [
      HERE,
      'Another choice: `/adopt NUMBERS --via everywhere` edits it for all of them',
    ])
  })

  test('adopts it for all by a comment, naming what changes, and again for this unit only', async () => {
    const { scene, world, branch } = await proposed()
    assert.equal((await ask(scene, '/adopt 1 --via everywhere')).outcome, 'done')
    assert.deepEqual(world.sourcesOf(branch), { [CONFIG]: BASE[CONFIG].replace('"5"', '"6"') })
    assert.deepEqual(noteLines(scene), [ALL, 'Another choice: `/adopt NUMBERS` edits it here only'])
    assert.equal((await ask(scene, '/adopt 1')).outcome, 'done')
    assert.equal(world.sourcesOf(branch)[CONFIG], undefined)
    assert.equal(noteLines(scene)[0], HERE)
  })

  test('keeps these notes in later turns, which write nothing', async () => {
    const { scene, world, forge } = await proposed()
    await ask(scene, '/adopt 1 --via everywhere')
    const pushes = world.repository.pushes.length
    const [before] = forge.proposals
    assert.equal((await world.plan()).outcome, 'unchanged')
    assert.equal(world.repository.pushes.length, pushes)
    assert.equal(forge.proposals[0]?.body, before?.body)
  })

  test('loses these notes when restored', async () => {
    const { scene } = await proposed()
    await ask(scene, '/adopt 1')
    await ask(scene, '/restore')
    assert.deepEqual(noteLines(scene), [])
  })

  test('has no note when no other unit has the value', async () => {
    const { scene } = await proposed({})
    await ask(scene, '/adopt 1')
    assert.deepEqual(noteLines(scene), [])
  })

  test('removes the value from this unit only when it is released', async () => {
    const { scene, world, branch } = await proposed()
    assert.equal((await ask(scene, '/release 1')).outcome, 'done')
    const patch = world.sourcesOf(branch)['units/prod/configmap-settings-patch.yaml'] ?? ''
    assert.deepEqual(yaml(patch)['data'], { size: null })
    assert.deepEqual(noteLines(scene), [
      HERE.replace('changes it', 'removes it'),
      'Another choice: `/release NUMBERS --via everywhere` edits it for all of them',
    ])
  })
})
