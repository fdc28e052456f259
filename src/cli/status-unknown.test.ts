/** `status` ends with 0 only where everything that was asked for is known to be in sync. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld } from '../../test/fakes/turn-world.ts'

const PLACEMENT = `apiVersion: backporch.dev/v1alpha1
kind: Placement
metadata: {name: all}
spec: {clusters: [prod, edge], packages: ["apps/**"]}
`

async function scanned(
  files: Readonly<Record<string, string>> = {},
): Promise<{ world: TurnWorld; path: string; report: string }> {
  const world = new TurnWorld('{}', files)
  assert.equal((await runInWorld(world, ['scan'])).code, 0)
  assert.equal((await runInWorld(world, ['status', '--cluster', 'prod'])).code, 0)
  const [path = ''] = world.repository
    .paths('drift-ledger')
    .filter((each) => each.endsWith('/report.yaml'))
  return { world, path, report: world.repository.text('drift-ledger', path) ?? '' }
}

test('an unknown cluster name exits with 2 in each command that reads the ledger', async () => {
  const { world } = await scanned()
  for (const command of [['status'], ['history'], ['report'], ['get', 'drifts']]) {
    const { code, stderr } = await runInWorld(world, [...command, '--cluster', 'pord'])
    assert.equal(code, 2, command.join(' '))
    assert.match(
      stderr,
      /^error BP1001: there is no cluster "pord"\n(?:.*\n)* {2}fix: name one of them with --cluster: prod$/m,
    )
  }
})

test('an unscanned cluster that a Placement names is an Unknown row with exit 3', async () => {
  const { world } = await scanned({ '.drift/placement.yaml': PLACEMENT })
  const { code, stdout, stderr } = await runInWorld(world, ['status'])
  assert.equal(code, 3)
  assert.match(stdout, /^edge +apps\/web .*Unknown/m)
  assert.match(stdout, /^prod +apps\/web .*InSync/m)
  assert.match(
    stderr,
    /apps\/web in edge: .*no observation of the unit that can be read \(BP3018\)/,
  )
  assert.equal((await runInWorld(world, ['status', '--cluster', 'edge'])).code, 3)
  assert.equal((await runInWorld(world, ['status', '--cluster', 'prod'])).code, 0)
})

const DAMAGES: readonly (readonly [name: string, damage: (report: string) => string])[] = [
  ['is truncated', (report) => report.slice(0, report.length / 2)],
  ['is empty', () => ''],
  ['is no YAML', () => '{'],
  ['is another kind', (report) => report.replace('kind: DriftReport', 'kind: DriftReports')],
  [
    'is of a newer version',
    (report) => report.replace(/apiVersion: \S+/, 'apiVersion: backporch.dev/v2'),
  ],
  ['has a state that is not known', (report) => report.replace('state: InSync', 'state: InSink')],
  ['lacks its unit', (report) => report.replace(/\n {2}unit:\n(?: {4}.*\n)+/, '\n')],
]
for (const [name, damage] of DAMAGES)
  test(`a unit whose report ${name} is an Unknown row with exit 3, and the next scan rewrites it`, async () => {
    const { world, path, report } = await scanned()
    assert.notEqual(damage(report), report)
    world.repository.commitByHand('drift-ledger', { [path]: damage(report) })
    const { code, stdout } = await runInWorld(world, ['status'])
    assert.equal(code, 3)
    assert.match(stdout, /^prod +apps\/web .*Unknown/m)
    await runInWorld(world, ['scan'])
    assert.equal((await runInWorld(world, ['status'])).code, 0)
  })

test('without a ledger status exits with 3', async () => {
  const { code, stderr } = await runInWorld(new TurnWorld('{}'), ['status'])
  assert.equal(code, 3)
  assert.match(stderr, /nothing is recorded yet for 1 package: run backporch scan/)
})
