/** The part of the contract that is about our own issues; see `forgeContract`. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ForgeFixture } from './forge-fixture.ts'

/** Inside of a `describe`. @param contextOf known when a test begins */
export function issueContract(contextOf: () => ForgeFixture, signal: AbortSignal): void {
  const countingWrites = async (work: () => Promise<unknown>): Promise<number> => {
    const start = contextOf().writes()
    await work()
    return contextOf().writes() - start
  }

  it('keeps one issue per topic when it is created, rewritten, reopened and closed', async () => {
    const fixture = contextOf()
    const ensure = (body: string) =>
      fixture
        .openForge()
        .ensureIssue(
          { topic: 'dashboard', title: 'Drift dashboard', body, labels: ['drift'] },
          signal,
        )
    assert.equal(await fixture.openForge().readIssue('dashboard', signal), undefined)
    const created = await ensure('one\n')
    assert.equal(await countingWrites(() => ensure('one\n')), 0)
    assert.deepEqual(await ensure('two'), { ...created, body: 'two' })
    await fixture.human.close(created.number)
    assert.equal((await fixture.openForge().readIssue('dashboard', signal))?.open, false)
    assert.equal((await ensure('two')).number, created.number)
    const read = await fixture.openForge().readIssue('dashboard', signal)
    assert.deepEqual(
      [read?.number, read?.open, read?.body.trimEnd(), read?.url],
      [created.number, true, 'two', created.url],
    )
    const other = await fixture
      .openForge()
      .ensureIssue({ topic: 'storm/prod', title: 'Storm', body: 'body', labels: ['drift'] }, signal)
    assert.notEqual(other.number, created.number)
    await fixture.openForge().closeIssue('storm/prod', signal)
    assert.equal(
      await countingWrites(() => fixture.openForge().closeIssue('storm/prod', signal)),
      0,
    )
    assert.equal((await fixture.openForge().readIssue('storm/prod', signal))?.open, false)
    assert.equal((await fixture.openForge().readIssue('dashboard', signal))?.open, true)
  })

  it('adopts the issue of a request whose answer was lost', async () => {
    const setup = contextOf()
    // The label is there, so that the next request that writes is the issue.
    await setup
      .openForge()
      .ensureIssue({ topic: 'lost', title: 'Lost', body: 'first', labels: ['drift'] }, signal)
    await setup
      .openForge()
      .ensureIssue({ topic: 'lost/again', title: 'Lost', body: 'first', labels: ['drift'] }, signal)
    setup.loseNextAnswer()
    const number = (
      await setup
        .openForge()
        .ensureIssue({ topic: 'lost', title: 'Lost', body: 'second', labels: ['drift'] }, signal)
        .catch(() => undefined)
    )?.number
    const again = await setup
      .openForge()
      .ensureIssue({ topic: 'lost', title: 'Lost', body: 'second', labels: ['drift'] }, signal)
    assert.ok(number === undefined || number === again.number)
    assert.equal(
      await countingWrites(() =>
        setup
          .openForge()
          .ensureIssue({ topic: 'lost', title: 'Lost', body: 'second', labels: ['drift'] }, signal),
      ),
      0,
    )
  })
}
