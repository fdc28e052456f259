/**
 * No verdict depends on the clock of the machine or on its speed. A search cannot prove that of every line, but it can name every place where a test
 * could: each has to be on the list, with the reason why its verdict does not.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What reads a clock. */
const CLOCK =
  /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bhrtime\b|process\.uptime|\bTemporal\.Now\b/
/** What waits for a time, or ends something after a time, and is not the mechanism of `wait-until.ts`. */
const TIMER = /\bsetTimeout\b|\bAbortSignal\.timeout\b|\btimeout: ?[\d_]+\b/
/** What is 5 once a rollout has failed, which the controllers say after ten minutes (`progressDeadlineSeconds`): `assertNoDrift` takes both. */
const ROLLOUT = /\bassertExit\(await \w+\.backporch\('status'(?!.*--no-exit-code)[^)]*\), 0\)/

interface Allowed {
  readonly why: string
  readonly files: readonly string[]
}

const CLOCKS: readonly Allowed[] = [
  { why: 'it waits for the next second', files: ['test/waiting/next-second.ts'] },
  {
    why: 'it is the clock of the code under test, which is given one; no verdict compares it with anything',
    files: [
      'test/apiserver/live-cluster.ts',
      'test/fakes/event-path.ts',
      'test/fakes/measured-world.ts',
      'test/fakes/memory-watch.ts',
      'test/gitea/gitea-fixture.ts',
    ],
  },
  {
    why: 'it makes a time of the last hour, for a program that runs with the real clock',
    files: [
      'test/branches/base-branch.test.ts',
      'test/branches/ci-checkouts.test.ts',
      'test/gitea/crash-world.ts',
    ],
  },
  { why: 'certificates have to be valid now', files: ['test/controlplane/test-authority.ts'] },
  {
    why: 'it moves a clock, and reads it to move it',
    files: [
      'src/controller/turn-intake.test.ts',
      'test/faults/moved-clock.ts',
      'test/property/fleet-pair.ts',
    ],
  },
  {
    why: 'it prints how long something took',
    files: [
      'test/programs/go-build.ts',
      'test/programs/build-progress.ts',
      'test/public-repositories/run.ts',
      'test/run.ts',
      'test/run/worker.ts',
    ],
  },
  {
    why: 'a lock has an age',
    files: ['test/programs/with-file-lock.ts', 'test/programs/with-file-lock.test.ts'],
  },
  { why: 'it records when something was done', files: ['test/drift-corpus/stage.ts'] },
  {
    why: 'it runs for as many minutes as somebody asks for',
    files: ['test/e2e/chaos-world.ts', 'test/explore.ts', 'test/hostile/two-controllers.ts'],
  },
]

const TIMERS: readonly Allowed[] = [
  {
    why: 'it is the mechanism',
    files: ['test/waiting/wait-until.ts', 'test/waiting/wait-until.test.ts'],
  },
  {
    why: 'what is not answered in time is asked again',
    files: [
      'test/controlplane/server-hands.ts',
      'test/controlplane/start-control-plane.ts',
      'test/gitea/start-gitea.ts',
      'test/waiting/until-answers.ts',
    ],
  },
  {
    why: 'it ends what was killed and does not end, ten times later than that takes',
    files: ['test/controlplane/guard-process.ts', 'test/controlplane/start-guard.ts'],
  },
  {
    why: 'the deadline is that of the code under test, and it has to pass',
    files: [
      'src/cluster/connection/api-connection.test.ts',
      'src/cluster/watch/faulty-answers.live.test.ts',
      'src/cluster/watch/stale-replica.live.test.ts',
      'src/reconcile/turn/settle.test.ts',
    ],
  },
  {
    why: 'it waits as the code under test asks its clock to',
    files: ['test/apiserver/live-cluster.ts', 'test/gitea/gitea-fixture.ts'],
  },
  {
    why: 'it makes a fault or an answer come late; nothing is judged by when it comes',
    files: [
      'src/git-store/protocol/pkt-line.test.ts',
      'test/contract/repository-http.test.ts',
      'src/cluster/watch/rights-and-kinds.live.test.ts',
      'src/system/read-text.test.ts',
      'test/apiserver/scripted-server.ts',
      'test/faults/http-faults.ts',
      'test/faults/tcp-faults.ts',
    ],
  },
  {
    why: 'it lets a while pass in which something wrong could happen; too short a while fails nothing',
    files: ['test/faults/live-watch.ts'],
  },
  {
    why: 'a policy of admission says nowhere that it is in force',
    files: ['test/drift-corpus/stage.ts'],
  },
  {
    why: 'the mock of a clock',
    files: ['src/adapters/traces/otlp-traces.test.ts', 'src/reconcile/turn/only-units.test.ts'],
  },
  {
    why: 'it lets a while pass between two acts, drawn from the seed',
    files: [
      'test/e2e/chaos.gitea.test.ts',
      'test/e2e/frozen-controller.gitea.test.ts',
      'test/hostile/two-controllers.ts',
    ],
  },
  {
    why: 'locks and builds of programs: their waits are their own',
    files: [
      'test/programs/build-programs.test.ts',
      'test/programs/with-file-lock.ts',
      'test/programs/with-file-lock.test.ts',
    ],
  },
  { why: 'the process of an original', files: ['test/originals/run-program.ts'] },
  {
    why: 'the run itself',
    files: [
      'test/run.ts',
      'test/run/pool.test.ts',
      'test/run/worker-process.ts',
      'test/run/worker.ts',
    ],
  },
]

const ROLLOUTS: readonly Allowed[] = [
  { why: 'the test writes the status of the rollout', files: ['test/e2e/status.live.test.ts'] },
]

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter(
      (entry) =>
        entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('node_modules'),
    )
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
}

/** But for this one, which has the words. */
const TESTS = ['bench', 'functions', 'src', 'test']
  .flatMap(filesBelow)
  .filter(
    (file) =>
      (file.startsWith('test/') || file.endsWith('.test.ts')) &&
      file !== 'test/waiting/wall-clock.test.ts',
  )
  .sort()

/** `file:line: text` of every line that is not on the list, and files of the list that need it no more. */
function notAllowed(
  pattern: RegExp,
  allowed: readonly Allowed[],
): { readonly found: readonly string[]; readonly stale: readonly string[] } {
  const listed = new Set(allowed.flatMap(({ files }) => files))
  const needed = new Set<string>()
  const found = TESTS.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, at) => {
        if (!pattern.test(line)) return []
        needed.add(file)
        return listed.has(file) ? [] : [`${file}:${at + 1}: ${line.trim()}`]
      }),
  )
  return { found, stale: [...listed].filter((file) => !needed.has(file)) }
}

test('no test outside the list reads the clock of the machine', () => {
  assert.deepEqual(notAllowed(CLOCK, CLOCKS), { found: [], stale: [] })
})

test('no test outside the list waits or sets a deadline by itself', () => {
  assert.deepEqual(notAllowed(TIMER, TIMERS), { found: [], stale: [] })
})

test('no test outside the list has an exit code that depends on rollout waiting time', () => {
  assert.deepEqual(notAllowed(ROLLOUT, ROLLOUTS), { found: [], stale: [] })
})
