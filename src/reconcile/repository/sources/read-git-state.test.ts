import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OversizedRead } from '@backporch/git-store/package-repository'
import { BOT_EMAIL } from '../../../../test/fakes/memory-repository.ts'
import { proposed, refused, type TurnWorld, WEB } from '../../../../test/fakes/turn-world.ts'

const NEWER = 'apiVersion: backporch.dev/v2\nkind: DriftRecord\n'

function recordOf(world: TurnWorld, branch: string): string {
  return world.repository.paths(branch).find((path) => path.startsWith('.drift/records/')) ?? ''
}

/** A proposal whose record another version wrote. */
async function unreadableProposal(text = NEWER): Promise<TurnWorld> {
  const world = await proposed()
  const [branch = ''] = world.repository.names()
  world.repository.commitByHand(branch, { [recordOf(world, branch)]: text }, { author: BOT_EMAIL })
  return world
}

for (const [name, text] of [
  ['from another version', NEWER],
  ['not YAML', 'a: [\n'],
] as const) {
  test(`an unreadable record on a branch, ${name}, hides no drift and is reported and left alone`, async () => {
    const world = await unreadableProposal(text)
    const before = world.repository.head(world.repository.names()[0] ?? '')
    const { report, outcome, notes, updates } = await world.plan()
    assert.deepEqual(
      report.spec.changes.map(({ path }) => path),
      ['spec.replicas'],
    )
    assert.equal(outcome, 'frozen')
    assert.match(
      notes.map(({ text }) => text).join('\n'),
      /the record of proposed\/apps\/web\/drift-\w+ cannot be read and is left alone: /,
    )
    assert.equal(world.repository.names().length, 1, 'no second proposal beside it')
    assert.equal(world.repository.head(world.repository.names()[0] ?? ''), before)
    assert.ok(updates.every(({ ref }) => ref === 'refs/heads/drift-ledger'))
  })
}

test('rejects decisions on an unreadable record and plans beside it', async () => {
  const world = await unreadableProposal()
  for (const decision of [world.approve(), world.reject(), world.resolutionRequest('Adopt')]) {
    const failure = await refused(decision, 'BP1112')
    assert.match(failure.where ?? '', /^proposed\/apps\/web\/drift-/)
  }
})

test('an unreadable record of a decision makes the unit incomplete and is no rejection', async () => {
  const world = await proposed()
  const [branch = ''] = world.repository.names()
  const path = recordOf(world, branch)
  world.repository.commitByHand('main', { [path]: NEWER })
  world.repository.branches.delete(`refs/heads/${branch}`)
  const { report, outcome, notes } = await world.plan()
  assert.equal(outcome, 'frozen')
  assert.deepEqual(
    report.status.incomplete?.map(({ code, state }) => [code, state]),
    [['BP1112', 'unverified']],
  )
  assert.match(
    notes.map(({ text }) => text).join('\n'),
    new RegExp(`the record of ${path} cannot be read`),
  )
  assert.ok(!world.repository.paths('drift-ledger').some((file) => file.startsWith('closed/')))
  assert.deepEqual(world.repository.names(), [])
})

test('an unreadable record does not block another open proposal of its unit', async () => {
  const world = await proposed()
  const [branch = ''] = world.repository.names()
  const path = recordOf(world, branch)
  world.repository.commitByHand('main', { '.drift/records/other.yaml': 'x' })
  world.repository.commitByHand('proposed/apps/web/drift-deadbeef', {
    [path.replace(/[^-]+\.yaml$/, 'deadbeef.yaml')]: NEWER,
  })
  world.edit(WEB, 'spec.replicas', 9)
  const { outcome } = await world.plan()
  assert.equal(outcome, 'updated')
})

for (const [name, damage] of [
  [
    'is invalid YAML',
    (world: TurnWorld, path: string) =>
      void world.repository.commitByHand(
        'drift-ledger',
        { [path]: 'a: [\n' },
        { author: BOT_EMAIL },
      ),
  ],
  ['is too large', oversized],
] as const) {
  test(`a report in the ledger that ${name} does not end a turn, and is rewritten`, async () => {
    const world = await proposed()
    const path =
      world.repository.paths('drift-ledger').find((each) => each.endsWith('/report.yaml')) ?? ''
    const before = world.repository.text('drift-ledger', path) ?? ''
    assert.match(before, /spec\.replicas/)
    damage(world, path)
    const { report } = await world.plan()
    assert.deepEqual(
      report.spec.changes.map(({ path }) => path),
      ['spec.replicas'],
    )
    await world.scan()
    assert.match(world.repository.text('drift-ledger', path) ?? '', /spec\.replicas/)
  })
}

/** Fills the file, and lets every read of it fail as that of a large file does. */
function oversized({ repository }: TurnWorld, path: string): void {
  const large = 'large\n'
  repository.commitByHand('drift-ledger', { [path]: large }, { author: BOT_EMAIL })
  const read = repository.read.bind(repository)
  repository.read = async (ids) => {
    const texts = await read(ids)
    const found = [...texts].find(([, bytes]) => Buffer.from(bytes).toString() === large)
    if (found !== undefined) throw new OversizedRead(path, 1, found[0])
    return texts
  }
}
