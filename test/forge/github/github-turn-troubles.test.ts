/** Whole turns against GitHub where something around them changed: names, rights, rules, and what people took away. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { afterEach, describe, it } from 'node:test'
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import { listUnitFailures } from '../../../src/plan/unit/unit-result.ts'
import { expectFailure } from '../../contract/git-remotes.ts'
import type { EmulatedApp } from './github-emulator.ts'
import { GitHubWorld, type WorldOptions } from './github-world.ts'
import { SIGNAL } from './pushed-proposal.ts'

const REPOSITORY = '/repos/{owner}/{repo}'
const DOCUMENTED = { documentation_url: 'https://docs.github.com/rest' }

describe('a turn on GitHub', () => {
  const worlds: GitHubWorld[] = []

  afterEach(async () => {
    const problems = worlds.flatMap(({ emulator }) => emulator.problems)
    for (const world of worlds.splice(0)) await world.stop()
    assert.deepEqual(problems, [])
  })

  const open = async (options: WorldOptions = {}): Promise<GitHubWorld> => {
    const world = new GitHubWorld(options)
    worlds.push(world)
    await world.start()
    return world
  }
  /** Two packages drift, each in one cluster. */
  const drifting = async (
    options: WorldOptions & { readonly app?: EmulatedApp } = {},
  ): Promise<GitHubWorld> => {
    const world = await open(options)
    // What nothing is wrong with is known before.
    world.emulator.app = options.app
    await world.turn()
    world.pass()
    world.edit(0, 'web', 'color', 'red')
    world.edit(1, 'db', 'color', 'red')
    return world
  }
  const good = async (): Promise<unknown> => {
    const world = await drifting()
    await world.turn()
    return world.observed()
  }
  const openPulls = ({ emulator }: GitHubWorld): string[] =>
    emulator.state.threads
      .flatMap(({ state, pull }) => (state === 'open' && pull !== undefined ? [pull.head] : []))
      .sort()
  const idle = async (world: GitHubWorld): Promise<void> =>
    assert.deepEqual(await world.writesOf(() => world.turn()), [])

  it('opens no second pull request when GitHub knows of one that its lists do not show yet', async () => {
    const observed = await good()
    const world = await drifting()
    world.emulator.state.behind = true
    world.emulator.faults.push({ on: `POST ${REPOSITORY}/pulls`, moment: 'after' })
    await expectFailure(world.turn(), 'BP5001')
    const refused = (await world.turn()).units.flatMap((unit) =>
      unit.state === 'planned' && unit.refused !== undefined ? [unit.refused] : [],
    )
    assert.deepEqual(
      refused.map(({ code, retry }) => [code, retry]),
      [['BP5006', 'backoff']],
    )
    world.emulator.state.behind = false
    for (const thread of world.emulator.state.threads) Object.assign(thread, { late: false })
    await world.turn()
    assert.deepEqual(world.observed(), observed)
    await idle(world)
  })

  for (const fault of [
    { name: '502 again and again', answer: { status: 502, text: 'Bad gateway' }, code: 'BP5005' },
    { name: 'no answer', code: 'BP5001' },
    { name: 'half an answer', cutAfter: 60, code: 'BP5001' },
  ] as const) {
    it(`writes nothing when a required read gets ${fault.name}`, async () => {
      const world = await drifting()
      await world.turn()
      const found = world.observed()
      world.pass()
      world.edit(0, 'api', 'size', '9')
      for (const on of [`GET ${REPOSITORY}`, `GET ${REPOSITORY}/pulls`] as const) {
        const { name: _, code, ...rest } = fault
        world.emulator.faults.push({ on, moment: 'before', times: 3, ...rest })
        assert.deepEqual(await world.writesOf(() => expectFailure(world.turn(), code)), [])
        assert.deepEqual(world.observed(), found)
      }
      await world.turn()
      assert.equal(openPulls(world).length, 3)
      world.emulator.problems.length = 0
      await idle(world)
    })
  }

  it('continues under the new name when the repository is renamed during the turn, and reports it', async () => {
    const known = await good()
    const world = await drifting()
    const { emulator } = world
    const rename = async (): Promise<void> => {
      emulator.formerly = { owner: 'acme', repo: 'deploy' }
      Object.assign(emulator.state, { repo: 'deployments' })
    }
    emulator.faults.push({
      on: `POST ${REPOSITORY}/issues/{issue_number}/labels`,
      moment: 'before',
      hold: rename,
    })
    const thrown = await world.turn().then(
      () => undefined,
      (error: unknown) => convertToFailure(error),
    )
    assert.ok(thrown === undefined || ['BP5003', 'BP5008'].includes(thrown.code), thrown?.message)
    await world.turn()
    assert.deepEqual(world.notices, [
      'acme/deploy is acme/deployments now: renamed or transferred; change the remote to it',
    ])
    world.assertNoDuplicates()
    assert.deepEqual(world.observed(), known)
    await idle(world)
  })

  it('touches nothing when another repository has the name after a transfer', async () => {
    const world = await drifting()
    await world.turn()
    world.pass()
    world.edit(0, 'api', 'size', '9')
    world.emulator.state.id += 1
    const writes = await world.writesOf(async () => {
      const failure = await expectFailure(world.turn(), 'BP5008')
      assert.match(failure.why, /another repository has that name/)
    })
    assert.deepEqual(writes, [])
  })

  it('reports an archived repository once, and ends the same once it is unarchived', async () => {
    const current = await good()
    const world = await drifting()
    const { state } = world.emulator
    state.archived = true
    // As git says it: GitHub takes no push either.
    world.repository.beforePush = () => {
      if (state.archived) throw refusedPush('This repository was archived so it is read-only.')
    }
    assert.deepEqual(await world.writesOf(() => expectFailure(world.turn(), 'BP4002')), [])
    state.archived = false
    await world.turn()
    assert.deepEqual(world.observed(), current)
    await idle(world)
  })

  it('reports that the App was uninstalled during the turn, and ends the same once it is back', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    })
    const app = { id: 4242, publicKey, slug: 'backporch', installed: true }
    const credential = { kind: 'app', appId: 4242, privateKey } as const
    const whole = await drifting({ credential, app })
    await whole.turn()
    const world = await drifting({ credential, app })
    const { emulator } = world
    emulator.faults.push({
      on: `POST ${REPOSITORY}/statuses/{sha}`,
      moment: 'before',
      hold: async () => {
        emulator.tokens.clear()
        emulator.app = { ...app, installed: false }
      },
    })
    const failure = await expectFailure(world.turn(), 'BP5002')
    assert.match(failure.why, /not installed|does not accept the credentials/)
    await expectFailure(world.turn(), 'BP5002')
    // Installed again it has another number, and a token of the first minutes is not renewed.
    emulator.app = { ...app, installation: 78 }
    world.clock.pass(6 * 60_000)
    await world.turn()
    assert.deepEqual(world.observed(), whole.observed())
    await idle(world)
  })

  it('continues with other packages when one branch is protected, and ends the same once it is not', async () => {
    const whole = await drifting()
    await whole.turn()
    const world = await drifting()
    world.repository.beforePush = (updates) => {
      if (updates.some(({ ref }) => ref.startsWith('refs/heads/proposed/apps/db/')))
        throw refusedPush('push declined due to repository rule violations')
    }
    const { units } = await world.turn()
    const refused = units.flatMap((unit) =>
      unit.state === 'planned' && unit.refused !== undefined ? [unit] : [],
    )
    assert.deepEqual(
      refused.map(({ unit, refused: failure }) => [unit.cluster, unit.packagePath, failure?.code]),
      [['edge-02', 'apps/db', 'BP4002']],
    )
    assert.deepEqual(
      openPulls(world).map((branch) => branch.split('/')[2]),
      ['web'],
    )
    world.repository.beforePush = () => undefined
    await world.turn()
    world.assertNoDuplicates()
    // The ledger has a commit for each of the two pushes; what it says is the same.
    const [there, wanted] = [world, whole].map((one) => ({
      ...one.observed(),
      refs: one.repository.names(),
      ledger: one.ledger(),
    }))
    assert.deepEqual(there, wanted)
    await idle(world)
  })

  it('opens the other pull requests when GitHub refuses one for good', async () => {
    const world = await drifting()
    const body = {
      message: 'Validation Failed',
      ...DOCUMENTED,
      errors: [{ resource: 'PullRequest', code: 'custom', message: 'body is too long' }],
    }
    world.emulator.faults.push({
      on: `POST ${REPOSITORY}/pulls`,
      moment: 'before',
      answer: { status: 422, body },
    })
    await world.turn().catch(() => undefined)
    assert.equal(openPulls(world).length, 1)
  })

  it('writes nothing more when the very first turn is repeated', async () => {
    const world = await open()
    world.edit(0, 'web', 'color', 'red')
    await world.turn()
    await idle(world)
  })

  it('reports what is refused for good, and ends the same once it is allowed', async () => {
    const recorded = await good()
    const world = await drifting()
    const body = {
      message: 'Validation Failed',
      ...DOCUMENTED,
      errors: [{ resource: 'PullRequest', code: 'custom', message: 'body is too long' }],
    }
    world.emulator.faults.push({
      on: `POST ${REPOSITORY}/pulls`,
      moment: 'before',
      answer: { status: 422, body },
    })
    const reported = await world.turn().then(
      ({ units, reported }) => [...units.flatMap(listUnitFailures), ...reported],
      (thrown: unknown) => [convertToFailure(thrown)],
    )
    assert.deepEqual(
      reported.map(({ code }) => code),
      ['BP5006'],
    )
    assert.match(reported[0]?.why ?? '', /body is too long/)
    await world.turn()
    assert.deepEqual(world.observed(), recorded)
    await idle(world)
  })

  it('restores labels that somebody deleted from the repository', async () => {
    const world = await drifting()
    await world.turn()
    const seen = world.observed()
    const { state } = world.emulator
    for (const name of ['drift', 'drift-risk/medium']) {
      state.labels.delete(name)
      for (const thread of state.threads)
        thread.labels = thread.labels.filter((label) => label !== name)
    }
    await world.turn()
    assert.deepEqual(world.observed(), seen)
    await idle(world)
  })

  it('writes a comment again when somebody deletes it during the edit', async () => {
    const world = await drifting()
    await world.turn()
    const { forge, emulator } = world
    const number = emulator.state.threads.find(({ pull }) => pull !== undefined)?.number ?? 0
    await forge.ensureComment(number, 'result', 'first', SIGNAL)
    emulator.faults.push({
      on: `PATCH ${REPOSITORY}/issues/comments/{comment_id}`,
      moment: 'before',
      hold: async () => {
        emulator.state.comments = emulator.state.comments.filter(
          ({ body }) => !body.includes('first'),
        )
      },
    })
    await forge.ensureComment(number, 'result', 'second', SIGNAL)
    assert.deepEqual(
      emulator.state.comments
        .filter(({ thread }) => thread === number)
        .map(({ body }) => body.split('\n').at(-1)),
      ['second'],
    )
  })

  it('does not rewrite deleted comments once the episode is over', async () => {
    const world = await drifting()
    await world.turn()
    world.pass()
    world.heal(0, 'web')
    await world.turn()
    const { state } = world.emulator
    assert.ok(state.comments.length > 0)
    state.comments = []
    world.pass()
    await idle(world)
  })
})

function refusedPush(why: string): Failure {
  return new Failure({
    code: 'BP4002',
    what: 'the repository refused the push',
    where: 'acme/deploy',
    why,
    remedy: 'change the rule, or let somebody push who may',
    retry: 'on-change',
  })
}
