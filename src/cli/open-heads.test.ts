/** Pull requests of people get `drift/fresh`, which their repository may require. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { type CliOptions, runInWorld } from '../../test/fakes/cli-world.ts'
import { logEvents } from '../../test/fakes/log-events.ts'
import { MemoryForge } from '../../test/fakes/memory-forge.ts'
import { TurnWorld } from '../../test/fakes/turn-world.ts'
import { PrometheusMetrics } from '../adapters/metrics/prometheus-metrics.ts'
import { MOST_HEADS } from '../plan/turn/forge/plan-open-heads.ts'

const NOTHING = (): void => undefined
const POSTED = 'status drift/fresh success'

function worldWith(policy: string | undefined): {
  readonly world: TurnWorld
  readonly forge: MemoryForge
  push(): void
} {
  const world = new TurnWorld(policy)
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  world.repository.branches.set('refs/heads/change', world.repository.head('main'))
  let count = 0
  const push = (): void => {
    count += 1
    const commit = world.repository.commitByHand('change', { 'README.md': `words ${count}\n` })
    forge.pullRequests.splice(0, 1, {
      number: 7,
      label: '#7',
      url: '',
      baseBranch: 'main',
      branch: 'change',
      fork: false,
      open: true,
      commit,
    })
  }
  push()
  return { world, forge, push }
}

test('the controller sets the status once per head, even when nothing else changed', async () => {
  const { world, forge, push } = worldWith('{mode: Warn}')
  const { code, stderr } = await runInWorld(world, ['controller'], {
    waits: [NOTHING, NOTHING, push, NOTHING],
  })
  assert.equal(code, 0, stderr)
  assert.deepEqual(forge.writes, [POSTED, POSTED])
})

test('a metric counts the heads that wait for the next pass', async () => {
  const { world, forge } = worldWith('{mode: Warn}')
  for (let number = 8; number < 8 + MOST_HEADS + 4; number += 1) {
    const branch = `change-${number}`
    world.repository.branches.set(`refs/heads/${branch}`, world.repository.head('main'))
    const commit = world.repository.commitByHand(branch, { 'README.md': `words ${number}\n` })
    forge.pullRequests.push({
      number,
      label: '',
      url: '',
      baseBranch: 'main',
      branch,
      fork: false,
      open: true,
      commit,
    })
  }
  const metrics = new PrometheusMetrics({
    version: '0.0.0',
    clock: { now: () => new Date(world.cluster.now) },
  })
  const seen: (string | undefined)[] = []
  const look = async () =>
    void seen.push(
      /^backporch_pull_requests_without_status (\d+)$/m.exec(await metrics.renderExposition())?.[1],
    )
  const openMonitoring: CliOptions['openMonitoring'] = async () => ({
    metrics,
    url: 'http://localhost/metrics',
    close: async () => undefined,
  })
  assert.equal(
    (
      await runInWorld(world, ['controller', '--http-address', '0'], {
        openMonitoring,
        waits: [look, look],
      })
    ).code,
    0,
  )
  assert.deepEqual(seen, ['5', '0'])
})

test('scan sets the status, and a dry run does not', async () => {
  const { world, forge } = worldWith('{mode: Propose}')
  assert.equal((await runInWorld(world, ['scan', '--dry-run'])).code, 0)
  assert.deepEqual(forge.writes, [])
  assert.equal((await runInWorld(world, ['scan'])).code, 0)
  assert.deepEqual(forge.writes, [POSTED])
})

test('a repository without a policy gets no status', async () => {
  const { world, forge } = worldWith('{mode: Propose}')
  const policies = world.repository.paths('main').filter((path) => path.startsWith('.drift/'))
  world.repository.commitByHand('main', Object.fromEntries(policies.map((path) => [path, null])))
  await runInWorld(world, ['scan'])
  assert.deepEqual(forge.writes, [])
})

test('if setting fails, scan and controller say what not to require, and continue', async () => {
  const { world, forge } = worldWith('{mode: Propose}')
  forge.ensureStatuses = () =>
    Promise.reject(
      new Failure({
        code: 'BP5003',
        what: 'cannot set the statuses',
        why: 'it refuses',
        remedy: 'give the right',
      }),
    )
  const scanned = await runInWorld(world, ['scan'])
  assert.equal(scanned.code, 0)
  assert.match(scanned.stderr, /status-not-written|BP5003/)
  const { code, stderr } = await runInWorld(world, ['controller'], { waits: [NOTHING, NOTHING] })
  assert.equal(code, 0)
  assert.deepEqual(
    logEvents(stderr, 'note').map(({ cause }) => cause),
    ['status-not-written'],
  )
})

test('the controller continues past heads that reject the status, and reports each once', async () => {
  const { world, forge } = worldWith('{mode: Warn}')
  const heads = ['7', ...Array.from({ length: MOST_HEADS + 1 }, (_, index) => String(index + 8))]
  for (const number of heads.slice(1)) {
    world.repository.branches.set(`refs/heads/change-${number}`, world.repository.head('main'))
    const commit = world.repository.commitByHand(`change-${number}`, {
      'README.md': `words ${number}\n`,
    })
    const about = {
      number: Number(number),
      label: '',
      url: '',
      baseBranch: 'main',
      branch: `change-${number}`,
      fork: false,
      open: true,
    }
    forge.pullRequests.push({ ...about, commit })
  }
  const listed = (
    await forge.readOpenHeads({ baseBranch: 'main', context: 'drift/fresh', refs: new Map() })
  ).map(({ commit }) => commit)
  const full = new Set(listed.slice(0, MOST_HEADS))
  const write = forge.ensureStatuses.bind(forge)
  let asked = 0
  forge.ensureStatuses = (commit, statuses) => {
    if (!full.has(commit)) return write(commit, statuses)
    asked += 1
    return Promise.reject(
      new Failure({
        code: 'BP5006',
        what: 'cannot set the statuses',
        why: 'it has too many',
        remedy: 'none',
      }),
    )
  }
  const { code, stderr } = await runInWorld(world, ['controller'], {
    waits: [NOTHING, NOTHING, NOTHING],
  })
  assert.equal(code, 0, stderr)
  assert.deepEqual(forge.writes, Array(heads.length - MOST_HEADS).fill(POSTED))
  assert.equal(asked, MOST_HEADS)
  const told = logEvents(stderr, 'note').filter(({ cause }) => cause === 'status-not-written')
  assert.equal(
    told.reduce((sum, { count }) => sum + Number(count ?? 1), 0),
    MOST_HEADS,
  )
})

test('check counts pull requests without the status, and warns not to require it yet', async () => {
  const { world } = worldWith('{mode: Propose}')
  const probes = async () => ({
    push: async () => [],
    forge: async () => [],
    access: async () => ({ rules: [], incomplete: false, serverTime: undefined }),
    keySource: async () => ({ from: 'environment', path: '/key' }) as const,
    signingKey: async () => undefined,
    hasGitIdentity: async () => true,
  })
  const check = () => runInWorld(world, ['check', '--repo', 'deploy', '--live', 'live'], { probes })
  const before = await check()
  assert.equal(before.code, 0, before.stderr)
  assert.match(
    before.stdout,
    /^! pull requests: 1 open one into main without drift\/fresh, which must not be required/m,
  )
  await runInWorld(world, ['scan'])
  assert.match(
    (await check()).stdout,
    /^✓ pull requests: each open one into main has drift\/fresh$/m,
  )
})
