/**
 * What a sweep for secrets does: runs every command of the program in its formats, a controller beside them with all that it can tell, and
 * collects what was printed, written, sent and kept.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import type { CliContext as CliWorld } from '../../src/cli/context/cli-context.ts'
import { buildProgram } from '../../src/cli/run-cli.ts'
import { otlpReceiver } from '../fakes/otlp-receiver.ts'
import { CanarySearch, filesBelow, gitObjects, type Location } from './canary-search.ts'
import { Controller, deliver } from './controller-process.ts'
import type { ReviewWorld } from './review-world.ts'

/** A command line, once for each format that is chosen of those of the command; once as it is where there is none. */
export interface Step {
  readonly command: string
  readonly args: readonly string[]
  readonly chosen: (at: number) => boolean
}

export const every = (command: string, ...args: readonly string[]): Step => ({
  command,
  args,
  chosen: () => true,
})
export const once = (command: string, ...args: readonly string[]): Step => ({
  command,
  args,
  chosen: () => false,
})
/** Commands that look at the cluster take their time; those that print by the same means share the formats. */
export const share = (
  part: number,
  of: number,
  ...[command = '', ...args]: readonly string[]
): Step => ({
  command,
  args,
  chosen: (at) => at % of === part,
})

/** Run otherwise, or of no cluster. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  controller: 'as a process',
  demo: 'a world of its own',
}

/** Fails where a command of the program is in none of the steps. */
export function assertEveryCommand(steps: readonly Step[]): void {
  const commands = new Set([...steps.map(({ command }) => command), ...Object.keys(ELSEWHERE)])
  assert.deepEqual([...commands].sort(), [...formatsOf().keys()].sort(), 'every command is run')
}

