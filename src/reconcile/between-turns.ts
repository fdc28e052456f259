/** What whoever runs one turn after another remembers between them. Losing it costs requests, never a decision. */
import { CreationAnswers } from './creation-answers.ts'
import { LastDrift } from './last-drift.ts'
import { PackageHistories } from './package-histories.ts'

export class BetweenTurns {
  readonly lastDrift = new LastDrift()
  readonly creations = new CreationAnswers()
  readonly histories = new PackageHistories()
}
