import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { logEvents } from '../../test/fakes/log-events.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'

const NOTHING = (): void => undefined

const BAD_PACKAGE = {
  'apps/bad/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: bad}\n',
  'apps/bad/x.yaml': 'a: [\n',
}

function unreachable(why = 'the connection was refused'): Failure {
  return new Failure({
    code: 'BP4001',
    what: 'the repository cannot be reached',
    why,
    remedy: 'try again',
    retry: 'backoff',
  })
}

/** Six turns: one that finds everything in sync, two quiet ones, one that proposes, one that withdraws, one that is quiet again. */
function editsAndBack(world: TurnWorld): (() => unknown)[] {
  return [
    NOTHING,
    () => world.edit(WEB, 'spec.replicas', 5),
    NOTHING,
    NOTHING,
    () => world.edit(WEB, 'spec.replicas', 3),
    NOTHING,
  ]
}

test('in text an active turn is one line with time and place, and quiet turns print nothing', async () => {
  const world = new TurnWorld('{mode: Propose}')
  const { code, stdout, stderr } = await runInWorld(world, ['controller', '--log-format', 'text'], {
    waits: editsAndBack(world),
  })
  assert.equal(code, 0)
  assert.equal(stdout, '')
  const [started, ...lines] = stderr.trim().split('\n')
  assert.equal(started, '2026-11-21T10:01:00Z  git and the forge are polled every 60s')
  assert.equal(lines.length, 5, stderr)
  assert.match(lines[0] ?? '', /^2026-11-21T10:01:00Z {2}apps\/web: InSync in prod$/)
  assert.match(
    lines[1] ?? '',
    /^2026-11-21T10:03:00Z {2}proposed apps\/web in prod \(proposed\/apps\/web\/drift-[0-9a-f]{8}\)$/,
  )
  assert.match(lines[2] ?? '', /^2026-11-21T10:06:00Z {2}withdrawn apps\/web in prod/)
  assert.match(
    lines[3] ?? '',
    /^2026-11-21T10:06:00Z {2}note: apps\/web in prod: proposed\/apps\/web\/drift-[0-9a-f]{8} is withdrawn/,
  )
  assert.equal(lines[4], '2026-11-21T10:07:00Z  stopped')
})

test('in JSON a turn is one event, and each change of a unit is one', async () => {
  const world = new TurnWorld('{mode: Propose}')
  const { code, stdout, stderr } = await runInWorld(world, ['controller'], {
    waits: editsAndBack(world),
  })
  assert.equal(code, 0)
  assert.equal(stdout, '')
  const turns = logEvents(stderr, 'turn')
  const counts = {
    level: 'info',
    event: 'turn',
    outcome: 'succeeded',
    units: 1,
    failedUnits: 0,
    failedClusters: 0,
    requests: 0,
  }
  assert.deepEqual(
    turns.map(({ ts, msg, durationSeconds, writes, transitions, ...rest }) => {
      assert.equal(durationSeconds, 0)
      assert.deepEqual(rest, counts)
      return [ts, transitions, Number(writes) > 0]
    }),
    [1, 2, 3, 4, 5, 6, 7].map((minute) => [
      `2026-11-21T10:0${minute}:00.000Z`,
      [1, 3, 6].includes(minute) ? 1 : 0,
      [1, 3, 6].includes(minute),
    ]),
  )
  const unit = { level: 'info', event: 'transition', cluster: 'prod', package: 'apps/web' }
  const [first, proposed, withdrawn, ...more] = logEvents(stderr, 'transition')
  assert.deepEqual(more, [])
  assert.deepEqual(first, {
    ...unit,
    ts: '2026-11-21T10:01:00.000Z',
    outcome: 'status',
    state: 'InSync',
    msg: 'apps/web: InSync in prod',
  })
  const branch = String(proposed?.['branch'])
  assert.match(branch, /^proposed\/apps\/web\/drift-[0-9a-f]{8}$/)
  assert.deepEqual(proposed, {
    ...unit,
    ts: '2026-11-21T10:03:00.000Z',
    outcome: 'proposed',
    state: 'Drifted',
    branch,
    msg: `proposed apps/web in prod (${branch})`,
  })
  assert.deepEqual(
    [withdrawn?.['outcome'], withdrawn?.['state'], withdrawn?.['ts']],
    ['withdrawn', 'InSync', '2026-11-21T10:06:00.000Z'],
  )
})

