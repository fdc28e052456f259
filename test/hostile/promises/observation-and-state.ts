/** P8 to P14: what is taken for true, and what lasts. */
import type { Promised } from '../promises.ts'

export const OBSERVATION_AND_STATE: readonly Promised[] = [
  {
    id: 'P8',
    promise:
      'An error is never drift: an unreadable object is unknown, opens no pull request and closes none.',
    checks: [
      'src/cluster/objects/read-live-absence.test.ts',
      'src/cluster/objects/read-live.test.ts',
      'src/plan/unit/plan-reconcile.test.ts',
    ],
    mutants: [
      {
        breaks: 'an object that cannot be read counts as missing',
        file: 'src/drift/detect/detect-drift.ts',
        find: "return { ...base, state: 'unreadable', proof: 'none', items: [], failure: live.failure }",
        replace: "return detectDrift({ ...observed, live: { state: 'absent' } }, syncer)",
        by: 'src/plan/unit/plan-reconcile.test.ts',
      },
    ],
  },
  {
    id: 'P9',
    promise: 'An object is missing only after a complete list of one resource version.',
    checks: [
      'src/cluster/objects/read-live-absence.test.ts',
      'src/cluster/objects/read-live.test.ts',
    ],
    mutants: [
      {
        breaks: 'a name with a comma or an equals sign is another selector',
        file: 'src/cluster/objects/list-objects.ts',
        find: 'metadata.name=${escapeFieldValue(name)}',
        replace: 'metadata.name=${name}',
        by: 'src/cluster/objects/read-live.test.ts',
      },
      {
        breaks: 'pages of different resource versions count as one list',
        file: 'src/cluster/objects/list-objects.ts',
        find: 'if (resourceVersion !== undefined && page.resourceVersion !== resourceVersion) {',
        replace: 'if (false) {',
        by: 'src/cluster/objects/read-live',
      },
    ],
  },
  {
    id: 'P10',
    promise:
      'A broken kind, package, cluster or repository, a refused ref, and pull requests of many packages do not affect others.',
    checks: [
      'src/cli/controller.test.ts',
      'test/branches/refused-refs.test.ts',
      'src/reconcile/observe/proposal-turns.test.ts',
      'src/reconcile/turn/unobserved.test.ts',
      'test/hostile/heavy-files.test.ts',
      'test/e2e/bad-world.live.test.ts',
      'test/e2e/bad-objects.live.test.ts',
      'src/controller/turn-places.test.ts',
      'src/controller/run-controller.test.ts',
    ],
    mutants: [
      {
        breaks: 'a package differs in any number of fields, and ends the process of all packages',
        file: 'src/reconcile/observe/observe-cluster.ts',
        find: 'if (differences > MOST_DIFFERENCES) throw',
        replace: 'if (false) throw',
        by: 'test/hostile/heavy-files.test.ts',
      },
      {
        breaks: 'a cluster that cannot be observed ends the turn of all clusters',
        file: 'src/reconcile/observe/cluster-deadline.ts',
        find: 'if (signal.aborted) throw thrown\n',
        replace: 'if (thrown !== undefined) throw thrown\n',
        by: 'src/reconcile/turn/unobserved.test.ts',
      },
      {
        breaks: 'a turn that hangs keeps its place for as long as it runs',
        file: 'src/controller/turn-places.ts',
        find: 'if (!isSlow) this.giveBack(places, ended.signal)\n',
        replace: '',
        by: 'src/controller/turn-places.test.ts',
      },
      {
        breaks: 'a refused branch keeps the drift of its package out of the ledger',
        file: 'src/reconcile/turn/apply/write-turn.ts',
        find: 'const without = isDecision',
        replace: 'const without = !isDecision',
        by: 'test/branches/refused-refs.test.ts',
      },
      {
        breaks: 'the record of a package waits for the branches of all others',
        file: 'src/reconcile/turn/apply/write-turn.ts',
        find: 'all.length > MOST_MOVING && ',
        replace: 'false && ',
        by: 'src/reconcile/observe/proposal-turns.test.ts',
      },
      {
        breaks: 'the next record waits for the pull requests of all packages',
        file: 'src/reconcile/turn/apply-turn.ts',
        find: 'return givesWay && ',
        replace: 'return false && ',
        by: 'src/reconcile/observe/proposal-turns.test.ts',
      },
      {
        breaks: 'the ledger names a proposal whose branch was refused',
        file: 'src/plan/turn/ledger/without-refs.ts',
        find: "lifecycle: open === undefined ? '' :",
        replace: 'lifecycle: open === undefined ? plan.report.status.lifecycle :',
        by: 'test/branches/refused-refs.test.ts',
      },
      {
        breaks:
          'a server that moves refs one by one gets the ledger before the branches that it names',
        file: 'src/git-store/push/push-refs.ts',
        find: '    updates.filter((update) => !isLedger(update) && update.to !== null),\n    updates.filter(isLedger),\n',
        replace:
          '    updates.filter(isLedger),\n    updates.filter((update) => !isLedger(update) && update.to !== null),\n',
        by: 'test/branches/refused-refs.test.ts',
      },
      {
        breaks: 'what was refused is pushed again in each turn',
        file: 'src/reconcile/observe/refused-refs.ts',
        find: 'until > now && until - now <= wait',
        replace: 'until > now && until - now > wait',
        by: 'test/branches/refused-refs.test.ts',
      },
    ],
  },
  {
    id: 'P11',
    promise: 'No input ends the process or the turns of other packages.',
    checks: [
      'src/drift/detect/hostile-objects.test.ts',
      'src/sources/kpt/render/bad-input.test.ts',
      'test/hostile/package-limits.test.ts',
      'test/hostile/heavy-files.test.ts',
      'test/hostile/ended-process.test.ts',
      'test/e2e/bad-input.live.test.ts',
      'test/e2e/bad-objects.live.test.ts',
    ],
    mutants: [
      {
        breaks: 'an object that is nested too deep is traversed',
        file: 'src/kyaml/text/json-depth.ts',
        find: 'if (depth > most) return true',
        replace: '',
        by: 'src/kyaml/text/json-depth.test.ts',
      },
      {
        breaks: 'the keys and values of a file are not counted',
        file: 'src/kyaml/yaml/read/read-yaml-limits.ts',
        find: 'this.nodes += 1',
        replace: '',
        by: 'src/sources/kpt/render/bad-input.test.ts',
      },
      {
        breaks: 'a package that ended two processes is observed by the third',
        file: 'src/adapters/system/package-marks.ts',
        find: 'count >= MOST_ENDINGS',
        replace: 'count > MOST_ENDINGS + 1',
        by: 'test/hostile/ended-process.test.ts',
      },
      {
        breaks: 'the keys and values of a package are not added up',
        file: 'src/kpt/desired/package-limits.ts',
        find: 'this.nodes += nodes',
        replace: '',
        by: 'test/hostile/package-limits.test.ts',
      },
    ],
  },
  {
    id: 'P12',
    promise:
      'All durable state is in git, the forge and one key: the data folder may be deleted at any time.',
    checks: [
      'test/faults/repository-cache.test.ts',
      'test/faults/repository-spare.test.ts',
      'test/property/known-turns.property.test.ts',
    ],
    mutants: [
      {
        breaks: 'a corrupt cache is used',
        file: 'src/git-store/objects/object-cache.ts',
        find: 'if (object.id !== id) throw new DamagedCache(`object ${id} has another content`)',
        replace: '',
        by: 'test/faults/repository-cache.test.ts',
      },
      {
        breaks: 'a full cache folder ends the turn',
        file: 'src/git-store/objects/spared-objects.ts',
        find: 'if (!isOfCacheFolder(thrown)) throw thrown',
        replace: 'throw thrown',
        by: 'test/faults/repository-spare.test.ts',
      },
    ],
  },
  {
    id: 'P13',
    promise:
      'When faults stop, the state equals the state of an undisturbed run, and nothing more is written.',
    checks: ['test/crash/kill-pull-requests.test.ts', 'src/plan/unit/plan-reconcile.test.ts'],
    mutants: [
      {
        breaks: 'the time of the observation counts as a change',
        file: 'src/plan/observation/ledger-files.ts',
        find: "observed: { ...observed, at: '' }",
        replace: 'observed',
        by: 'src/plan/unit/plan-reconcile.test.ts',
      },
    ],
  },
  {
    id: 'P14',
    promise:
      'The same input gives the same bytes, regardless of the order of lists from the cluster and git.',
    checks: [
      'src/plan/unit/plan-reconcile.test.ts',
      'src/drift/compare/fingerprint.test.ts',
      'test/crash/kill-everywhere.test.ts',
    ],
    mutants: [
      {
        breaks: 'a fingerprint depends on the order of the items',
        file: 'src/drift/compare/fingerprint.ts',
        find: 'hashItem(item, key).line).sort()',
        replace: 'hashItem(item, key).line)',
        by: 'src/drift/compare/fingerprint.test.ts',
      },
    ],
  },
]
