/** What the log of a controller says whose cluster is watched. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, type FailureCode, type Retry } from '@backporch/kyaml/failure'
import { type CliOptions, type CliOutcome, runInWorld } from '../../test/fakes/cli-world.ts'
import { logEvents } from '../../test/fakes/log-events.ts'
import { MemoryForge } from '../../test/fakes/memory-forge.ts'
import { MemoryWatch } from '../../test/fakes/memory-watch.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import { PrometheusMetrics } from '../adapters/metrics/prometheus-metrics.ts'

const NOTHING = (): void => undefined
const IMAGE = 'spec.template.spec.containers[name=app].image'

function failure(code: FailureCode, retry: Retry = 'backoff'): Failure {
  return new Failure({ code, what: 'it does not work', why: 'no', remedy: 'mend it', retry })
}

/** A controller whose watch tells what happens in each wait. */
function runWatched(
  world: TurnWorld,
  flags: readonly string[],
  waits: readonly (() => unknown)[],
  options: CliOptions = {},
): Promise<CliOutcome> {
  const watches: MemoryWatch[] = []
  return runInWorld(world, ['controller', ...flags], {
    ...options,
    openWatch: async (_, observer) => {
      const watch = new MemoryWatch(world.cluster, observer)
      watches.push(watch)
      return watch
    },
    waits: waits.map((wait) => async () => {
      await wait()
      for (const watch of watches) watch.deliver()
      // A change is judged in a few steps.
      for (let step = 0; step < 3; step += 1) await new Promise((resolve) => setImmediate(resolve))
    }),
  })
}

test('a judged change is logged with its cluster and whole milliseconds', async () => {
  const world = new TurnWorld('{mode: Propose}')
  const { stderr } = await runWatched(
    world,
    ['--log-level', 'debug'],
    [NOTHING, NOTHING, () => world.edit(WEB, 'spec.replicas', 5)],
  )
  const [judged, ...more] = logEvents(stderr, 'judged')
  assert.deepEqual(
    [judged?.['cluster'], judged?.['verdict'], more],
    ['prod', 'drifted', []],
    stderr,
  )
  assert.ok(Number.isInteger(judged?.['milliseconds']), String(judged?.['milliseconds']))
})

interface Trouble {
  readonly code: FailureCode
  readonly begin: (world: TurnWorld, forge: MemoryForge) => () => void
}

function refuse<Port extends object>(port: Port, method: keyof Port, thrown: Failure): () => void {
  const own = port[method]
  port[method] = (() => Promise.reject(thrown)) as Port[keyof Port]
  return () => {
    port[method] = own
  }
}

const policy = (mode: string): string =>
  `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: test}\nspec: {mode: ${mode}}\n`

const TROUBLES: Readonly<Record<string, Trouble>> = {
  'git is unreachable': {
    code: 'BP4001',
    begin: ({ repository }) => refuse(repository, 'listRefs', failure('BP4001')),
  },
  'git rejects pushes': {
    code: 'BP4002',
    begin: ({ repository }) => refuse(repository, 'push', failure('BP4002', 'on-change')),
  },
  'git disappears during a push': {
    code: 'BP4001',
    begin: ({ repository }) => refuse(repository, 'push', failure('BP4001')),
  },
  'the git token is revoked': {
    code: 'BP4005',
    begin: ({ repository }) => refuse(repository, 'listRefs', failure('BP4005', 'on-change')),
  },
  'the forge is unreachable': {
    code: 'BP5001',
    begin: (_, forge) => refuse(forge, 'readProposals', failure('BP5001')),
  },
  'the forge token is revoked': {
    code: 'BP5002',
    begin: (_, forge) => refuse(forge, 'readProposals', failure('BP5002', 'on-change')),
  },
  'the policy is invalid': {
    code: 'BP1005',
    begin: ({ repository }) => {
      repository.commitByHand('main', { '.drift/policy.yaml': policy('Propse') })
      return () => repository.commitByHand('main', { '.drift/policy.yaml': policy('Propose') })
    },
  },
  'the cluster is unreachable': {
    code: 'BP3001',
    begin: ({ cluster }) => {
      cluster.unreachable = failure('BP3001')
      return () => {
        cluster.unreachable = undefined
      }
    },
  },
}

