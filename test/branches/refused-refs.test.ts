/**
 * No refused ref stops the record of anything else (docs/adr/0075-refused-refs.md). A real git server with real hooks; the rest of
 * the world is in memory.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { listUnitFailures } from '../../src/plan/unit/unit-result.ts'
import { RefusingRemote, type RuleKind } from '../fakes/refusing-remote.ts'
import { refused } from '../fakes/turn-world.ts'

const PACKAGES = ['a', 'b', 'c', 'd', 'e'] as const

async function open(t: TestContext, policy?: string): Promise<RefusingRemote> {
  const remote = await RefusingRemote.open(PACKAGES, policy)
  t.after(() => remote.close())
  return remote
}

/** Package to the codes of its failures and the words of the server; only those that have some. */
function failures({ units }: Awaited<ReturnType<RefusingRemote['turn']>>): Map<string, string> {
  return new Map(
    units.flatMap((unit) => {
      const [failure] = listUnitFailures(unit)
      const name = unit.state === 'planned' ? unit.unit.packagePath : unit.packagePath
      return failure === undefined
        ? []
        : [[name.replace('apps/', ''), `${failure.code} ${failure.why}`]]
    }),
  )
}

function pushesOf(remote: RefusingRemote): string[][] {
  const pushes: string[][] = []
  remote.beforePush = (updates) => {
    pushes.push(updates.map(({ ref }) => ref))
    remote.assertLedgerTrue()
  }
  return pushes
}

const SERVERS: readonly { readonly kind: RuleKind; readonly atomic: boolean }[] = [
  { kind: 'update', atomic: true },
  { kind: 'pre-receive', atomic: true },
  { kind: 'update', atomic: false },
]

