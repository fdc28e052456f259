/** A pipeline that takes every manifest of the repository does after Backporch what it did before (docs/adr/0067-names-that-no-applier-reads.md). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { assertExit, openWorld, SYNCER } from './world.ts'

const POLICY = `# vim: ft=yaml
apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata: {name: default}
spec: {mode: Propose, detect: {minAge: 0s, settle: 0s}}
---
backporch: no manifest
`

await controlPlaneSuite('kubectl on every manifest of the repository', {}, (plane) => {
  test('applies the same objects after a policy, a decision and a report are added', async (t) => {
    const namespace = await plane.namespace('sweep')
    const config = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: ${namespace}}\ndata: {color: blue}\n`
    const world = await openWorld(t, plane, {
      'apps/web/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n',
      'apps/web/config.yaml': config,
      '.drift/default.policy': POLICY,
    })
    const sweep = async (...verb: readonly string[]): Promise<string[]> => {
      await world.git('fetch', '--quiet', 'origin')
      await world.git('checkout', '--quiet', '--detach', 'origin/main')
      // Rejects for another exit code than 0.
      return (await world.kubectl(...verb, '--recursive', `--filename=${world.checkout}`))
        .trim()
        .split('\n')
    }
    assert.deepEqual(await sweep('apply', '--server-side', `--field-manager=${SYNCER}`), [
      'configmap/web serverside-applied',
    ])
    await world.kubectl(
      'patch',
      'configmap/web',
      '-n',
      namespace,
      '--type=merge',
      '--patch={"data":{"color":"red"}}',
    )
    assertExit(await world.backporch('scan'), 1)
    assertExit(await world.backporch('adopt'), 0)
    assertExit(await world.backporch('approve', '--yes'), 0)
    const after = await sweep(
      'apply',
      '--server-side',
      '--force-conflicts',
      `--field-manager=${SYNCER}`,
    )
    assert.deepEqual(after, ['configmap/web serverside-applied'])
    assert.deepEqual(await sweep('apply', '--dry-run=client'), [
      'configmap/web configured (dry run)',
    ])
    const [record = ''] = (
      await world.remote('ls-tree', '-r', '--name-only', 'main', '.drift/records')
    ).split('\n')
    assert.match(
      readFileSync(join(world.checkout, record), 'utf8'),
      /^kind: DriftRecord$[\s\S]*\n---\nbackporch: no manifest\n$/m,
    )
    assert.match(readFileSync(join(world.checkout, 'apps/web/config.yaml'), 'utf8'), /color: red/)
  })
})