/** What is left in the temporary folder is below the folder of the world, and searched. */
export async function runSteps(review: ReviewWorld, steps: readonly Step[]): Promise<void> {
  const { TMPDIR: before } = process.env
  process.env['TMPDIR'] = temporaryFolder(review)
  try {
    await runEach(review, steps)
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
}

function temporaryFolder({ world }: ReviewWorld): string {
  const folder = join(world.folder, 'temporary')
  mkdirSync(folder, { recursive: true })
  return folder
}

async function runEach(review: ReviewWorld, steps: readonly Step[]): Promise<void> {
  const formats = formatsOf()
  for (const { command, args, chosen } of steps) {
    const outputs = (formats.get(command) ?? [])
      .filter((_, at) => chosen(at))
      .map((format) => ['-o', format])
    for (const output of outputs.length === 0 ? [[]] : outputs)
      await review.backporch(...command.split(' '), ...args, ...output)
  }
}

/** Every command line of the program, and the formats that its `-o` names. */
function formatsOf(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  const walk = (command: CommandUnknownOpts, path: string): void => {
    if (command.commands.length === 0) {
      found.set(path, command.options.find(({ long }) => long === '--output')?.argChoices ?? [])
    }
    for (const below of command.commands) walk(below, `${path} ${below.name()}`.trim())
  }
  // Nothing of the world is asked for before a command runs.
  walk(
    buildProgram({ version: '' } as CliWorld, async () => {}),
    '',
  )
  return found
}

/** Everything by which a value leaves, each with what was found there. */
export async function collect(
  review: ReviewWorld,
  {
    authored,
    controller,
    isLeftOut,
  }: {
    authored: ReadonlySet<string>
    controller: readonly Location[]
    isLeftOut: (path: string) => boolean
  },
): Promise<Readonly<Record<string, readonly Location[]>>> {
  const { world, fixture } = review
  const locations = {
    outputs: world.calls.map(({ command, stdout, stderr }) => ({
      where: command,
      content: Buffer.from(`${stdout}\n${stderr}`),
    })),
    git: gitObjects(world.folder, (id) => authored.has(id)),
    'names in git': [{ where: 'refs', content: Buffer.from(await world.remote('for-each-ref')) }],
    'sent to the forge': fixture.proxy.requests.map(({ method, path, body }) => ({
      where: `${method} ${path}`,
      content: body,
    })),
    'kept by the forge': await forgeTexts(review),
    files: filesBelow(world.folder, isLeftOut),
    controller,
  }
  for (const [door, there] of Object.entries(locations))
    assert.ok(there.length > 0, `there is something to search: ${door}`)
  return locations
}

/** Fails where a door has not let out the value, which is no secret: there nothing would be found. */
export function assertTold(
  locations: Readonly<Record<string, readonly Location[]>>,
  told: string,
): void {
  for (const door of ['outputs', 'git', 'sent to the forge', 'kept by the forge']) {
    const observed = new CanarySearch(new Map([['told', [told]]])).find(locations[door] ?? [])
    assert.equal(observed.size, 1, `what is no secret is told: ${door}`)
  }
}

/**
 * A controller that is told of secrets by its hooks too, answers a comment, previews a pull request and writes metrics, Events and traces.
 * @param head the branch of that pull request
 * @returns all that it printed and answered
 */
export async function besideAController(
  t: TestContext,
  review: ReviewWorld,
  {
    seed,
    head,
    canaries,
  }: {
    readonly seed: string
    readonly head: string
    readonly canaries: Map<string, readonly string[]>
  },
): Promise<readonly Location[]> {
  const { fixture, world } = review
  const [hooked, audited] = [`hook${seed}hunter2`, `audit${seed}hunter2`]
  canaries
    .set('a password in a forged webhook', [hooked])
    .set('a password in an audit event', [audited])
  const collector = await otlpReceiver(t)
  const args = [
    '--repo',
    fixture.remote,
    '--interval',
    '2s',
    '--debug',
    '--verbose',
    '--kubernetes-events',
    '--preview',
  ]
  const addresses = ['--http-address', '--webhook-address', '--audit-webhook-address'].flatMap(
    (flag) => [flag, '127.0.0.1:0'],
  )
  const controller = new Controller(t, world, [...args, ...addresses], {
    GITEA_TOKEN: fixture.bot.token,
    BACKPORCH_WEBHOOK_SECRET: 'a secret that Gitea knows',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    TMPDIR: temporaryFolder(review),
  })
  const opened = await fixture.gitea.request(
    fixture.writer.token,
    'POST',
    `${fixture.path}/pulls`,
    { title: 'change', head, base: 'main' },
  )
  assert.equal(opened.status, 201)
  const turns = (): number => controller.stderr.match(/"event":"turn"/g)?.length ?? 0
  await controller.until('a first turn', () => turns() > 0)
  const [pull] = (await review.pulls()).filter(
    ({ state, head: { label } }) => state === 'open' && label.startsWith('proposed/'),
  )
  const comment = await fixture.gitea.request(
    fixture.writer.token,
    'POST',
    `${fixture.path}/issues/${pull?.number}/comments`,
    {
      body: '/adopt all\n\n/snooze 1d',
    },
  )
  assert.equal(comment.status, 201)
  const hook = await controller.url('webhook')
  const answers = [
    await deliver(hook, `password=${hooked}`),
    await deliver(hook, 'a secret that Gitea knows'),
  ]
  assert.deepEqual(answers, [401, 202])
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'form-0' },
    stringData: { color: audited },
    data: { color: audited },
  }
  const event = {
    level: 'RequestResponse',
    stage: 'ResponseComplete',
    verb: 'patch',
    auditID: randomUUID(),
    user: { username: 'ada' },
    requestObject: secret,
    responseObject: secret,
  }
  const sent: Location[] = []
  for (const body of [
    JSON.stringify({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', items: [event] }),
    `{"password": "${audited}`,
  ]) {
    const answer = await fetch(await controller.url('audit'), {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    sent.push({ where: 'an answer to an audit event', content: Buffer.from(await answer.text()) })
  }
  const before = turns()
  await controller.until('the comment is answered', async () => {
    const { body } = await fixture.gitea.request<readonly object[]>(
      fixture.writer.token,
      'GET',
      `${fixture.path}/issues/${pull?.number}/comments`,
    )
    return body.length > 1
  })
  await controller.until('another turn', () => turns() > before)
  await controller.until('a preview', () => /"event":"previewed"/.test(controller.stderr))
  for (const path of ['/metrics', '/healthz', '/readyz']) {
    const answer = await fetch((await controller.url('metrics')).replace('/metrics', path))
    sent.push({ where: path, content: Buffer.from(await answer.text()) })
  }
  assert.match(sent.at(-3)?.content.toString() ?? '', /^backporch_/m)
  const events = await world.kubectl(
    'get',
    'events.v1.events.k8s.io',
    '--all-namespaces',
    '-o',
    'json',
  )
  sent.push({ where: 'Events', content: Buffer.from(events) })
  controller.send('SIGTERM')
  const ended = await controller.exited
  assert.ok(ended.code === 0 || ended.code === 130, controller.stderr)
  await review.observe()
  const traces = collector.got.map(({ path, body }) => ({
    where: `the collector of traces ${path}`,
    content: Buffer.from(body),
  }))
  assert.ok(traces.length > 0)
  return [
    ...sent,
    ...traces,
    { where: 'stdout of the controller', content: Buffer.from(controller.stdout) },
    { where: 'stderr of the controller', content: Buffer.from(controller.stderr) },
  ]
}

/** Files that somebody committed with secrets, by the end of their line in `rev-list --objects`. */
export async function authoredIds(
  { world }: ReviewWorld,
  files: RegExp,
): Promise<ReadonlySet<string>> {
  // A proposal that was rejected or made anew has no branch any longer, and its objects stay.
  const objects = (await world.remote('cat-file', '--batch-all-objects', '--batch-check')).split(
    '\n',
  )
  const commits = objects.flatMap((line) =>
    line.split(' ')[1] === 'commit' ? [line.slice(0, line.indexOf(' '))] : [],
  )
  const lines = (await world.remote('rev-list', '--objects', ...commits)).split('\n')
  return new Set(
    lines.flatMap((line) => (files.test(line) ? [line.slice(0, line.indexOf(' '))] : [])),
  )
}

/** All that Gitea tells of the repository: pull requests, issues, comments, reviews, timelines, statuses, labels, releases. */
async function forgeTexts({ fixture, world }: ReviewWorld): Promise<readonly Location[]> {
  const { gitea: forge, path, writer } = fixture
  const locations: Location[] = []
  const read = async <Body>(below: string): Promise<Body> => {
    const { status, body } = await forge.request<Body>(writer.token, 'GET', `${path}${below}`)
    assert.equal(status, 200, below)
    locations.push({ where: `${path}${below}`, content: Buffer.from(JSON.stringify(body)) })
    return body
  }
  for (const list of [
    '/pulls?state=all&limit=50',
    '/labels?limit=50',
    '/releases',
    '/milestones?state=all',
    '/branches?limit=50',
    '/tags?limit=50',
  ])
    await read(list)
  for (const { number } of await read<readonly { number: number }[]>(
    '/issues?state=all&limit=50',
  )) {
    for (const below of ['comments', 'timeline', 'labels']) await read(`/issues/${number}/${below}`)
  }
  for (const { number } of await read<readonly { number: number }[]>('/pulls?state=all&limit=50')) {
    for (const below of ['reviews', 'commits', 'files']) await read(`/pulls/${number}/${below}`)
  }
  const commits = (await world.remote('rev-list', '--all')).split('\n')
  for (const commit of commits) await read(`/commits/${commit}/statuses?limit=50`)
  return locations
}
