import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { withMetadata } from '../../../test/fakes/live-object.ts'
import { proposed, WEB } from '../../../test/fakes/turn-world.ts'
import { formatApplierLines } from './print-applier.ts'

const MARKED = {
  'kustomize.toolkit.fluxcd.io/name': 'web',
  'kustomize.toolkit.fluxcd.io/namespace': 'apps',
  app: 'web',
}

test('explain and approve print who applies, what merging does and the command to run', async () => {
  const world = await proposed()
  world.cluster.change(WEB, (live) => withMetadata(live, { labels: MARKED }))
  world.cluster.put({
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: 'web', namespace: 'apps' },
    spec: { interval: '10m', suspend: true },
  })
  const explained = await runInWorld(world, ['explain', 'apps/web'])
  assert.match(
    explained.stdout,
    /^applier Flux Kustomization apps\/web\n {3}Flux Kustomization apps\/web is suspended: .*\n {3}run: flux resume kustomization web -n apps$/m,
  )
  const approved = await runInWorld(world, ['approve', 'apps/web', '--yes'])
  assert.equal(approved.code, 0, approved.stderr)
  assert.match(
    approved.stdout,
    /^ {2}Flux Kustomization apps\/web is suspended: .*\n {2}run: flux resume kustomization web -n apps$/m,
  )
})

test('each line stays one line, whatever path the command contains', () => {
  const lines = formatApplierLines({
    restores: 'when-told',
    sentence: 'a',
    command: "kubectl apply -f 'a\n\u202eb'",
    warning: 'w',
  })
  assert.deepEqual(lines, ['a', "run: kubectl apply -f 'a\\u{a}\\u{202e}b'", 'warning: w'])
})

test('a command that only saves waiting is marked "at once"', () => {
  assert.deepEqual(
    formatApplierLines({
      restores: 'at-interval',
      sentence: 'a',
      command: 'flux reconcile',
      warning: undefined,
    }),
    ['a', 'at once: flux reconcile'],
  )
})
