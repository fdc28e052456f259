/** State that a process with several turns retains between them. Losing it costs requests, never a decision. */

import { LEDGER_BRANCH } from '../../package/ref-name.ts'
import type { RefUpdate } from '../../ports/package-repository.ts'
import { PackageHistories } from '../repository/package-history.ts'
import type { ClusterVerdicts } from '../verdicts/cluster-verdicts.ts'
import { DryRunAnswers } from './dry-run-answers.ts'
import type { CachedVerdict, EarlierAnswers } from './judge-object.ts'
import { KnownUnits } from './known-units.ts'
import { LastDrift } from './last-drift.ts'
import type { MissingObjectAnswer } from './predict-object.ts'

export class BetweenTurns implements EarlierAnswers {
  readonly units = new KnownUnits()
  readonly lastDrift = new LastDrift()
  readonly creations = new DryRunAnswers<MissingObjectAnswer>()
  readonly verdicts = new DryRunAnswers<CachedVerdict>()
  readonly histories = new PackageHistories()
  /** By name of the cluster: of those whose changes are watched. */
  readonly clusters = new Map<string, ClusterVerdicts>()
  private readonly pacesLedger: boolean
  private pushedAt = ''

  /** @param options `pacesLedger`: a turn of status alone waits until a minute after the last push of the ledger */
  constructor({ pacesLedger = false }: { readonly pacesLedger?: boolean } = {}) {
    this.pacesLedger = pacesLedger
  }

  /** RFC 3339 UTC; empty before the first push, and where no turn waits. */
  get ledgerPushedAt(): string {
    return this.pacesLedger ? this.pushedAt : ''
  }

  /** @param now RFC 3339 UTC: after the push */
  rememberPush(updates: readonly RefUpdate[], now: string): void {
    if (updates.some(({ ref }) => ref === `refs/heads/${LEDGER_BRANCH}`)) this.pushedAt = now
  }
}