test('--log-level sets the least severe level; -q means warn, -v means trace, and the flag wins', async () => {
  const levels = async (...flags: string[]): Promise<string[]> => {
    const world = new TurnWorld('{mode: Propose}')
    const { listRefs } = world.repository
    const waits = [
      () => (world.repository.listRefs = () => Promise.reject(unreachable())),
      () => (world.repository.listRefs = listRefs),
    ]
    const { stderr } = await runInWorld(world, ['controller', ...flags], { waits })
    return [...new Set(logEvents(stderr).map(({ level }) => level))].sort()
  }
  assert.deepEqual(await levels('--log-level', 'error'), ['error'])
  assert.deepEqual(await levels(), ['error', 'info', 'warn'])
  assert.deepEqual(await levels('--log-level', 'debug'), ['debug', 'error', 'info', 'warn'])
  assert.deepEqual(await levels('-q'), ['error', 'warn'])
  assert.deepEqual(await levels('-v'), ['debug', 'error', 'info', 'warn'])
  assert.deepEqual(await levels('-v', '--log-level', 'warn'), ['error', 'warn'])
  assert.match(
    (await runInWorld(new TurnWorld(), ['controller', '--log-level', 'fatal'])).stderr,
    /BP1001/,
  )
})

test('the log is text on a terminal and JSON elsewhere, unless --log-format says so', async () => {
  for (const [isTTY, flags, json] of [
    [true, [], false],
    [false, [], true],
    [true, ['--log-format', 'json'], true],
    [false, ['--log-format', 'text'], false],
  ] as const) {
    const { stderr } = await runInWorld(new TurnWorld(), ['controller', ...flags], {
      isTTY,
      waits: [],
    })
    assert.equal(stderr.startsWith('{'), json, stderr)
    if (json) logEvents(stderr)
  }
})

test('logs its interval, waits a minute or --interval, and ends with 0 when stopped', async () => {
  for (const [flags, wanted] of [
    [[], 60_000],
    [['--interval', '5m'], 300_000],
  ] as const) {
    const slept: number[] = []
    const { code, stderr } = await runInWorld(new TurnWorld(), ['controller', ...flags], {
      waits: [NOTHING],
      onSleep: (milliseconds) => slept.push(milliseconds),
    })
    assert.equal(code, 0)
    // The grace of a turn is a wait too, where a turn runs when it is stopped; none does here.
    assert.deepEqual(slept, [wanted, wanted])
    const [started] = logEvents(stderr, 'started')
    assert.deepEqual(
      [started?.['intervalSeconds'], started?.['dryRun'], started?.['version']],
      [wanted / 1000, false, '0.0.0'],
    )
    assert.equal(logEvents(stderr, 'stopped').length, 1)
  }
})

test('the controller writes what scan writes', async () => {
  const [scanned, controlled] = [new TurnWorld('{mode: Propose}'), new TurnWorld('{mode: Propose}')]
  for (const world of [scanned, controlled]) world.edit(WEB, 'spec.replicas', 5)
  await runInWorld(scanned, ['scan'])
  await runInWorld(controlled, ['controller'], { waits: [] })
  assert.deepEqual(
    (await controlled.repository.listRefs()).refs,
    (await scanned.repository.listRefs()).refs,
  )
})

test('an outage is one event at its start and one at its end, and its drift is not lost', async () => {
  const world = new TurnWorld('{mode: Propose}')
  const { repository } = world
  const refs = repository.listRefs.bind(repository)
  const { code, stderr } = await runInWorld(world, ['controller'], {
    waits: [
      () => {
        repository.listRefs = () => Promise.reject(unreachable())
      },
      NOTHING,
      NOTHING,
      () => {
        repository.listRefs = () => Promise.reject(unreachable('no route to host'))
      },
      () => {
        repository.listRefs = refs
        world.edit(WEB, 'spec.replicas', 5)
      },
      NOTHING,
    ],
  })
  assert.equal(code, 0)
  const reported = (event: string): unknown[] =>
    logEvents(stderr, event).map(({ level, code: id, why }) => [level, id, why])
  assert.deepEqual(reported('failure'), [['error', 'BP4001', 'the connection was refused']])
  assert.deepEqual(reported('recovered'), [['warn', 'BP4001', 'no route to host']])
  const outcomes = logEvents(stderr, 'turn').map(({ outcome }) => outcome)
  assert.deepEqual(outcomes, [
    'succeeded',
    'failed',
    'failed',
    'failed',
    'failed',
    'succeeded',
    'succeeded',
  ])
  const order = logEvents(stderr).map(({ event }) => event)
  assert.ok(order.lastIndexOf('failure') < order.indexOf('recovered'))
  assert.equal(
    logEvents(stderr, 'transition').filter(({ outcome }) => outcome === 'proposed').length,
    1,
  )
})

