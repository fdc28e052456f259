/** What Adopt writes for removed and swapped blocks: the lines that a person would write, and a manifest that the server accepts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { BLOCK_EDITS, type BlockEdit } from './adopted-blocks.ts'
import { assertExit, type Files, openWorld, SYNCER, type World } from './world.ts'

const APPLY = [
  'apply',
  '--server-side',
  '--force-conflicts',
  `--field-manager=${SYNCER}`,
  '--filename=-',
]

await controlPlaneSuite('adopted blocks', {}, (plane) => {
  test(`adopts ${BLOCK_EDITS.length} removed and swapped blocks of plain manifests`, async (t) => {
    const namespace = await plane.namespace('blocks')
    const world = await openWorld(t, plane, filesOf('apps', namespace, BLOCK_EDITS))
    await world.sync('apps')
    await editAll(world, namespace, BLOCK_EDITS)
    const path = ['--path', 'apps']
    assertExit(await world.backporch('scan', ...path), 1)
    assert.doesNotMatch(
      assertExit(await world.backporch('adopt', 'apps'), 0).stderr,
      /not checked by a server/,
    )
    const branch = await proposal(world)
    for (const edit of BLOCK_EDITS)
      assert.equal(
        await world.show(branch, `apps/${edit.name}.yaml`),
        afterOf(edit, namespace),
        edit.name,
      )
    const texts = await Promise.all(
      BLOCK_EDITS.map(({ name }) => world.show(branch, `apps/${name}.yaml`)),
    )
    await world.pipe(texts.join('---\n'), ...APPLY, '--dry-run=server')
    await merge(world, branch)
    await world.sync('apps')
    assert.equal(assertExit(await world.backporch('diff', ...path), 0).stdout, '')
  })

  test('adopts blocks of a base, of a patch and of both', async (t) => {
    const namespace = await plane.namespace('built')
    const edits = BLOCK_EDITS.filter(({ name }) =>
      ['readiness', 'handler', 'recreate', 'limits', 'env'].includes(name),
    )
    const patch = (name: string, container: string): string =>
      `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\nspec:\n  template:\n    spec:\n      containers:\n        - name: app\n${container}`
    const world = await openWorld(t, plane, {
      ...filesOf('base', namespace, edits),
      'base/kustomization.yaml': `resources:\n${edits.map(({ name }) => `  - ${name}.yaml\n`).join('')}`,
      'prod/kustomization.yaml':
        'resources:\n  - ../base\npatches:\n  - path: limits.yaml\n  - target:\n      kind: Deployment\n      name: readiness\n    path: seconds.yaml\n',
      'prod/limits.yaml': patch(
        'limits',
        '          resources:\n            limits:\n              memory: 128Mi\n            requests:\n              cpu: 20m\n',
      ),
      'prod/seconds.yaml':
        '- op: replace\n  path: /spec/template/spec/containers/0/readinessProbe/periodSeconds\n  value: 7\n- op: add\n  path: /metadata/labels\n  value: {team: a}\n',
    })
    const allowed = ['--path', 'prod', '--allow-render', 'kubectl']
    const apply = async (): Promise<void> => {
      const { stdout } = assertExit(
        await world.backporch('render', 'prod', '-o', 'unwrap', ...allowed),
        0,
      )
      await world.pipe(stdout, ...APPLY)
    }
    await apply()
    await editAll(world, namespace, edits)
    assertExit(await world.backporch('scan', ...allowed), 1)
    assertExit(await world.backporch('adopt', 'prod', ...allowed), 0)
    const branch = await proposal(world)
    for (const edit of edits)
      assert.equal(
        await world.show(branch, `base/${edit.name}.yaml`),
        afterOf(edit, namespace),
        edit.name,
      )
    assert.equal(
      await world.show(branch, 'prod/limits.yaml'),
      patch('limits', '          resources:\n            requests:\n              cpu: 20m\n'),
    )
    assert.equal(
      await world.show(branch, 'prod/seconds.yaml'),
      '- op: add\n  path: /metadata/labels\n  value: {team: a}\n',
    )
    await merge(world, branch)
    await apply()
    assert.equal(assertExit(await world.backporch('diff', ...allowed), 0).stdout, '')
  })

  test('does not adopt alone the part of a swap that the server refuses', async (t) => {
    const namespace = await plane.namespace('part')
    const edits = BLOCK_EDITS.filter(({ name }) => name === 'handler')
    const world = await openWorld(t, plane, filesOf('apps', namespace, edits))
    await world.sync('apps')
    await editAll(world, namespace, edits)
    assertExit(await world.backporch('scan', '--path', 'apps'), 1)
    const { stdout } = await world.backporch('diff', '--path', 'apps')
    const number = /^\s*(\d+) \+ .*tcpSocket\.port/m.exec(stdout)?.[1] ?? ''
    const refused = assertExit(await world.backporch('adopt', 'apps', number), 2)
    assert.match(
      refused.stderr,
      /BP2001[\s\S]*the server refuses the object that git would declare then: .*may not specify more than 1 handler type/,
    )
  })
})

function filesOf(folder: string, namespace: string, edits: readonly BlockEdit[]): Files {
  return Object.fromEntries(
    edits.map(({ name, manifest }) => [`${folder}/${name}.yaml`, inNamespace(manifest, namespace)]),
  )
}

function inNamespace(manifest: string, namespace: string): string {
  return manifest.replace(
    /^metadata:\n {2}name: .*\n/m,
    (metadata) => `${metadata}  namespace: ${namespace}\n`,
  )
}

function afterOf({ manifest, from, to }: BlockEdit, namespace: string): string {
  assert.equal(manifest.split(from).length, 2, from)
  return inNamespace(manifest.replace(from, to), namespace)
}

async function editAll(
  world: World,
  namespace: string,
  edits: readonly BlockEdit[],
): Promise<void> {
  for (const { kind, name, patch } of edits)
    await world.kubectl(
      'patch',
      kind,
      name,
      '-n',
      namespace,
      '--type=json',
      `--patch=${JSON.stringify(patch)}`,
    )
}

async function proposal(world: World): Promise<string> {
  const [branch] = (await world.proposals()).filter((name) => name.startsWith('proposed/'))
  assert.ok(branch !== undefined)
  return branch
}

async function merge(world: World, branch: string): Promise<void> {
  await world.git('pull', '--quiet', 'origin', branch)
  await world.git('push', '--quiet', 'origin', 'HEAD:main')
}