for (const { kind, atomic } of SERVERS) {
  const server = `${kind}${atomic ? '' : ', and refs move one by one'}`

  test(`every proposal branch is refused (${server}): drift is in the ledger, each package fails, and no turn pushes more`, async (t) => {
    const remote = await open(t)
    if (!atomic) remote.fixture.git('config', 'receive.advertiseAtomic', 'false')
    for (const name of PACKAGES) remote.edit(name)
    remote.rule(kind, 'refs/heads/proposed/*')
    const pushes = pushesOf(remote)
    const result = await remote.turn()
    const found = failures(result)
    assert.deepEqual([...found.keys()].toSorted(), [...PACKAGES])
    for (const why of found.values())
      assert.match(why, /^BP4002 .*hook declined.*GH013: Repository rule violations found/)
    assert.deepEqual(remote.branches(), [])
    remote.assertLedgerTrue()
    for (const name of PACKAGES) {
      const { spec, status } = remote.reports().get(name) ?? assert.fail(name)
      assert.deepEqual(
        [status.state, status.lifecycle, status.held?.reason, spec.changes.length],
        ['Drifted', '', 'refused', 1],
      )
    }
    assert.ok(pushes.length <= 14, `${pushes.length} pushes`)
    const before = pushes.length
    assert.deepEqual(
      [...failures(await remote.turn()).keys()].toSorted(),
      [...PACKAGES],
      'the failure lasts',
    )
    assert.equal(pushes.length, before, 'nothing is tried again at once')
    remote.edit('a', 'green')
    await remote.turn()
    assert.deepEqual(
      pushes.slice(before),
      [['refs/heads/drift-ledger']],
      'what is new is one push of the ledger alone',
    )
    remote.rule(kind, undefined)
    remote.world.pass(5)
    assert.equal(failures(await remote.turn()).size, 0)
    assert.equal(remote.branches().length, PACKAGES.length)
    for (const { status } of remote.reports().values()) assert.equal(status.held, undefined)
  })

  test(`one package's branch is refused (${server}): the others are proposed in the same turn`, async (t) => {
    const remote = await open(t)
    if (!atomic) remote.fixture.git('config', 'receive.advertiseAtomic', 'false')
    for (const name of PACKAGES) remote.edit(name)
    remote.rule(kind, 'refs/heads/proposed/apps/e/*')
    const pushes = pushesOf(remote)
    const result = await remote.turn()
    assert.deepEqual([...failures(result).keys()], ['e'])
    assert.deepEqual(
      remote.branches().map((branch) => branch.split('/')[2]),
      PACKAGES.filter((name) => name !== 'e'),
    )
    remote.assertLedgerTrue()
    assert.deepEqual(
      [...remote.reports()]
        .map(([name, { status }]) => [name, status.lifecycle, status.held?.reason])
        .filter(([name]) => name !== 'web'),
      PACKAGES.map((name) => [
        name,
        name === 'e' ? '' : 'Proposed',
        name === 'e' ? 'refused' : undefined,
      ]),
    )
    assert.ok(pushes.length <= 10, `${pushes.length} pushes`)
    remote.rule(kind, undefined)
    remote.world.pass(5)
    assert.equal(failures(await remote.turn()).size, 0)
    assert.equal(remote.branches().length, PACKAGES.length)
  })

  test(`the ledger is refused (${server}): the turn fails, and no later turn infers a decision`, async (t) => {
    const remote = await open(t)
    if (!atomic) remote.fixture.git('config', 'receive.advertiseAtomic', 'false')
    for (const name of PACKAGES) remote.edit(name)
    remote.rule(kind, 'refs/heads/drift-ledger*')
    await refused(remote.turn(), 'BP4002')
    if (atomic)
      assert.deepEqual(remote.branches(), [], 'nothing is there of which the ledger does not know')
    remote.rule(kind, undefined)
    remote.world.pass(5)
    assert.equal(failures(await remote.turn()).size, 0)
    assert.equal(remote.branches().length, PACKAGES.length)
    remote.assertLedgerTrue()
    assert.deepEqual(remote.closed(), [], 'nobody decided anything')
  })

  test(`drafts are refused (${server}): drift is in the ledger`, async (t) => {
    const remote = await open(t, '{mode: Warn}')
    if (!atomic) remote.fixture.git('config', 'receive.advertiseAtomic', 'false')
    remote.edit('a')
    remote.edit('b')
    remote.rule(kind, 'refs/heads/drafts/*')
    assert.deepEqual([...failures(await remote.turn()).keys()], ['a', 'b'])
    assert.equal(remote.reports().get('a')?.spec.changes.length, 1)
    remote.assertLedgerTrue()
  })

  test(`moving an open proposal is refused (${server}): the ledger has the live value, and the proposal stays`, async (t) => {
    const remote = await open(t)
    if (!atomic) remote.fixture.git('config', 'receive.advertiseAtomic', 'false')
    remote.edit('a')
    await remote.turn()
    const [branch] = remote.branches()
    const head = remote.fixture.git('rev-parse', `${branch}`)
    remote.edit('a', 'green')
    remote.edit('b')
    remote.rule(kind, 'refs/heads/proposed/apps/a/*')
    assert.deepEqual([...failures(await remote.turn()).keys()], ['a'])
    assert.equal(remote.fixture.git('rev-parse', `${branch}`), head)
    const { spec, status } = remote.reports().get('a') ?? assert.fail()
    assert.deepEqual(
      [status.lifecycle, JSON.stringify(spec.changes[0]?.live)],
      ['Proposed', '"green"'],
    )
    assert.equal(remote.branches().length, 2)
    remote.assertLedgerTrue()
    remote.rule(kind, undefined)
    remote.world.pass(5)
    assert.equal(failures(await remote.turn()).size, 0)
    assert.notEqual(remote.fixture.git('rev-parse', `${branch}`), head)
  })

  test(`deletions are refused (${server}): a proposal whose drift is gone stays open and is not declined`, async (t) => {
    const remote = await open(t)
    if (!atomic) remote.fixture.git('config', 'receive.advertiseAtomic', 'false')
    remote.edit('a')
    remote.edit('b')
    await remote.turn()
    remote.edit('a', 'blue')
    remote.edit('c')
    remote.rule(kind, `*' ${'0'.repeat(40)}'`)
    assert.deepEqual([...failures(await remote.turn()).keys()], ['a'])
    assert.equal(remote.branches().length, 3, 'the new proposal of c is there')
    remote.assertLedgerTrue()
    assert.equal(remote.reports().get('a')?.status.lifecycle, 'Proposed')
    remote.rule(kind, undefined)
    remote.world.pass(5)
    assert.equal(failures(await remote.turn()).size, 0)
    assert.equal(remote.branches().length, 2)
    assert.equal(remote.reports().get('a')?.status.lifecycle, '')
  })

  test(`tags are refused (${server}): each turn finds the decision and records live, and sets the tag once allowed`, async (t) => {
    const remote = await open(t)
    if (!atomic) remote.fixture.git('config', 'receive.advertiseAtomic', 'false')
    remote.edit('a')
    await remote.turn()
    await remote.merge('a')
    remote.edit('b')
    remote.rule(kind, 'refs/tags/*')
    const found = failures(await remote.turn())
    assert.deepEqual([...found.keys()], ['a'])
    assert.deepEqual(remote.tags(), [])
    assert.ok(
      remote.branches().some((branch) => branch.startsWith('proposed/apps/b/')),
      'the other package is proposed',
    )
    assert.equal(
      remote.reports().get('a')?.spec.unit.revision,
      undefined,
      'no revision that is not published',
    )
    remote.assertLedgerTrue()
    assert.deepEqual([...failures(await remote.turn()).keys()], ['a'], 'the failure lasts')
    remote.rule(kind, undefined)
    remote.world.pass(5)
    assert.equal(failures(await remote.turn()).size, 0)
    assert.deepEqual(remote.tags(), ['apps/a/v1'])
    assert.equal(remote.closed().length, 1)
  })
}

