/** Units whose objects a command prints, or whose files are applied unchanged. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InProcessRenderer } from '../../../test/fakes/in-process-renderer.ts'
import {
  AT_ONCE,
  CONFIG,
  DEPLOYMENT,
  KPTFILE,
  policyText,
  refused,
  TurnWorld,
  WEB,
} from '../../../test/fakes/turn-world.ts'
import { addPackageBuilds, PackageBuilds } from '../../adapters/functions/package-builds.ts'

const PIPELINE = `${KPTFILE}pipeline:
  mutators:
  - image: ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0
    configMap: {team: shop}
`

function worldOf(render: string, allowed: readonly string[] = []): TurnWorld {
  const files = { 'apps/web/Kptfile': PIPELINE, ...AT_ONCE }
  const world = new TurnWorld(`{mode: Propose, render: ${render}}`, files)
  const builds = new PackageBuilds({ allowed, environment: { PATH: process.env['PATH'] } })
  const renderer = addPackageBuilds(new InProcessRenderer(), builds)
  const request = world.request.bind(world)
  world.request = (more = {}) => request({ renderer, ...more })
  return world
}

const PRINT = '{tool: command, command: [sh, -c, "cat deployment.yaml; echo ---; cat config.yaml"]}'
const ALLOWED = `sh -c "cat deployment.yaml; echo ---; cat config.yaml"`

test('plain files are compared without the pipeline and adopted in place', async () => {
  const world = worldOf('{tool: files}')
  world.edit(WEB, 'spec.replicas', 5)
  const { report } = await world.plan()
  assert.deepEqual(
    report.spec.changes.map(({ path, source }) => [path, source]),
    [['spec.replicas', 'apps/web/deployment.yaml:2']],
  )
  const { branch } = await world.resolutionRequest('Adopt')
  assert.equal(
    world.repository.text(branch, 'apps/web/deployment.yaml'),
    DEPLOYMENT.replace('replicas: 3', 'replicas: 5'),
  )
  assert.equal(world.repository.text(branch, 'apps/web/config.yaml'), CONFIG)
})

test('output of a command is compared and restored, but not adopted', async () => {
  const world = worldOf(PRINT, [ALLOWED])
  assert.equal((await world.plan()).report.status.state, 'InSync')
  world.edit(WEB, 'spec.replicas', 5)
  const { report, branch } = await world.plan()
  assert.deepEqual(
    report.spec.changes.map(({ path, git, live, source }) => [path, git, live, source]),
    [['spec.replicas', 3, 5, 'apps/web/Kptfile:1']],
  )
  assert.equal(world.repository.text(branch, 'apps/web/deployment.yaml'), DEPLOYMENT)
  const { why } = await refused(world.resolutionRequest('Adopt'), 'BP2001')
  assert.match(
    why,
    /^the command "sh -c cat deployment\.yaml; .* prints the object and does not show where the value comes from$/,
  )
})

test('a command that the operator does not allow renders nothing, with the remedy', async () => {
  for (const allowed of [[], ['sh'], ['sh -c "cat deployment.yaml"']]) {
    const { where, remedy } = await refused(worldOf(PRINT, allowed).plan(), 'BP1208')
    // The file that asks for it.
    assert.equal(where, '.drift/policy.yaml:1, for apps/web')
    assert.match(remedy, /--allow-render=/)
  }
})

test('earlier versions are rendered with the same command, so that a late syncer is Behind', async () => {
  const world = worldOf(PRINT, [ALLOWED])
  world.repository.commitByHand('main', { 'apps/web/config.yaml': CONFIG.replace('blue', 'green') })
  const { report } = await world.plan()
  assert.deepEqual([report.status.state, report.spec.changes], ['Behind', []])
})

test('a policy for another cluster does not affect this one', async () => {
  const world = worldOf('{tool: kpt}')
  world.repository.commitByHand('main', {
    '.drift/other.yaml': policyText(
      '{priority: 9, match: {clusters: [test]}, render: {tool: kustomize}}',
    ).replace('name: test', 'name: other'),
    'apps/web/Kptfile': KPTFILE,
  })
  assert.equal((await world.plan()).report.status.state, 'InSync')
})