test('a failure that a turn could not check again is not reported as recovered', async () => {
  const world = new TurnWorld('{mode: Propose}', BAD_PACKAGE)
  const { repository } = world
  const refs = repository.listRefs.bind(repository)
  const { stderr } = await runInWorld(world, ['controller'], {
    waits: [
      () => {
        repository.listRefs = () => Promise.reject(unreachable())
      },
      () => {
        repository.listRefs = refs
      },
      NOTHING,
    ],
  })
  assert.deepEqual(
    logEvents(stderr, 'failure').map(({ code }) => code),
    ['BP1110', 'BP4001'],
  )
  assert.deepEqual(
    logEvents(stderr, 'recovered').map(({ code }) => code),
    ['BP4001'],
  )
})

test('wrong credentials are reported once, retried slowly and used once corrected', async () => {
  const world = new TurnWorld()
  const { repository } = world
  const refs = repository.listRefs.bind(repository)
  const denied = new Failure({
    code: 'BP4005',
    what: 'no',
    why: 'the token was revoked',
    remedy: 'make one',
    retry: 'on-change',
  })
  const slept: number[] = []
  const { code, stderr } = await runInWorld(world, ['controller'], {
    waits: [
      () => {
        repository.listRefs = () => Promise.reject(denied)
      },
      NOTHING,
      () => {
        repository.listRefs = refs
      },
      NOTHING,
    ],
    onSleep: (milliseconds) => slept.push(milliseconds),
  })
  assert.equal(code, 0)
  assert.deepEqual(
    logEvents(stderr, 'failure').map(({ code: id, remedy }) => [id, remedy]),
    [['BP4005', 'make one']],
  )
  assert.equal(slept[0], 60_000)
  assert.ok(
    slept.slice(1, 3).every((wait) => wait >= 150_000 && wait <= 300_000),
    String(slept),
  )
  assert.equal(slept[3], 60_000)
})

test('an unreadable package blocks no other and is reported once', async () => {
  const world = new TurnWorld('{mode: Propose}', BAD_PACKAGE)
  world.edit(WEB, 'spec.replicas', 5)
  const { stderr } = await runInWorld(world, ['controller'], { waits: [NOTHING, NOTHING] })
  const [proposed] = logEvents(stderr, 'transition')
  assert.deepEqual([proposed?.['outcome'], proposed?.['package']], ['proposed', 'apps/web'])
  const [failure, ...more] = logEvents(stderr, 'failure')
  assert.deepEqual(more, [])
  assert.deepEqual(
    [failure?.['code'], failure?.['cluster'], failure?.['package']],
    ['BP1110', 'prod', 'apps/bad'],
  )
  assert.match(String(failure?.['where']), /apps\/bad\/x\.yaml/)
  for (const field of ['what', 'why', 'remedy'])
    assert.ok(String(failure?.[field]).length > 0, field)
  assert.deepEqual(
    logEvents(stderr, 'turn').map(({ outcome, failedUnits }) => [outcome, failedUnits]),
    [1, 2, 3].map(() => ['partial', 1]),
  )
})

test('a permanently invalid command line ends the controller at once with the exit code of scan', async () => {
  const world = new TurnWorld()
  world.repository.listRefs = () =>
    Promise.reject(
      new Failure({
        code: 'BP1002',
        what: 'no repository',
        why: 'there is none',
        remedy: 'give one',
      }),
    )
  const { code, stderr } = await runInWorld(world, ['controller'], { waits: [NOTHING, NOTHING] })
  assert.equal(code, 2)
  assert.deepEqual(
    logEvents(stderr, 'failure').map(({ code: id }) => id),
    ['BP1002'],
  )
  assert.deepEqual(logEvents(stderr, 'turn'), [])
  const text = await runInWorld(world, ['controller', '--log-format', 'text'], { waits: [] })
  assert.match(
    text.stderr,
    /error BP1002: no repository\n {2}why: there is none\n {2}fix: give one\n$/,
  )
})

test('help and completion know the controller', async () => {
  const world = new TurnWorld()
  assert.match((await runInWorld(world, ['--help'])).stdout, /controller/)
  const help = (await runInWorld(world, ['controller', '--help'])).stdout
  assert.match(help, /--interval[\s\S]*--webhook-address[\s\S]*BACKPORCH_WEBHOOK_SECRET/)
  assert.match((await runInWorld(world, ['__complete', 'cont'])).stdout, /^controller\t/)
  assert.match(
    (await runInWorld(world, ['__complete', 'controller', '--web'])).stdout,
    /^--webhook-address/,
  )
})
