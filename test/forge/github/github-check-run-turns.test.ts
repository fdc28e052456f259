/** Whole turns of a GitHub App: the check of each open pull request, and what becomes of a requested action from the webhook to the next turn. */
import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { DeliveryWindow, WebhookIntake, WebhookReading } from '@backporch/forge/webhook'
import { RequestedActionQueue } from '../../../src/controller/requested-action-queue.ts'
import { expectFailure } from '../../contract/git-remotes.ts'
import type { EmulatedCheckRun } from './emulated-state.ts'
import { GitHubWorld } from './github-world.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const SECRET = 'what the App and the controller know'
const CREATE = 'POST /repos/{owner}/{repo}/check-runs'

interface RequestedAction {
  readonly button?: string
  readonly action?: string
  readonly by?: string
  readonly type?: string
  readonly run?: EmulatedCheckRun
}

describe('checks of a GitHub App', () => {
  let world: GitHubWorld
  let requestedActions: RequestedActionQueue
  let intake: WebhookIntake
  let count = 0
  let deliveries = 0

  beforeEach(async () => {
    world = new GitHubWorld({
      packages: ['web'],
      credential: { kind: 'app', appId: 4242, privateKey },
    })
    world.emulator.app = { id: 4242, publicKey, slug: 'backporch', installed: true }
    world.emulator.granted = { checks: 'write' }
    for (const [login, role] of [
      ['wendy', 'write'],
      ['rita', 'read'],
    ] as const)
      world.emulator.state.roles.set(login, role)
    deliveries = 0
    await restart()
    world.edit(0, 'web', 'color', 'red')
    await world.emulator.start()
    await world.restart()
    await world.turn()
  })
  afterEach(async () => {
    const problems = [...new Set(world.emulator.problems)]
    await world.stop()
    assert.deepEqual(problems, [])
  })

  /** The controller alone: nothing is remembered of presses and deliveries. */
  async function restart(): Promise<void> {
    requestedActions = new RequestedActionQueue()
    intake = new WebhookIntake({
      secrets: [SECRET],
      repository: 'acme/deploy',
      window: new DeliveryWindow(),
    })
  }

  const runs = (): readonly EmulatedCheckRun[] => world.emulator.state.checkRuns
  const last = (): EmulatedCheckRun => runs().at(-1) ?? assert.fail('no check')
  const pull = () =>
    world.emulator.state.threads.find((thread) => thread.pull !== undefined) ??
    assert.fail('no pull request')
  const reported = (): string =>
    world.emulator.state.comments.findLast(({ user }) => user === 'backporch[bot]')?.body ?? ''
  const plan = (): string =>
    /plan: (\w+)/.exec(world.repository.text(pull().pull?.head ?? '', recordPath()) ?? '')?.[1] ??
    ''
  const recordPath = (): string =>
    world.repository
      .paths(pull().pull?.head ?? '')
      .find((path) => path.startsWith('.drift/records/')) ?? ''

  /** A signed delivery as GitHub sends it. @returns the body, to send it again */
  function requestedAction({
    button = 'adopt',
    action = 'requested_action',
    by = 'wendy',
    type = 'User',
    run = last(),
  }: RequestedAction): string {
    count += 1
    const { id, name, head_sha, external_id } = run
    const body = JSON.stringify({
      action,
      check_run: {
        id,
        name,
        head_sha,
        external_id,
        app: { id: 4242 },
        output: { title: `${count}` },
      },
      ...(action === 'requested_action' ? { requested_action: { identifier: button } } : {}),
      repository: { full_name: 'acme/deploy' },
      sender: { login: by, id: 7, type },
    })
    deliver(body)
    return body
  }

  function deliver(body: string): string {
    const reading = intake.begin({
      'content-type': 'application/json',
      'x-github-event': 'check_run',
      'x-github-delivery': `delivery-${count}`,
      'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    })
    assert.ok(reading instanceof WebhookReading)
    reading.add(Buffer.from(body))
    const answer = reading.end(Date.parse('2026-11-21T10:30:00Z') + deliveries * 600_000)
    deliveries += 1
    if (answer.requestedAction !== undefined) requestedActions.add(answer.requestedAction)
    return answer.updates
  }

  async function turn(): Promise<void> {
    world.pass()
    await world.answer(requestedActions)
    await world.turn()
  }

  it('creates one check on the head of the pull request, at the line of the field, and writes nothing more', async () => {
    assert.equal(runs().length, 1)
    const { head_sha, conclusion, output, actions } = last()
    assert.deepEqual([head_sha, conclusion], [pull().pull?.sha, 'neutral'])
    assert.equal(
      output.title,
      'decision needed: 1 change in cluster edge-01, Restore planned, risk medium',
    )
    const [annotation] = output.annotations as {
      path: string
      start_line: number
      message: string
    }[]
    assert.equal(annotation?.path, 'apps/web/config.yaml')
    assert.ok(
      pull().body.includes(`config.yaml#L${annotation.start_line}`),
      'the place that the body links to',
    )
    assert.match(
      annotation.message,
      /^git declares "blue", cluster edge-01 has "red"; written by kubectl-edit/,
    )
    assert.deepEqual(
      actions.map((action) => (action as { label: string }).label),
      ['Switch to adopt', 'Snooze 7d', 'Re-check'],
    )
    assert.deepEqual(await world.writesOf(() => world.turn()), [])
    await world.restart()
    assert.deepEqual(await world.writesOf(() => world.turn()), [])
  })

  it('creates another check on a new head, and completes it on merge', async () => {
    world.pass()
    world.edit(0, 'web', 'size', '9')
    await world.turn()
    assert.equal(new Set(runs().map(({ head_sha }) => head_sha)).size, 2)
    assert.equal(last().head_sha, pull().pull?.sha)
    world.emulator.state.merge(pull(), 'merge', undefined, 'wendy')
    await turn()
    assert.deepEqual([last().conclusion, last().actions], ['success', []])
    assert.equal(runs().length, 2)
  })

  it('is neutral while the cluster cannot be observed', async () => {
    const gone = Object.assign(Object.create(world.clusters[0]), {
      identify: () => Promise.reject(new Error('gone')),
    })
    await world.turn([gone, world.clusters[1]])
    const shown = (): unknown => [last().conclusion, last().output.title, last().actions.length]
    assert.deepEqual(shown(), [
      'neutral',
      'live state unknown: the cluster edge-01 could not be observed: this may be out of date',
      2,
    ])
    await world.turn()
    assert.deepEqual(shown(), [
      'neutral',
      'decision needed: 1 change in cluster edge-01, Restore planned, risk medium',
      3,
    ])
    assert.equal(last().output.annotations.length, 1)
  })

  it('is created once although the answer was lost', async () => {
    world.pass()
    world.edit(0, 'web', 'color', 'green')
    world.emulator.faults.push({ on: CREATE, moment: 'after' })
    await expectFailure(world.turn(), 'BP5001')
    await world.turn()
    assert.equal(runs().filter(({ head_sha }) => head_sha === pull().pull?.sha).length, 1)
  })

  it('the adopt button changes the plan for a person with write access', async () => {
    requestedAction({})
    await turn()
    assert.equal(plan(), 'Adopt')
    assert.match(pull().body, /It was Restore before, changed by `wendy`/)
    assert.match(reported(), /✅ `button Switch to adopt` of `wendy`/)
    assert.deepEqual(
      last().actions.map((action) => (action as { label: string }).label),
      ['Snooze 7d', 'Re-check'],
      'the plan is Adopt already',
    )
    assert.deepEqual(requestedActions.listWaiting(), [])
  })

  it('the snooze button snoozes for seven days from the click', async () => {
    requestedAction({ button: 'snooze-7d' })
    await turn()
    assert.match(
      reported(),
      /✅ `button Snooze 7d` of `wendy`.*no reminders until 2026-11-28 10:30 UTC/,
    )
    assert.match(pull().body, /\*\*Snoozed\*\* until 2026-11-28 10:30 UTC/)
  })

  for (const again of [{ button: 'recheck' }, { action: 'rerequested' }]) {
    it(`${JSON.stringify(again)} observes the cluster again`, async () => {
      requestedAction(again)
      await turn()
      assert.match(reported(), /✅ `button Re-check` of `wendy`.*observed the cluster at/)
    })
  }

  for (const [name, given, text] of [
    [
      'a person with read access',
      { by: 'rita' },
      /😕 `button Switch to adopt` of `rita`.*needs.*write.*access/,
    ],
    [
      'a person without access',
      { by: 'nobody' },
      /😕 `button Switch to adopt` of `nobody`.*the forge gives no access/,
    ],
    ['a bot', { by: 'other[bot]', type: 'Bot' }, /^$/],
    ['an unknown button', { button: 'merge' }, /^$/],
    ['another event of the check run', { action: 'completed' }, /^$/],
  ] as const satisfies readonly (readonly [string, RequestedAction, RegExp])[]) {
    it(`refuses a requested action: ${name}`, async () => {
      requestedAction(given)
      await turn()
      assert.equal(plan(), 'Restore')
      assert.match(reported(), text)
      assert.deepEqual(requestedActions.listWaiting(), [])
      assert.deepEqual(await world.writesOf(turn), [])
    })
  }

  it('refuses a button on a commit that is no longer the head', async () => {
    const old = last()
    world.pass()
    world.edit(0, 'web', 'color', 'green')
    await world.turn()
    requestedAction({ run: old })
    await turn()
    assert.match(
      reported(),
      /😕 `button Switch to adopt` of `wendy`.*it was clicked on `[0-9a-f]{7}`, and the branch is at `[0-9a-f]{7}` now/,
    )
    assert.equal(plan(), 'Restore')
    assert.deepEqual(requestedActions.listWaiting(), [])
  })

  for (const button of ['snooze-7d', 'adopt']) {
    it(`acts once on a button that is delivered several times, also after a restart: ${button}`, async () => {
      const body = requestedAction({ button })
      assert.equal(deliver(body), 'ignored')
      await turn()
      const before = world.observed()
      for (let time = 0; time < 2; time += 1) {
        await restart()
        assert.equal(deliver(body), 'look')
        await turn()
      }
      assert.deepEqual(world.observed(), before)
    })
  }

  it('keeps a requested action for the next turn while the forge does not answer', async () => {
    requestedAction({})
    world.emulator.faults.push({
      on: 'GET /repos/{owner}/{repo}/collaborators/{username}/permission',
      times: 3,
      moment: 'before',
      answer: { status: 502, text: 'no' },
    })
    world.pass()
    const answers = await world.answer(requestedActions)
    assert.deepEqual(
      answers.map(({ by, line, outcome }) => [by, line, outcome]),
      [['wendy', 'button Switch to adopt', 'waiting']],
    )
    assert.equal(requestedActions.listWaiting().length, 1)
    await turn()
    assert.equal(plan(), 'Adopt')
    assert.deepEqual(requestedActions.listWaiting(), [])
  })

  it('drops a requested action when the pull request is closed', async () => {
    world.emulator.state.setState(pull(), 'closed', 'wendy')
    requestedAction({})
    await turn()
    assert.deepEqual(requestedActions.listWaiting(), [])
    const [first] = runs()
    assert.deepEqual(
      [first?.conclusion, first?.output.title],
      ['neutral', 'closed: nothing changes in the cluster'],
    )
    assert.doesNotMatch(reported(), /button/)
  })
})