for (const [name, { code, begin }] of Object.entries(TROUBLES))
  test(`with two outages because ${name}, two failures begin and end and the edit is proposed`, async () => {
    const world = new TurnWorld('{mode: Propose}')
    const forge = new MemoryForge(world.repository)
    world.forge = forge
    world.edit(WEB, 'spec.replicas', 5)
    let end = NOTHING
    const outage = (image: string) => () => {
      end = begin(world, forge)
      world.edit(WEB, IMAGE, image)
    }
    const waits = [
      NOTHING,
      NOTHING,
      outage('nginx:1.28'),
      NOTHING,
      () => end(),
      NOTHING,
      NOTHING,
      NOTHING,
    ]
    const again = [
      outage('evil.example.com/nginx:1.28'),
      NOTHING,
      () => end(),
      NOTHING,
      NOTHING,
      NOTHING,
    ]
    const { stderr } = await runWatched(world, ['--log-level', 'warn'], [...waits, ...again])
    const events = logEvents(stderr).map(({ event, code: id }) => [event, id])
    const once = [
      ['failure', code],
      ['recovered', code],
    ]
    assert.deepEqual(events, [...once, ...once])
    const [proposal, ...more] = forge.proposals
    assert.deepEqual(more, [])
    assert.match(proposal?.body ?? '', /evil\.example\.com/)
  })

test('an edit during an outage is proposed by the first turn that reaches git, without back-off', async () => {
  const world = new TurnWorld('{mode: Propose}')
  let end = NOTHING
  const begin = () => {
    end = refuse(world.repository, 'listRefs', failure('BP4001'))
    world.edit(WEB, IMAGE, 'nginx:1.28')
  }
  const flags = ['--interval', '1h', '--resync-interval', '24h']
  const { stderr } = await runWatched(world, flags, [
    NOTHING,
    NOTHING,
    begin,
    NOTHING,
    NOTHING,
    () => end(),
  ])
  const told = logEvents(stderr).filter(
    ({ event, outcome }) => event === 'failure' || event === 'recovered' || outcome === 'proposed',
  )
  assert.deepEqual(
    told.map(({ event }) => event),
    ['failure', 'transition', 'recovered'],
  )
})

test('an outage without changes ends in log and metric too, and level warn prints begin and end', async () => {
  const world = new TurnWorld('{mode: Propose}')
  const metrics = new PrometheusMetrics({
    version: '1',
    clock: { now: () => new Date(world.cluster.now) },
  })
  const seen: string[] = []
  const look = async (): Promise<void> => {
    seen.push(
      /^backporch_failures\{code="BP4001"\} (\d+)$/m.exec(await metrics.renderExposition())?.[1] ??
        'none',
    )
  }
  let end = NOTHING
  const begin = () => {
    end = refuse(world.repository, 'listRefs', failure('BP4001'))
  }
  const outage = [begin, look, () => end(), look, look]
  const flags = ['--log-format', 'text', '--log-level', 'warn', '--http-address', '9090']
  const openMonitoring = async () => ({
    url: 'http://127.0.0.1:9090/metrics',
    close: async () => undefined,
    metrics,
  })
  const { stderr } = await runWatched(world, flags, [NOTHING, NOTHING, ...outage, ...outage], {
    openMonitoring,
  })
  const lines = stderr.split('\n').filter((line) => line.includes('BP4001'))
  assert.deepEqual(
    lines.map((line) => line.slice('2026-11-21T10:04:00Z  '.length)),
    [
      'error BP4001: it does not work',
      'the error is gone: BP4001: it does not work',
      'error BP4001: it does not work',
      'the error is gone: BP4001: it does not work',
    ],
  )
  assert.deepEqual(seen, ['1', 'none', 'none', '1', 'none', 'none'])
})

test('a gauge counts critical drift found while git is unreachable, until a turn records it', async () => {
  const world = new TurnWorld('{mode: Propose}')
  const metrics = new PrometheusMetrics({
    version: '1',
    clock: { now: () => new Date(world.cluster.now) },
  })
  const seen: (string | undefined)[] = []
  const look = async (): Promise<void> => {
    seen.push(
      /^backporch_unrecorded_drift_objects(\{.*\} \d+)$/m.exec(
        await metrics.renderExposition(),
      )?.[1],
    )
  }
  let end = NOTHING
  const begin = () => {
    end = refuse(world.repository, 'listRefs', failure('BP4001'))
    world.edit(WEB, IMAGE, 'evil.example.com/nginx:1.28')
  }
  const openMonitoring = async () => ({
    url: 'http://127.0.0.1:9090/metrics',
    close: async () => undefined,
    metrics,
  })
  const waits = [NOTHING, look, begin, look, look, () => end(), look]
  await runWatched(world, ['--http-address', '9090'], waits, { openMonitoring })
  const drifted = '{cluster="prod",package="apps/web",risk="critical"} 1'
  assert.deepEqual(seen, [undefined, drifted, drifted, undefined])
})

