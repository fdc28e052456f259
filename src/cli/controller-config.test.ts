/** `controller --config`: several repositories of one file. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterWatch, WatchObserver } from '@backporch/cluster/cluster-watch'
import { Failure } from '@backporch/kyaml/failure'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { logEvents } from '../../test/fakes/log-events.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import { waitUntil } from '../../test/waiting/wait-until.ts'
import type { ClusterTarget, WantedAuditHook, WantedWebhooks } from './context/cli-context.ts'

const NOTHING = (): void => undefined
/** Milliseconds; only the loop of a repository that has ended its turn sleeps longer than the look at the file. */
const LOOK = 5_000

/** Waits for what the turns of two repositories do, which end in any order. */
function waitsUntil(
  what: string,
  done: () => boolean,
): { readonly waits: (() => Promise<boolean>)[]; onSleep(milliseconds: number): void } {
  let ended = 0
  const wait = () => waitUntil(`${what}, and the turns have ended`, () => done() && ended >= 2)
  return {
    waits: Array.from({ length: 6 }, () => wait),
    onSleep: (milliseconds) => {
      if (milliseconds > LOOK) ended += 1
    },
  }
}
const HEAD = 'apiVersion: backporch.dev/v1alpha1\nkind: ControllerConfig\nspec:\n  repositories:\n'
const [ONE, OTHER] = ['https://git.example.com/acme/one', 'git@git.example.com:acme/other.git']
const file = (...repositories: readonly string[]): string =>
  `${HEAD}${repositories.map((one) => `    - ${one}\n`).join('')}`
const BOTH = file(
  `{repo: "${ONE}", contexts: [prod]}`,
  `{repo: "${OTHER}", clusters: [{context: prod}]}`,
)

/** The file, which may change. */
function configured(text: string) {
  const config = { text, failure: undefined as Failure | undefined }
  const readConfig = async (path: string): Promise<string> => {
    assert.equal(path, 'c.yaml')
    if (config.failure !== undefined) throw config.failure
    return config.text
  }
  return { config, readConfig }
}

test('each repository in the file has its own turns and its name in the events', async () => {
  const [world, second] = [new TurnWorld('{mode: Propose}'), new TurnWorld('{mode: Propose}')]
  for (const one of [world, second]) one.edit(WEB, 'spec.replicas', 5)
  const openRepository = async (remote: string) => (remote === ONE ? world : second).repository
  const pushed = (times: number) => () =>
    [world, second].every(({ repository }) => repository.pushes.length >= times)
  const options = {
    ...configured(BOTH),
    openRepository,
    ...waitsUntil('both are pushed', pushed(1)),
  }
  const { code, stdout, stderr } = await runInWorld(
    world,
    ['controller', '--config', 'c.yaml'],
    options,
  )
  assert.deepEqual([code, stdout], [0, ''], stderr)
  const proposed = logEvents(stderr, 'transition').filter(({ outcome }) => outcome === 'proposed')
  assert.deepEqual(proposed.map(({ repository }) => repository).sort(), [
    'git.example.com/acme/one',
    'git.example.com/acme/other',
  ])
  assert.equal(logEvents(stderr, 'started')[0]?.['repository'], undefined)
  const before = second.repository.pushes.length
  world.edit(WEB, 'spec.replicas', 3)
  const withdrawn = (): boolean => second.repository.pushes.length > before
  const flags = ['--log-format', 'text']
  const text = await runInWorld(world, ['controller', '--config', 'c.yaml', ...flags], {
    ...options,
    ...waitsUntil('it is withdrawn', withdrawn),
  })
  assert.match(
    text.stderr,
    /^\S+Z {2}\[git\.example\.com\/acme\/other\] withdrawn apps\/web in prod$/m,
  )
})

test('a cluster of two repositories is watched once, with its name and kubeconfig', async () => {
  const opened: ClusterTarget[] = []
  let [closed, followed] = [0, 0]
  const openWatch = async (
    target: ClusterTarget,
    observer: WatchObserver,
  ): Promise<ClusterWatch> => {
    opened.push(target)
    // The epochs are known once their kinds are listed.
    const follow: ClusterWatch['follow'] = (kinds) => {
      followed += 1
      for (const kind of kinds) {
        observer.beginList(kind)
        observer.finishList(kind)
      }
    }
    const close = async (): Promise<void> => {
      closed += 1
    }
    return { cluster: 'eu', follow, state: () => [], close }
  }
  const cluster = '{name: eu, context: prod, kubeconfig: /k}'
  const { readConfig } = configured(
    file(`{repo: "${ONE}", clusters: [${cluster}]}`, `{repo: "${OTHER}", clusters: [${cluster}]}`),
  )
  const { code } = await runInWorld(new TurnWorld(), ['controller', '--config', 'c.yaml'], {
    readConfig,
    openWatch,
    // When a view is opened and when a turn ended; a kind that is listed again takes one more.
    waits: Array.from(
      { length: 6 },
      () => () => waitUntil('the kinds are followed', () => followed >= 5),
    ),
  })
  assert.equal(code, 0)
  assert.deepEqual(
    opened.map(({ context, kubeconfig, cluster: name }) => [context, kubeconfig, name]),
    [['prod', '/k', 'eu']],
  )
  assert.equal(closed, 1)
})

