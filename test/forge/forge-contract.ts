/**
 * What every hosted forge must do, told once: the emulated GitHub and the real Gitea run it alike. A ground brings a forge with one
 * repository in it, which has at least one commit on `main`, and hands to act as people do.
 */
import { after, before, describe } from 'node:test'
import { conversationContract } from './conversation-contract.ts'
import { decisionContract } from './decision-contract.ts'
import { dryRunContract } from './dry-run-contract.ts'
import { contractHands, type ForgeFixture } from './forge-fixture.ts'
import { issueContract } from './issue-contract.ts'
import { proposalContract } from './proposal-contract.ts'

/** @param make called once for all tests; they use branches, numbers and topics of their own */
export function forgeContract(name: string, make: () => Promise<ForgeFixture>): void {
  const { signal } = new AbortController()

  describe(`forge contract: ${name}`, () => {
    let fixture: ForgeFixture
    const now = (): ForgeFixture => fixture
    const hands = contractHands(now, signal)

    before(async () => {
      fixture = await make()
    })
    after(async () => fixture?.close())

    proposalContract(now, hands, signal)
    decisionContract(now, hands, signal)
    conversationContract(now, hands, signal)
    issueContract(now, signal)
    dryRunContract(now, hands, signal)
  })
}
