import assert from 'node:assert/strict'
import { test } from 'node:test'
import { opened } from '../../test/fakes/answered-proposal.ts'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import { Failure } from '../failure.ts'
import type { ButtonPress } from '../ports/check-run.ts'
import { checkKey } from '../proposal/text/check-run-text.ts'
import { listenAddress } from './flags/controller-options.ts'
import type { WantedWebhooks } from './world.ts'

const NOTHING = (): void => undefined

function unreachable(why = 'the connection was refused'): Failure {
  return new Failure({ code: 'BP4001', what: 'the repository cannot be reached', why, remedy: 'try again', retry: 'backoff' })
}

test('a turn that did something is one line with time and place, and quiet turns print nothing', async () => {
  const world = new TurnWorld('{mode: Propose}')
  const { code, stdout } = await runInWorld(world, ['controller', '-q'], {
    waits: [NOTHING, () => world.edit(WEB, 'spec.replicas', 5), NOTHING, NOTHING, () => world.edit(WEB, 'spec.replicas', 3), NOTHING],
  })
  assert.equal(code, 0)
  const lines = stdout.trim().split('\n')
  assert.equal(lines.length, 3, stdout)
  assert.match(lines[0] ?? '', /^2026-11-21T10:01:00Z {2}/)
  assert.match(lines[1] ?? '', /^2026-11-21T10:03:00Z {2}proposed apps\/web in prod \(proposed\/apps\/web\/drift-[0-9a-f]{8}\)$/)
  assert.match(lines[2] ?? '', /^2026-11-21T10:06:00Z {2}withdrawn apps\/web in prod/)
})

test('it says how often it looks, waits a minute or what --interval says, and ends with 0 when it is stopped', async () => {
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
    assert.match(stderr, new RegExp(`^a turn every ${wanted / 1000}s$`, 'm'))
  }
})

test('what scan writes, the controller writes', async () => {
  const [scanned, controlled] = [new TurnWorld('{mode: Propose}'), new TurnWorld('{mode: Propose}')]
  for (const world of [scanned, controlled]) world.edit(WEB, 'spec.replicas', 5)
  await runInWorld(scanned, ['scan'])
  await runInWorld(controlled, ['controller'], { waits: [] })
  assert.deepEqual((await controlled.repository.refs()).refs, (await scanned.repository.refs()).refs)
})

test('an error is told once, another one too, and that they are gone; drift meanwhile is not lost', async () => {
  const world = new TurnWorld('{mode: Propose}')
  const { repository } = world
  const refs = repository.refs.bind(repository)
  const { code, stdout, stderr } = await runInWorld(world, ['controller'], {
    waits: [
      () => {
        repository.refs = () => Promise.reject(unreachable())
      },
      NOTHING,
      NOTHING,
      () => {
        repository.refs = () => Promise.reject(unreachable('no route to host'))
      },
      () => {
        repository.refs = refs
        world.edit(WEB, 'spec.replicas', 5)
      },
      NOTHING,
    ],
  })
  assert.equal(code, 0)
  assert.equal(stderr.match(/error BP4001/g)?.length, 2, stderr)
  assert.equal(stderr.match(/the errors are gone/g)?.length, 1)
  assert.match(stdout, /proposed apps\/web/)
})

test('the credentials are wrong: told once, asked again slowly, and used when they are right', async () => {
  const world = new TurnWorld()
  const { repository } = world
  const refs = repository.refs.bind(repository)
  const denied = new Failure({ code: 'BP4005', what: 'no', why: 'the token was revoked', remedy: 'make one', retry: 'on-change' })
  const slept: number[] = []
  const { code, stderr } = await runInWorld(world, ['controller'], {
    waits: [
      () => {
        repository.refs = () => Promise.reject(denied)
      },
      NOTHING,
      () => {
        repository.refs = refs
      },
      NOTHING,
    ],
    onSleep: (milliseconds) => slept.push(milliseconds),
  })
  assert.equal(code, 0)
  assert.equal(stderr.match(/error BP4005/g)?.length, 1)
  assert.equal(slept[0], 60_000)
  assert.ok(
    slept.slice(1, 3).every((wait) => wait >= 150_000 && wait <= 300_000),
    String(slept),
  )
  assert.equal(slept[3], 60_000)
})

test('one package that cannot be read holds up no other one and is told once', async () => {
  const world = new TurnWorld('{mode: Propose}', {
    'apps/bad/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: bad}\n',
    'apps/bad/x.yaml': 'a: [\n',
  })
  world.edit(WEB, 'spec.replicas', 5)
  const { stdout, stderr } = await runInWorld(world, ['controller'], { waits: [NOTHING, NOTHING] })
  assert.match(stdout, /proposed apps\/web/)
  assert.equal(stderr.match(/error BP1110/g)?.length, 1, stderr)
})

test('a command line that can never work ends it at once with the exit code of scan', async () => {
  const world = new TurnWorld()
  world.repository.refs = () =>
    Promise.reject(new Failure({ code: 'BP1002', what: 'no repository', why: 'there is none', remedy: 'give one' }))
  const { code, stderr } = await runInWorld(world, ['controller'], { waits: [NOTHING, NOTHING] })
  assert.equal(code, 2)
  assert.equal(stderr.match(/error BP1002/g)?.length, 1)
})

function hooks(use: (wanted: WantedWebhooks) => void, onClose: () => void = NOTHING) {
  return {
    env: { BACKPORCH_WEBHOOK_SECRET: 'one-one-one-one-, two-two-two-two-\n' },
    openWebhooks: async (wanted: WantedWebhooks) => {
      use(wanted)
      return { url: 'http://127.0.0.1:8080/webhook', close: async () => onClose() }
    },
  }
}

