import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { MemoryForge } from '../../test/fakes/memory-forge.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import type { DriftReportList } from '../record/documents/drift-report-list.ts'

const policy = (mode: string): string =>
  `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: test}\nspec: {mode: ${mode}}\n`

const REPORT = 'clusters/prod/apps--web/report.yaml'

test('a package with mode Off has no plan, and is counted', async () => {
  const world = new TurnWorld('{mode: Warn}')
  await runInWorld(world, ['scan'])
  world.repository.commitByHand('main', { '.drift/policy.yaml': policy('Off') })
  world.edit(WEB, 'spec.replicas', 5)
  await runInWorld(world, ['scan'])
  const written = world.repository.text('drift-ledger', REPORT) ?? ''
  assert.match(written, /state: "Off"\n/)
  assert.match(written, /plan: ""\n/)
  // As an earlier version wrote it.
  world.repository.commitByHand('drift-ledger', {
    [REPORT]: written.replace('plan: ""', 'plan: Restore'),
  })
  const { stdout, stderr } = await runInWorld(world, ['status'])
  assert.match(stdout, / Off /)
  assert.doesNotMatch(stdout, /restore/)
  assert.match(stderr, /^1 recorded: 0 in sync, 0 drifted, 1 off$/m)
})

test('status and get packages show the pull request number; wide and JSON show its address', async () => {
  const world = new TurnWorld('{mode: Propose}')
  world.forge = new MemoryForge(world.repository)
  world.edit(WEB, 'spec.replicas', 5)
  await runInWorld(world, ['scan'])
  const { stdout } = await runInWorld(world, ['status'])
  assert.match(stdout, / restore +#1 /)
  assert.match(
    (await runInWorld(world, ['status', '-o', 'wide'])).stdout,
    / https:\/\/forge\.example\/pulls\/1 /,
  )
  const { items } = JSON.parse(
    (await runInWorld(world, ['status', '-o', 'json'])).stdout,
  ) as DriftReportList
  assert.deepEqual(items[0]?.status.pullRequest, {
    number: 1,
    url: 'https://forge.example/pulls/1',
  })
  assert.match((await runInWorld(world, ['get', 'packages'])).stdout, / #1$/m)
  assert.doesNotMatch(world.repository.text('drift-ledger', REPORT) ?? '', /pullRequest/)
})

test('a package that differs in one of two clusters counts as differing in one', async () => {
  const world = new TurnWorld('{mode: Warn}')
  await runInWorld(world, ['scan'])
  const inSync = world.repository.text('drift-ledger', REPORT) ?? ''
  world.repository.commitByHand('drift-ledger', {
    [REPORT.replace('prod', 'stage')]: inSync.replace('cluster: prod', 'cluster: stage'),
  })
  world.edit(WEB, 'spec.replicas', 5)
  await runInWorld(world, ['scan'])
  assert.match(
    (await runInWorld(world, ['get', 'packages'])).stdout,
    /^deploy\.apps\.web\.main .* 1 cluster /m,
  )
})
