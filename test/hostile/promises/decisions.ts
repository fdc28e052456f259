/** P15 to P20: what a proposal does, and what a decision is. */
import type { Promised } from '../promises.ts'

export const DECISIONS: readonly Promised[] = [
  {
    id: 'P15',
    promise: 'After an Adopt the package renders to the live values, and no other field changes.',
    checks: [
      'src/sources/edits/prove-edit.test.ts',
      'test/property/adopt.property.test.ts',
      'src/sources/kpt/adopt/adoption.test.ts',
      'src/sources/kpt/adopt/fixed-point.test.ts',
    ],
    mutants: [
      {
        breaks: 'a change of other fields is accepted',
        file: 'src/sources/edits/prove-edit.ts',
        find: 'if (moved === undefined) return',
        replace: 'return',
        by: 'src/sources/edits/prove-edit.test.ts',
      },
      {
        breaks: 'a selected field without the live value is accepted',
        file: 'src/sources/edits/prove-edit.ts',
        find: 'if (!isWanted(change, value))',
        replace: 'if (false)',
        by: 'src/sources/edits/prove-edit.test.ts',
      },
    ],
  },
  {
    id: 'P16',
    promise:
      'A Restore never restores a value that git changed since: a proposal whose base moved is rebuilt.',
    checks: ['src/plan/unit/plan-reconcile.test.ts', 'test/crash/kill-pull-requests.test.ts'],
    mutants: [
      {
        breaks: 'a proposal on an older base counts as current',
        file: 'src/plan/unit/unit-documents.ts',
        find: '&&\n    isSameTree(git.tree, git.baseTrees.get(open.base))',
        replace: '',
        by: 'src/plan/unit/plan-reconcile.test.ts',
      },
    ],
  },
  {
    id: 'P17',
    promise: 'A closed pull request silences exactly its own drift, for a stated time.',
    checks: [
      'src/plan/unit/plan-reconcile.test.ts',
      'src/plan/unit/found-decisions.test.ts',
      'test/hostile/decisions-in-a-race.test.ts',
      'test/gitea/gitea-contract.test.ts',
    ],
    mutants: [
      {
        breaks: 'other drift of the unit is silenced too',
        file: 'src/plan/unit/commands/pick-changes.ts',
        find: "spec.fingerprint === fingerprint && status.outcome === 'Declined'",
        replace: "status.outcome === 'Declined'",
        by: 'src/plan/unit/plan-reconcile.test.ts',
      },
      {
        breaks: 'a silence has no end',
        file: 'src/plan/unit/commands/pick-changes.ts',
        find: 'return until !== undefined && until > at ? until : undefined',
        replace: 'return until',
        by: 'src/plan/unit/plan-reconcile.test.ts',
      },
    ],
  },
  {
    id: 'P18',
    promise:
      'Mass drift is one incident: above the threshold nothing new is proposed, and one issue reports it.',
    checks: [
      'src/plan/turn/limits/storm.test.ts',
      'src/plan/turn/limits/plan-limits.test.ts',
      'test/fleet/mass-drift.test.ts',
      'src/reconcile/turn/limits.test.ts',
    ],
    mutants: [
      {
        breaks: 'a storm is never detected',
        file: 'src/plan/turn/limits/storm.ts',
        find: 'return causes.size > threshold',
        replace: 'return false',
        by: 'src/plan/turn/limits/storm.test.ts',
      },
      {
        breaks: 'a storm holds nothing back',
        file: 'src/plan/turn/limits/plan-limits.ts',
        find: 'if (stormy !== undefined) return stormy',
        replace: '',
        by: 'src/plan/turn/limits/plan-limits.test.ts',
      },
    ],
  },
  {
    id: 'P19',
    promise:
      'A field that two writers revert repeatedly is reported with the other manager, and no more pull requests are opened for it.',
    checks: ['src/plan/unit/fight.test.ts', 'test/crash/kill-pull-requests.test.ts'],
    mutants: [
      {
        breaks: 'a fight has no limit of rounds',
        file: 'src/plan/unit/fight.ts',
        find: 'if (restored.length >= MERGES || flipped.length >= FLIPS)',
        replace: 'if (flipped.length >= FLIPS)',
        by: 'src/plan/unit/fight.test.ts',
      },
    ],
  },
  {
    id: 'P20',
    promise: 'Two concurrent controllers do nothing twice and lose nothing.',
    checks: [
      'test/hostile/run-two-controllers.ts',
      'test/hostile/decisions-in-a-race.test.ts',
      'test/hostile/merged-with-git.test.ts',
      'test/hostile/merged-with-git.gitea.test.ts',
      'test/hostile/command-faults.gitea.test.ts',
      'test/gitea/gitea-faults.test.ts',
      'test/e2e/frozen-controller.gitea.test.ts',
    ],
    mutants: [
      {
        breaks: 'a turn whose push lost a race does not start again',
        file: 'src/reconcile/observe/observe-units.ts',
        find: "if (failure.code !== 'BP4003') throw thrown",
        replace: 'throw failure',
        by: 'test/hostile/decisions-in-a-race.test.ts',
      },
      {
        breaks: 'a close is lost while another turn withdraws the proposal',
        file: 'src/plan/unit/found-decisions.ts',
        find: '    ...listClosedWhileWithdrawn(observed, published),\n',
        replace: '',
        by: 'test/hostile/decisions-in-a-race.test.ts',
      },
      {
        breaks: 'the branch of a merge is deleted before the forge recorded the merge',
        file: 'src/plan/turn/forge/plan-outcomes.ts',
        find: 'const actions: ForgeAction[] = listMergesNotEntered(view, planned)',
        replace: 'const actions: ForgeAction[] = []',
        by: 'test/hostile/merged-with-git.test.ts',
      },
    ],
    open: 'No leader is elected: the guarantee depends on refs of git alone, and both controllers read and ask the same. What may happen twice is the opening of a pull request on Gitea (P4).',
  },
]