test('it does not listen without a secret, and then does nothing else either', async () => {
  for (const secret of [undefined, '', ' ', ',', '\n']) {
    const world = new TurnWorld('{mode: Propose}')
    world.edit(WEB, 'spec.replicas', 5)
    const before = (await world.repository.refs()).refs.size
    const { code, stderr } = await runInWorld(world, ['controller', '--webhook-address', ':8080'], {
      waits: [NOTHING],
      env: { BACKPORCH_WEBHOOK_SECRET: secret },
    })
    assert.equal(code, 2)
    assert.match(stderr, /error BP1001: .*no secret/)
    assert.equal((await world.repository.refs()).refs.size, before)
  }
})

test('a secret of fewer than 16 characters is refused at the start, and not printed', async () => {
  for (const secret of ['fifteen-letters', 'long-enough-secret,short-secret', 'x']) {
    const world = new TurnWorld('{mode: Propose}')
    const { code, stdout, stderr } = await runInWorld(world, ['controller', '--webhook-address', ':8080'], {
      waits: [NOTHING],
      env: { BACKPORCH_WEBHOOK_SECRET: secret },
    })
    assert.equal(code, 2)
    assert.match(stderr, /error BP1001: the secret of the webhook is too short/)
    assert.doesNotMatch(stdout + stderr, /fifteen-letters|short-secret/)
  }
})

test('it listens where it was told, with every secret, and closes when it ends; no secret is printed', async () => {
  let asked: WantedWebhooks | undefined
  let closed = 0
  const world = new TurnWorld()
  const { code, stdout, stderr } = await runInWorld(world, ['controller', '--webhook-address', '[::1]:9000', '--repo', 'https://x/a/b'], {
    ...hooks(
      (wanted) => {
        asked = wanted
      },
      () => {
        closed += 1
      },
    ),
    waits: [NOTHING],
  })
  assert.equal(code, 0)
  assert.deepEqual(asked?.address, { host: '::1', port: 9000 })
  assert.deepEqual(asked?.secrets, ['one-one-one-one-', 'two-two-two-two-'])
  assert.equal(asked?.remote, 'https://x/a/b')
  assert.equal(closed, 1)
  assert.match(stderr, /when a webhook comes to http:\/\/127\.0\.0\.1:8080\/webhook$/m)
  assert.doesNotMatch(stdout + stderr, /one-one|two-two/)
})

test('a button that somebody pressed is done by the next turn, once', async () => {
  const { world, forge, ref } = await opened()
  const press: ButtonPress = {
    id: 'press-1',
    key: checkKey(ref),
    commit: world.repository.branches.get(ref) ?? '',
    button: 'adopt',
    login: 'ada',
    bot: false,
    at: '2026-11-21T10:00:30Z',
  }
  let wanted: WantedWebhooks | undefined
  const { stderr } = await runInWorld(world, ['controller', '--webhook-address', '8080'], {
    ...hooks((given) => {
      wanted = given
    }),
    waits: [() => wanted?.onNews(press), NOTHING, NOTHING],
  })
  assert.equal(stderr.match(/#1 button Switch to adopt of ada: done/g)?.length, 1, stderr)
  assert.match(forge.proposals[0]?.body ?? '', /It was Restore before, changed by `ada`/)
})

test('refused webhooks are told, and a flood of them once', async () => {
  let wanted: WantedWebhooks | undefined
  const { stderr } = await runInWorld(new TurnWorld(), ['controller', '--webhook-address', '8080'], {
    ...hooks((given) => {
      wanted = given
    }),
    waits: [
      () => {
        for (let number = 0; number < 1_000; number += 1) wanted?.onRefused('the signature is wrong')
        wanted?.onRefused('the event is missing')
      },
    ],
  })
  assert.equal(stderr.match(/a webhook was refused: the signature is wrong/g)?.length, 1)
  assert.equal(stderr.match(/a webhook was refused/g)?.length, 2)
})

test('an address is a port, or a host and a port; nothing but loopback unless it is written', () => {
  const host = '127.0.0.1'
  assert.deepEqual(listenAddress('8080'), { host, port: 8080 })
  assert.deepEqual(listenAddress(':8080'), { host, port: 8080 })
  assert.deepEqual(listenAddress('0.0.0.0:80'), { host: '0.0.0.0', port: 80 })
  assert.deepEqual(listenAddress('[::]:65535'), { host: '::', port: 65_535 })
  assert.deepEqual(listenAddress('hooks.example.com:0'), { host: 'hooks.example.com', port: 0 })
  for (const text of ['', ':', 'host', 'host:', '1:2:3', '::1:80', '127.0.0.1:65536', 'a b:80', 'http://x:80', '-1']) {
    assert.throws(() => listenAddress(text), text)
  }
})

test('help and completion know it', async () => {
  const world = new TurnWorld()
  assert.match((await runInWorld(world, ['--help'])).stdout, /controller/)
  const help = (await runInWorld(world, ['controller', '--help'])).stdout
  assert.match(help, /--interval[\s\S]*--webhook-address[\s\S]*BACKPORCH_WEBHOOK_SECRET/)
  assert.match((await runInWorld(world, ['__complete', 'cont'])).stdout, /^controller\t/)
  assert.match((await runInWorld(world, ['__complete', 'controller', '--web'])).stdout, /^--webhook-address/)
})
