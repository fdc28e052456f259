import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestedAction } from '@backporch/forge/check-run'
import { opened } from '../../test/fakes/answered-proposal.ts'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { logEvents } from '../../test/fakes/log-events.ts'
import { TurnWorld, WEB } from '../../test/fakes/turn-world.ts'
import { checkKey } from '../proposal/text/check-run-text.ts'
import type { WantedWebhooks } from './context/cli-context.ts'
import { listenAddress } from './flags/command-flags.ts'

const NOTHING = (): void => undefined

function hooks(use: (wanted: WantedWebhooks) => void, onClose: () => void = NOTHING) {
  return {
    env: { BACKPORCH_WEBHOOK_SECRET: 'one-one-one-one-, two-two-two-two-\n' },
    openWebhooks: async (wanted: WantedWebhooks) => {
      use(wanted)
      return { url: 'http://127.0.0.1:8080/webhook', close: async () => onClose() }
    },
  }
}

test('without a webhook secret the controller neither listens nor writes', async () => {
  for (const secret of [undefined, '', ' ', ',', '\n']) {
    const world = new TurnWorld('{mode: Propose}')
    world.edit(WEB, 'spec.replicas', 5)
    const before = (await world.repository.listRefs()).refs.size
    const { code, stderr } = await runInWorld(world, ['controller', '--webhook-address', ':8080'], {
      waits: [NOTHING],
      env: { BACKPORCH_WEBHOOK_SECRET: secret },
    })
    assert.equal(code, 2)
    const [failure] = logEvents(stderr)
    assert.deepEqual([failure?.event, failure?.['code']], ['failure', 'BP1001'])
    assert.match(String(failure?.msg), /requires a secret/)
    assert.equal((await world.repository.listRefs()).refs.size, before)
  }
})

test('a secret under 16 characters is rejected at the start and not printed', async () => {
  for (const secret of ['fifteen-letters', 'long-enough-secret,short-secret', 'x']) {
    const world = new TurnWorld('{mode: Propose}')
    const { code, stdout, stderr } = await runInWorld(
      world,
      ['controller', '--webhook-address', ':8080'],
      {
        waits: [NOTHING],
        env: { BACKPORCH_WEBHOOK_SECRET: secret },
      },
    )
    assert.equal(code, 2)
    assert.deepEqual(
      logEvents(stderr).map(({ event, code: id, msg }) => [event, id, msg]),
      [['failure', 'BP1001', 'the secret of the webhook is too short']],
    )
    assert.doesNotMatch(stdout + stderr, /fifteen-letters|short-secret/)
  }
})

test('listens on the given address with every secret, closes at the end and prints no secret', async () => {
  let requested: WantedWebhooks | undefined
  let closed = 0
  const world = new TurnWorld()
  const { code, stdout, stderr } = await runInWorld(
    world,
    ['controller', '--webhook-address', '[::1]:9000', '--repo', 'https://x/a/b'],
    {
      ...hooks(
        (wanted) => {
          requested = wanted
        },
        () => {
          closed += 1
        },
      ),
      waits: [NOTHING],
    },
  )
  assert.equal(code, 0)
  assert.deepEqual(requested?.address, { host: '::1', port: 9000 })
  assert.deepEqual(requested?.secrets, ['one-one-one-one-', 'two-two-two-two-'])
  assert.equal(requested?.remote, 'https://x/a/b')
  assert.equal(closed, 1)
  const [listening] = logEvents(stderr, 'listening')
  assert.deepEqual(
    [listening?.['for'], listening?.['url']],
    ['webhooks', 'http://127.0.0.1:8080/webhook'],
  )
  assert.doesNotMatch(stdout + stderr, /one-one|two-two/)
})

test('a pressed button is carried out by the next turn, once', async () => {
  const { world, forge, ref } = await opened()
  const requestedAction: RequestedAction = {
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
    waits: [() => wanted?.onUpdate(requestedAction), NOTHING, NOTHING],
  })
  assert.deepEqual(
    logEvents(stderr, 'answered').map(({ msg, outcome, by }) => [msg, outcome, by]),
    [['#1 button Switch to adopt of ada: done', 'done', 'ada']],
  )
  assert.match(forge.proposals[0]?.body ?? '', /It was Restore before, changed by `ada`/)
})

test('rejected webhooks are reported, and a flood of them once', async () => {
  let wanted: WantedWebhooks | undefined
  const { stderr } = await runInWorld(
    new TurnWorld(),
    ['controller', '--webhook-address', '8080'],
    {
      ...hooks((given) => {
        wanted = given
      }),
      waits: [
        () => {
          for (let number = 0; number < 1_000; number += 1)
            wanted?.onRefused('the signature is wrong')
          wanted?.onRefused('the event is missing')
        },
      ],
    },
  )
  assert.deepEqual(
    logEvents(stderr, 'refused').map(({ level, why, msg }) => [level, why, msg]),
    ['the signature is wrong', 'the event is missing'].map((why) => [
      'warn',
      why,
      `a webhook was refused: ${why}`,
    ]),
  )
})

test('a listen address is a port or host:port, on loopback by default', () => {
  const host = '127.0.0.1'
  assert.deepEqual(listenAddress('8080'), { host, port: 8080 })
  assert.deepEqual(listenAddress(':8080'), { host, port: 8080 })
  assert.deepEqual(listenAddress('0.0.0.0:80'), { host: '0.0.0.0', port: 80 })
  assert.deepEqual(listenAddress('[::]:65535'), { host: '::', port: 65_535 })
  assert.deepEqual(listenAddress('hooks.example.com:0'), { host: 'hooks.example.com', port: 0 })
  for (const text of [
    '',
    ':',
    'host',
    'host:',
    '1:2:3',
    '::1:80',
    '127.0.0.1:65536',
    'a b:80',
    'http://x:80',
    '-1',
  ]) {
    assert.throws(() => listenAddress(text), text)
  }
})
