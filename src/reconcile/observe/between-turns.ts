/** State that a process with several turns retains between them. Losing it costs requests, never a decision. */

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
}
