/** Patches of an overlay, as kustomize applies them: they are written as a person would write them, and leave the rest unchanged. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import { DEPLOYMENT, KustomizeWorld } from '../../../test/fakes/kustomize-world.ts'
import { appliedBy } from '../../../test/fakes/live-object.ts'
import { KPTFILE, WEB, yaml } from '../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../test/kpt/find-kubectl.ts'

const OVERLAY = 'namespace: shop\nresources:\n- ../../bases/web\n'
const KUSTOMIZATION = 'units/prod/kustomization.yaml'
const APP = 'spec.template.spec.containers[name=app]'
const MANIFEST = `${DEPLOYMENT.replace('# the shop\n', '')}        env:
        - name: HOST
          value: a.example.com
        - name: PORT
          value: "80"
        args: [-a]
`

/** An overlay beside one of staging, and the objects as a syncer leaves them. */
async function worldOf(
  files: { readonly [path: string]: string } = {},
  live = MANIFEST,
): Promise<KustomizeWorld> {
  const world = new KustomizeWorld({
    files: {
      'bases/web/deployment.yaml': MANIFEST,
      'units/staging/Kptfile': KPTFILE,
      'units/staging/kustomization.yaml': OVERLAY.replace('shop', 'test'),
      [KUSTOMIZATION]: OVERLAY,
      ...files,
    },
  })
  await world.apply()
  const applied = yaml(live.replace('name: web\n', 'name: web\n  namespace: shop\n'))
  world.cluster.put(appliedBy(world.syncer, applied))
  return world
}

async function adopted(
  world: KustomizeWorld,
  field: string,
  value: Json,
): Promise<{ readonly [path: string]: string | undefined }> {
  world.edit(WEB, field, value)
  return world.adopted()
}

function patchOf(path: string, text: string, isOperations = false) {
  const target = isOperations ? '  target:\n    kind: Deployment\n    name: web\n' : ''
  return {
    [KUSTOMIZATION]: `${OVERLAY}patches:\n- path: ${path}\n${target}`,
    [`units/prod/${path}`]: text,
  }
}
const PATCH = 'deployment-web-patch.yaml'

describe('a new patch of an overlay', { skip: whyNoKubectl() }, () => {
  test('appends an item and keeps the order of the others', async () => {
    const world = await worldOf()
    assert.deepEqual(
      await adopted(world, `${APP}.env[name=URL].value`, 'http://$(HOST)/'),
      patchOf(
        PATCH,
        '- op: add\n  path: /spec/template/spec/containers/0/env/-\n  value:\n    name: URL\n    value: http://$(HOST)/\n',
        true,
      ),
    )
  })

  test('changes a later item in place', async () => {
    const world = await worldOf()
    assert.deepEqual(
      await adopted(world, `${APP}.env[name=PORT].value`, '81'),
      patchOf(
        PATCH,
        '- op: replace\n  path: /spec/template/spec/containers/0/env/1/value\n  value: "81"\n',
        true,
      ),
    )
  })

  test('merges a field of the first item, which stays the first', async () => {
    const world = await worldOf()
    assert.deepEqual(
      await adopted(world, `${APP}.env[name=HOST].value`, 'b.example.com'),
      patchOf(
        PATCH,
        'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers:\n      - name: app\n        env:\n        - name: HOST\n          value: b.example.com\n',
      ),
    )
  })

  test('avoids the path of an existing file that no kustomization names', async () => {
    const world = await worldOf({ [`units/prod/${PATCH}`]: 'notes: of somebody\n' })
    const changed = await adopted(world, 'spec.minReadySeconds', 9)
    assert.deepEqual(Object.keys(changed), [KUSTOMIZATION])
    assert.match(changed[KUSTOMIZATION] ?? '', /patches:\n- patch: \|\n[\s\S]*minReadySeconds: 9\n/)
  })

  test('removes the missing annotation, and none that the base gained later', async () => {
    const annotated = MANIFEST.replace('metadata:\n', 'metadata:\n  annotations: {team: shop}\n')
    const world = await worldOf({ 'bases/web/deployment.yaml': annotated }, MANIFEST)
    const { [`units/prod/${PATCH}`]: patch } = await world.adopted()
    assert.deepEqual(yaml(patch ?? '')['metadata'], { name: 'web', annotations: { team: null } })
  })

  test('deletes an object that another patch of the overlay names', async () => {
    const inline =
      'patches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata:\n      name: web\n    spec:\n      minReadySeconds: 5\n'
    const world = await worldOf({ [KUSTOMIZATION]: `${OVERLAY}${inline}` })
    world.cluster.objects.delete(WEB)
    const changed = await world.adopted()
    assert.deepEqual(changed, {
      [KUSTOMIZATION]: `${OVERLAY}${inline}- patch: |\n    $patch: delete\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata:\n      name: web\n`,
    })
  })
})