test('one webhook listener and one audit listener serve all repositories and clusters', async () => {
  let webhooks: WantedWebhooks | undefined
  let audit: WantedAuditHook | undefined
  let remotes: readonly string[] | undefined
  const { readConfig } = configured(BOTH)
  const flags = ['--webhook-address', '8080', '--audit-webhook-address', '8081']
  const { code } = await runInWorld(
    new TurnWorld(),
    ['controller', '--config', 'c.yaml', ...flags],
    {
      readConfig,
      env: { BACKPORCH_WEBHOOK_SECRET: 'one-one-one-one-' },
      openWebhooks: async (wanted) => {
        webhooks = wanted
        return { url: 'http://127.0.0.1:8080/webhook', close: async () => undefined }
      },
      openAuditHook: async (wanted) => {
        audit = wanted
        const source = { writesTo: async () => ({ writes: new Map(), notes: [] }) }
        return { url: 'http://127.0.0.1:8081/audit', close: async () => undefined, source }
      },
      waits: [
        () => {
          remotes = webhooks?.remotes()
        },
      ],
    },
  )
  assert.equal(code, 0)
  assert.deepEqual([webhooks?.remote, remotes, audit?.named], [undefined, [ONE, OTHER], true])
})

test('rejects flags for settings that the file gives per repository', async () => {
  for (const flags of [
    ['--repo', 'x'],
    ['--branch', 'main'],
    ['--context', 'prod'],
    ['--contexts', 'prod,edge'],
    ['--cluster', 'prod'],
    ['--live', 'x.yaml'],
    ['--forge', 'github'],
    ['--package', 'apps/web'],
    ['-l', 'team=shop'],
    ['--path', 'apps'],
    ['--field-manager', 'x'],
    ['--audit-log', 'x'],
    ['apps/web'],
  ]) {
    const { code, stderr } = await runInWorld(
      new TurnWorld(),
      ['controller', '--config', 'c.yaml', ...flags],
      configured(BOTH),
    )
    assert.equal(code, 2, flags.join(' '))
    assert.match(stderr, /BP1001/, flags.join(' '))
  }
})

test('an invalid or unreadable file ends the controller at its start with exit code 2', async () => {
  const invalid = await runInWorld(
    new TurnWorld(),
    ['controller', '--config', 'c.yaml'],
    configured(file('{repo: a}', '{repos: b}')),
  )
  assert.equal(invalid.code, 2)
  const [failure, ...more] = logEvents(invalid.stderr)
  assert.deepEqual([failure?.event, failure?.['code'], more], ['failure', 'BP1005', []])
  assert.match(String(failure?.['why']), /c\.yaml:5.*c\.yaml:6/s)
  const { readConfig, config } = configured('')
  config.failure = new Failure({
    code: 'BP1001',
    what: 'the configuration of the controller cannot be read',
    why: 'no',
    remedy: 'no',
  })
  assert.equal(
    (await runInWorld(new TurnWorld(), ['controller', '--config', 'c.yaml'], { readConfig })).code,
    2,
  )
})

/** Waits end in an order that depends on the repositories; what happens at each of them is for the file alone. */
async function reloaded(...texts: readonly (string | Failure)[]) {
  const { config, readConfig } = configured(file(`{repo: "${ONE}", contexts: [prod]}`))
  const looks = { count: 0 }
  const look = async (path: string): Promise<string> => {
    const next = texts[Math.min(looks.count - 1, texts.length - 1)]
    config.failure = next instanceof Failure ? next : undefined
    if (typeof next === 'string') config.text = next
    looks.count += 1
    return readConfig(path)
  }
  const opened: string[] = []
  const world = new TurnWorld()
  const { stderr } = await runInWorld(world, ['controller', '--config', 'c.yaml'], {
    readConfig: look,
    openRepository: async (remote) => {
      opened.push(remote)
      return world.repository
    },
    waits: Array.from({ length: 6 * (texts.length + 2) }, () => NOTHING),
  })
  assert.ok(looks.count > texts.length, `${looks.count} looks`)
  const of = (event: string): unknown[] => logEvents(stderr, event).map(({ code }) => code)
  return {
    opened: [...new Set(opened)],
    failures: of('failure'),
    recovered: of('recovered'),
    configured: logEvents(stderr, 'configured'),
  }
}

test('a file with another repository is used after two equal reads', async () => {
  const both = await reloaded(BOTH, BOTH, BOTH)
  assert.deepEqual([both.opened, both.failures, both.configured.length], [[ONE, OTHER], [], 1])
  const first = file(`{repo: "${ONE}", contexts: [prod]}`)
  const written = await reloaded(BOTH, first, first)
  assert.deepEqual([written.opened, written.configured], [[ONE], []])
})

test('an invalid or missing file is reported once, and the previous one stays in use', async () => {
  const half = BOTH.slice(0, -20)
  const invalid = await reloaded(half, half, half, half)
  assert.deepEqual(
    [invalid.opened, invalid.failures, invalid.recovered, invalid.configured],
    [[ONE], ['BP1005'], [], []],
  )
  const corrected = await reloaded(half, half, half, BOTH, BOTH)
  assert.deepEqual(
    [corrected.opened, corrected.failures, corrected.recovered],
    [[ONE, OTHER], ['BP1005'], ['BP1005']],
  )
  const gone = new Failure({ code: 'BP1001', what: 'it cannot be read', why: 'no', remedy: 'no' })
  const first = file(`{repo: "${ONE}", contexts: [prod]}`)
  const lost = await reloaded(gone, gone, gone, first, first)
  assert.deepEqual(
    [lost.opened, lost.failures, lost.recovered, lost.configured],
    [[ONE], ['BP1001'], ['BP1001'], []],
  )
})

test('help and completion know the flag --config', async () => {
  const world = new TurnWorld()
  assert.match((await runInWorld(world, ['controller', '--help'])).stdout, /--config <path>/)
  assert.match(
    (await runInWorld(world, ['__complete', 'controller', '--conf'])).stdout,
    /^--config\t/,
  )
  assert.equal(
    (await runInWorld(world, ['__complete', 'controller', '--config', ''])).stdout,
    ':files\n',
  )
})
