/** Every command of the guide for plain Helm, with the real Helm 3 as the one that upgrades. */
import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { runProgram } from '../e2e/run-program.ts'
import { ownPlane } from '../e2e/watched-world.ts'
import { helmOrThrow } from '../helm/find-helm.ts'
import {
  storefrontFiles,
  storefrontPlacement,
  storefrontPolicy,
  UNIT,
  VALUES,
} from '../helm/storefront-world.ts'
import { follow, openGuideWorld } from './guide-world.ts'

test('the guide for Helm', async (t) => {
  const { helm3 } = await helmOrThrow()
  const plane = await ownPlane(t)
  const own = await openGuideWorld(t, plane, {
    ...storefrontFiles(),
    '.drift/storefront.yaml': `${storefrontPolicy('shop')}---\n${storefrontPlacement()}`,
  })
  const { world } = own
  await world.kubectl('create', 'namespace', 'shop')
  // The hooks would need a node to run on.
  const upgrade = async (): Promise<void> => {
    await world.git('checkout', '--quiet', 'main')
    const words = [
      'upgrade',
      '--install',
      'shop',
      UNIT,
      '--namespace',
      'shop',
      '--values',
      VALUES,
      '--no-hooks',
    ]
    const env = { PATH: process.env['PATH'], HOME: world.folder, KUBECONFIG: plane.kubeconfig }
    const { code, stderr } = await runProgram(helm3, words, { cwd: world.checkout, env })
    assert.equal(code, 0, stderr)
  }
  await upgrade()
  await follow('src/sources/helm/README.md', own, {
    path: dirname(helm3),
    after: { 'git push --quiet origin main': upgrade },
  })
})