test('a hidden ref is refused without a reason: the others are proposed', async (t) => {
  const remote = await open(t)
  for (const name of PACKAGES) remote.edit(name)
  remote.fixture.git('config', 'receive.hideRefs', 'refs/heads/proposed/apps/c')
  assert.deepEqual([...failures(await remote.turn()).keys()], ['c'])
  assert.equal(remote.branches().length, PACKAGES.length - 1)
  remote.assertLedgerTrue()
})

test('names a branch that blocks the name of a proposal, and proposes the others', async (t) => {
  const remote = await open(t)
  for (const name of PACKAGES) remote.edit(name)
  remote.fixture.git('update-ref', 'refs/heads/proposed/apps/d', 'main')
  const found = failures(await remote.turn())
  assert.deepEqual([...found.keys()], ['d'])
  assert.match(
    found.get('d') ?? '',
    /refs\/heads\/proposed\/apps\/d exists, and git keeps no branch below another one/,
  )
  assert.equal(remote.branches().length, PACKAGES.length)
})

test('a process that ends between two pushes leaves a valid ledger, and the next one ends as if undisturbed', async (t) => {
  const undisturbed = await open(t)
  const arrange = (remote: RefusingRemote): void => {
    for (const name of ['a', 'b', 'e']) remote.edit(name)
    remote.rule('pre-receive', 'refs/heads/proposed/apps/e/*')
  }
  arrange(undisturbed)
  const pushes = pushesOf(undisturbed)
  await undisturbed.turn()
  for (let at = 2; at <= pushes.length; at += 1) {
    const remote = await open(t)
    arrange(remote)
    let count = 0
    remote.beforePush = () => {
      count += 1
      if (count === at) throw new TypeError('the process ends')
    }
    await assert.rejects(remote.turn(), /the process ends/)
    remote.assertLedgerTrue()
    remote.restart()
    remote.beforePush = () => undefined
    assert.deepEqual([...failures(await remote.turn()).keys()], ['e'], `ended before push ${at}`)
    assert.deepEqual(remote.branches(), undisturbed.branches(), `ended before push ${at}`)
    assert.deepEqual(remote.closed(), [])
    remote.assertLedgerTrue()
  }
})