const API = {
  'apps/api/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: api}\n',
  'apps/api/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: api, namespace: shop}\ndata: {a: b}\n',
}

test('missing rights are one failure with the rule, in log and metric, each time they go missing', async () => {
  const world = new TurnWorld('{mode: Propose}', API)
  const metrics = new PrometheusMetrics({
    version: '1',
    clock: { now: () => new Date(world.cluster.now) },
  })
  const seen: (string | undefined)[] = []
  const look = async (): Promise<void> => {
    seen.push(
      /^backporch_failures\{code="BP3003"\} (\d+)$/m.exec(await metrics.renderExposition())?.[1],
    )
  }
  const take = () => world.cluster.unreadable.add('apps/Deployment')
  const other = (value: string) => async () => {
    await look()
    world.edit('/ConfigMap/shop/api', 'data.a', value)
  }
  const give = () => {
    world.cluster.unreadable.delete('apps/Deployment')
    world.edit(WEB, IMAGE, 'evil.example.com/nginx:1.28')
  }
  const outage = (value: string) => [
    take,
    NOTHING,
    NOTHING,
    other(value),
    look,
    give,
    NOTHING,
    look,
  ]
  const openMonitoring = async () => ({
    url: 'http://127.0.0.1:9090/metrics',
    close: async () => undefined,
    metrics,
  })
  const waits = [NOTHING, NOTHING, ...outage('c'), ...outage('d')]
  const { stderr } = await runWatched(world, ['--http-address', '9090'], waits, { openMonitoring })
  const events = logEvents(stderr).filter(
    ({ event }) => event === 'failure' || event === 'recovered',
  )
  const once = [
    ['failure', 'error', 'BP3003', 'prod', 'allow it'],
    ['recovered', 'warn', 'BP3003', 'prod', undefined],
  ]
  assert.deepEqual(
    events.map(({ event, level, code, cluster, remedy }) => [event, level, code, cluster, remedy]),
    [...once, ...once],
  )
  assert.deepEqual(
    [events[0]?.['what'], events[0]?.['where']],
    ['the account lacks rights for 1 object of 1 package', 'cluster prod: Deployment shop/web'],
  )
  assert.deepEqual(seen, ['1', '1', undefined, '1', '1', undefined])
  assert.ok(world.repository.names().some((name) => name.startsWith('proposed/apps/web/')))
  const unread = logEvents(stderr, 'turn').filter(({ failedUnits }) => failedUnits === 1)
  assert.ok(unread.length > 0)
  assert.deepEqual([...new Set(unread.map(({ outcome }) => outcome))], ['partial'])
})

test('a turn about another package does not end the failure of an unreadable object', async () => {
  const world = new TurnWorld('{mode: Propose}', API)
  const edits = ['c', 'd'].map((value) => () => world.edit('/ConfigMap/shop/api', 'data.a', value))
  const begin = () => {
    world.cluster.unreadable.add(WEB)
    world.edit(WEB, 'spec.replicas', 5)
  }
  const { stderr } = await runWatched(
    world,
    ['--interval', '1h', '--resync-interval', '24h'],
    [NOTHING, NOTHING, begin, ...edits, NOTHING],
  )
  const turns = logEvents(stderr, 'turn').map(({ units, failedUnits }) => [units, failedUnits])
  assert.deepEqual(turns.slice(-3), [
    [1, 1],
    [1, 0],
    [1, 0],
  ])
  const ends = logEvents(stderr).filter(({ event }) => event === 'failure' || event === 'recovered')
  assert.deepEqual(
    ends.map(({ event, what }) => [event, what]),
    [['failure', 'cannot read 1 object of 1 package']],
  )
})

test('the failure of the only cluster names the cluster, even without a watch', async () => {
  const world = new TurnWorld('{mode: Propose}')
  const waits = [
    () => (world.cluster.unreachable = failure('BP3001')),
    () => (world.cluster.unreachable = undefined),
    NOTHING,
  ]
  const { stderr } = await runInWorld(world, ['controller', '-q'], { waits })
  assert.deepEqual(
    logEvents(stderr).map(({ event, code, cluster }) => [event, code, cluster]),
    [
      ['failure', 'BP3001', 'prod'],
      ['recovered', 'BP3001', 'prod'],
    ],
  )
})
