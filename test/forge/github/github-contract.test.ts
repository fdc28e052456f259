/** The contract of every hosted forge, on the emulated GitHub. */
import assert from 'node:assert/strict'
import { RequestGovernor } from '@backporch/forge/adapter'
import { createGitHubGovernor, openGitHub } from '@backporch/forge/github'
import { forgeContract } from '../forge-contract.ts'
import { BOT_TOKEN, createGitHubFixture } from './github-fixture.ts'
import { USED_OPERATIONS } from './used-operations.ts'

forgeContract('GitHub, emulated', async () => {
  const { emulator, repository, clock, address, human, close } = await createGitHubFixture()
  // The contract writes more in a minute than people do.
  const governor = new RequestGovernor({
    forge: 'GitHub',
    clock,
    longestWait: 0,
    writesPerMinute: 10_000,
    writesPerHour: 10_000,
  })
  const told: string[] = []
  const notice = (text: string): void => void told.push(text)
  const openWith = (by: RequestGovernor) =>
    openGitHub({
      address,
      credential: { kind: 'token', token: BOT_TOKEN },
      governor: by,
      clock,
      version: '0.0.0-test',
      notice,
    })
  const openOne = () => openWith(governor)
  const dryRun = await openWith(createGitHubGovernor(clock, 0, true))
  // Opening asks nothing, so that the objects can be made beforehand: the contract wants one without waiting.
  const opened = await Promise.all(Array.from({ length: 190 }, openOne))
  let next = 0
  return {
    repository,
    human,
    told,
    tellsEditors: true,
    people: { writer: 'wendy', reader: 'rita' },
    openForge: () => {
      const one = opened[next]
      next += 1
      if (one === undefined) throw new Error('the contract opens more forges than were made')
      return one.forge(repository)
    },
    openDryRunForge: () => dryRun.forge(repository),
    writes: () => emulator.writes.length,
    loseNextAnswer: () => emulator.loseNextWrite(),
    close: async () => {
      await Promise.all([...opened, dryRun].map((one) => one.close()))
      await close()
      assert.deepEqual(
        [...new Set(emulator.problems)],
        [],
        "everything fits GitHub's own description",
      )
      assert.ok(USED_OPERATIONS.length > 20)
    },
  }
})
