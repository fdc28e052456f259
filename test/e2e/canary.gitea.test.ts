/**
 * After every command in every format, on a real API server with a real Gitea and beside a controller, no form of a
 * secret is in any output, object of git, text of the forge, cache or log. Their values are drawn from the seeds.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import type { CliContext as CliWorld } from '../../src/cli/cli-context.ts'
import { buildProgram } from '../../src/cli/run-cli.ts'
import { formatDocument } from '../../src/record/write-document.ts'
import type { JsonObject } from '../../src/text/json.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import type { Gitea } from '../gitea/gitea.ts'
import { sharedGitea } from '../gitea/shared-gitea.ts'
import { type CredentialForm, formsInUse, mustHideForms } from '../hostile/credential-forms.ts'
import { heldOutForms, laterForms } from '../hostile/held-out-forms.ts'
import { batchedForms, type FormObject } from '../hostile/placed-forms.ts'
import { testEachSeed } from '../seeds/seeds.ts'
import { CANARY_KINDS, definitions, quotedByTheServer } from './canary-kinds.ts'
import { CanarySearch, filesBelow, gitObjects, type Location } from './canary-search.ts'
import { Controller, deliver } from './controller-process.ts'
import { kptfile, policy } from './packages.ts'
import { openReviewWorld, type ReviewWorld } from './review-world.ts'

/** Forms that no server stores; test/hostile/credential-forms.test.ts has them. */
const NOT_STORED = new Set(['data of a Secret that is no base64', 'a field of a Secret that nobody knows'])
/** Forms that are told: the guide names them. That they are found shows that the search finds. */
const TOLD = ['chap-secrets (pppd(8))']

/** A command line, once for each format that is chosen of those of the command; once as it is where there is none. */
interface Step {
  readonly command: string
  readonly args: readonly string[]
  readonly chosen: (at: number) => boolean
}

const every = (command: string, ...args: readonly string[]): Step => ({ command, args, chosen: () => true })
const once = (command: string, ...args: readonly string[]): Step => ({ command, args, chosen: () => false })
/** Commands that look at the cluster take their time; those that print by the same means share the formats. */
const share = (part: number, of: number, ...[command = '', ...args]: readonly string[]): Step => ({
  command,
  args,
  chosen: (at) => at % of === part,
})

/** Stands for the namespace of the packages whose secrets are in the cluster. */
const LIVE = '{live}'

/** Takes the secrets of the packages out of git, whose secrets are gone from the cluster. */
const HEAD = 'change'

const BEFORE: readonly Step[] = [
  every('diff', '--show-ignored', '--debug', '--verbose'),
  once('diff', '--yaml', '--unmanaged', '--debug'),
  every('check', '--debug'),
  once('render'),
  // With -o it gives manifests of git as they are, to be applied: packages without secrets in git.
  once('render', 'apps/live-0', '-o', 'unwrap'),
  once('render', 'apps/live-2', '-o', 'resourcelist'),
  every('init', '--dry-run', '--debug'),
  once('import', '--namespace', LIVE, '--dry-run', '--debug'),
  every('preview', '--head', HEAD, '--debug'),
  ...['apps/live-0', 'apps/live-3', 'apps/git-0', 'apps/git-5'].map((unit) => once('explain', unit, '--debug')),
  share(1, 3, 'scan', '--debug', '--verbose'),
]
const AFTER: readonly Step[] = [
  ...['status', 'get packages', 'get drifts', 'get ignores'].map((command) => every(command)),
  every('report', '--since', '7d'),
  share(0, 3, 'adopt', 'apps/live-0', '--dry-run', '--debug'),
  share(1, 3, 'release', 'apps/live-1', '--dry-run', '--debug'),
  share(2, 3, 'restore', 'apps/git-0', '--dry-run', '--debug'),
  once('adopt', 'apps/live-0', '--debug', '-m', 'why'),
  once('adopt', 'apps/live-2', '--debug', '-m', 'why'),
  once('adopt', 'apps/git-1', '--debug', '-m', 'why'),
  once('release', 'apps/git-2', '--debug', '-m', 'why'),
  once('restore', 'apps/live-0', '--debug'),
  ...['--print', '--dry-run', '--debug'].map((flag) => once('ignore', 'apps/live-1', '1', '-m', 'why', flag)),
  once('snooze', 'apps/git-1', '1d'),
  once('approve', 'apps/live-0', '--yes', '--debug'),
  once('reject', 'apps/git-0', '--yes', '--debug', '-m', 'why'),
  once('scan', '--debug'),
  every('history', '--debug'),
  once('completion', 'bash'),
  once('version'),
]
/** Run otherwise, or of no cluster. */
const ELSEWHERE: Readonly<Record<string, string>> = { controller: 'as a process', demo: 'a world of its own' }

const gitea = await sharedGitea()
if (gitea.state === 'unavailable') test('the canary sweep', { skip: gitea.why }, () => {})
else await controlPlaneSuite('the canary sweep', {}, (plane) => sweepOn(plane, gitea))

function sweepOn(plane: ControlPlane, server: Gitea): void {
  testEachSeed(import.meta.filename, 'no form of a secret is told at any door', {}, async (t, seed) => {
    const canaries = new Map<string, readonly string[]>()
    const drawn: Drawn = { seed: String(seed), told: `told-${seed}-plainly`, canaries }
    const review = await openSweep(t, plane, server, drawn)
    const { world } = review
    const formats = formatsOf()
    assert.deepEqual(
      [...new Set([...BEFORE, ...AFTER].map(({ command }) => command)), ...Object.keys(ELSEWHERE)].sort(),
      [...formats.keys()].sort(),
      'every command is run',
    )
    const live = /namespace: "?([\w-]+)/.exec(world.read('apps/live-0/left.yaml'))?.[1] ?? assert.fail('no namespace')
    const run = async (steps: readonly Step[]): Promise<void> => {
      for (const { command, args, chosen } of steps) {
        const choices = formats.get(command) ?? []
        const outputs = choices.filter((_, at) => chosen(at)).map((format) => ['-o', format])
        for (const output of outputs.length === 0 ? [[]] : outputs)
          await review.backporch(...command.split(' '), ...args.map((arg) => arg.replace(LIVE, live)), ...output)
      }
    }
    await run(BEFORE)
    // So much at once is a storm, which is told of in an issue and not proposed. Packages are small, because a pull request lists 30 changes.
    await review.commit(policy(`${POLICY}, stormObjects: 0}`), 'no storm')
    await run([once('scan', '--debug')])
    const proposed = (await review.pulls()).length
    assert.ok(proposed > PACKAGES, `${proposed} packages are proposed`)
    const log = await besideAController(t, review, drawn)
    await run(AFTER)

    const requests = review.fixture.proxy.requests.map(({ method, path, body }) => ({ where: `${method} ${path}`, content: body }))
    const outputs = world.calls.map(({ command, stdout, stderr }) => ({ where: command, content: Buffer.from(`${stdout}\n${stderr}`) }))
    const authored = await authoredIds(review)
    const locations: Record<string, readonly Location[]> = {
      outputs,
      git: gitObjects(world.folder, (id) => authored.has(id)),
      'names in git': [{ where: 'refs', content: Buffer.from(await world.remote('for-each-ref')) }],
      'sent to the forge': requests,
      'kept by the forge': await forgeTexts(review),
      files: filesBelow(world.folder, (path) => path.startsWith(join(world.checkout, 'apps/git-'))),
      controller: log,
    }
    for (const [door, there] of Object.entries(locations)) assert.ok(there.length > 0, `there is something to search: ${door}`)
    for (const door of ['outputs', 'git', 'sent to the forge', 'kept by the forge']) {
      const observed = new CanarySearch(new Map([['told', [drawn.told]]])).find(locations[door] ?? [])
      assert.equal(observed.size, 1, `what is no secret is told: ${door}`)
    }
    assert.ok(
      outputs.some(({ content }) => /BP3011|refused/.test(content.toString())),
      'the server has refused something',
    )
    const leaks = new CanarySearch(canaries).find(Object.values(locations).flat())
    assert.deepEqual(
      [...leaks]
        .filter(([name]) => !TOLD.includes(name))
        .map(([name, where]) => `${name}: ${where.slice(0, 5).join(', ')} (${where.length})`),
      [],
    )
    assert.deepEqual([...leaks.keys()].sort(), [...TOLD].sort(), 'the guide names what is told')
    t.diagnostic(
      `${canaries.size} forms, ${proposed} pull requests, ${world.calls.length} calls, ${Object.values(locations).flat().length} places`,
    )
  })
}

interface Drawn {
  readonly seed: string
  /** A value that is no secret. */
  readonly told: string
  readonly canaries: Map<string, readonly string[]>
}

const POLICY = 'mode: Propose\nsettle: backporch\ndetect: {minAge: 0s, settle: 0s}\nlimits: {prHourlyLimit: 0, prConcurrentLimit: 0'
const PACKAGES = 7

/** In half of the packages the secrets are in the cluster alone; in the others they were in git, and are gone from the cluster. */
async function openSweep(t: TestContext, plane: ControlPlane, server: Gitea, { seed, told, canaries }: Drawn): Promise<ReviewWorld> {
  const [live, git] = [await plane.namespace('canary-live'), await plane.namespace('canary-git')]
  const formsOf = (text: string): readonly CredentialForm[] =>
    [...mustHideForms(text), ...formsInUse(text), ...heldOutForms(text), ...laterForms(text)].filter(({ name }) => !NOT_STORED.has(name))
  const [inLive, inGit] = [formsOf(seed), formsOf(`git ${seed}`)]
  for (const { name, needles } of inLive) canaries.set(name, needles)
  // `render` asks no cluster, and no schema: what only a schema calls a password is told of git, where everybody reads it.
  for (const { name, needles, passwords } of inGit)
    if (!TOLD.includes(name) && passwords === undefined) canaries.set(`${name}, in git`, needles)
  const quoted = quotedByTheServer(git, seed)
  for (const [name, needle] of quoted.needles) canaries.set(name, [needle])
  const reported: FormObject = { plain: reportedIn(live, 'grey'), withSecrets: reportedIn(live, told) }
  const files: Record<string, string> = {}
  const edited: JsonObject[] = []
  const change: Record<string, string> = {}
  const size = Math.ceil(inLive.length / PACKAGES)
  for (let at = 0; at < PACKAGES; at += 1) {
    const part = (forms: readonly CredentialForm[]): readonly CredentialForm[] => forms.slice(at * size, (at + 1) * size)
    const [changed, gone] = [batchedForms(part(inLive), live, `of-${at}`), batchedForms(part(inGit), git, `of-${at}`)]
    const withReported = at === 0 ? [...changed, reported] : changed
    const inGitOnly = [...gone.map(({ withSecrets }) => withSecrets), ...(at === 0 ? quoted.inGit : [])]
    for (const [folder, objects] of [
      [`apps/live-${at}`, withReported.map(({ plain }) => plain)],
      [`apps/git-${at}`, inGitOnly],
    ] as const) {
      files[`${folder}/Kptfile`] = kptfile(folder.slice('apps/'.length))
      // Nobody changes it: it shows that the syncer applied the package.
      files[`${folder}/left.yaml`] = formatDocument(leftAlone(folder.includes('live') ? live : git, at))
      for (const [index, object] of objects.entries()) files[`${folder}/${index}.yaml`] = formatDocument(object)
    }
    for (const [index, { plain }] of gone.entries()) change[`apps/git-${at}/${index}.yaml`] = formatDocument(plain)
    edited.push(...withReported.map(({ withSecrets }) => withSecrets), ...gone.map(({ plain }) => plain))
  }
  const review = await openReviewWorld(t, plane, server, { ...files, ...policy(`${POLICY}}`) })
  const { world } = review
  await world.pipe(
    formatDocument({ apiVersion: 'v1', kind: 'List', items: definitions() }),
    'apply',
    '--server-side',
    '--force-conflicts',
    '-f',
    '-',
  )
  const names = CANARY_KINDS.map(({ plural, group }) => `crd/${plural}.${group}`)
  await world.kubectl('wait', '--for=condition=Established', '--timeout=4m', ...names)
  await review.observe()
  await world.sync('apps')
  await quoted.afterSync(world)
  await world.git('checkout', '--quiet', '-b', HEAD)
  for (const [path, content] of Object.entries(change)) world.write(path, content)
  await world.git('commit', '--quiet', '--all', '--message', 'without secrets')
  await world.git('push', '--quiet', 'origin', HEAD)
  await review.git('push', '--quiet', review.address, HEAD)
  await world.git('checkout', '--quiet', 'main')
  const text = edited.map((object) => formatDocument(object)).join('---\n')
  await world.pipe(text, 'replace', '--field-manager=hand', '-f', '-')
  return review
}

function leftAlone(namespace: string, at: number): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `left-${at}`, namespace }, data: { size: '1' } }
}

function reportedIn(namespace: string, hue: string): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'told', namespace }, data: { hue } }
}

/** Every command line of the program, and the formats that its `-o` names. */
function formatsOf(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  const walk = (command: CommandUnknownOpts, path: string): void => {
    if (command.commands.length === 0) {
      const choices = command.options.find(({ long }) => long === '--output')?.argChoices ?? []
      found.set(path, choices.includes('json') && choices.length > 3 ? [...choices, 'jsonpath={..}'] : choices)
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

/** A controller that is told of secrets by its hooks too, and answers a comment. @returns all that it printed and answered */
async function besideAController(t: TestContext, review: ReviewWorld, { seed, canaries }: Drawn): Promise<readonly Location[]> {
  const { fixture, world } = review
  const [hooked, audited] = [`hook${seed}hunter2`, `audit${seed}hunter2`]
  canaries.set('a password in a forged webhook', [hooked]).set('a password in an audit event', [audited])
  const args = ['--repo', fixture.remote, '--interval', '2s', '--debug', '--verbose']
  const controller = new Controller(t, world, [...args, '--webhook-address', '127.0.0.1:0', '--audit-webhook-address', '127.0.0.1:0'], {
    GITEA_TOKEN: fixture.bot.token,
    BACKPORCH_WEBHOOK_SECRET: 'a secret that Gitea knows',
  })
  const turns = (): number => controller.stderr.match(/"event":"turn"/g)?.length ?? 0
  await controller.until('a first turn', () => turns() > 0)
  const [pull] = (await review.pulls()).filter(({ state }) => state === 'open')
  const comment = await fixture.gitea.request(fixture.writer.token, 'POST', `${fixture.path}/issues/${pull?.number}/comments`, {
    body: '/adopt all\n\n/snooze 1d',
  })
  assert.equal(comment.status, 201)
  const hook = await controller.url('webhook')
  const answers = [await deliver(hook, `password=${hooked}`), await deliver(hook, 'a secret that Gitea knows')]
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
  for (const body of [JSON.stringify({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', items: [event] }), `{"password": "${audited}`]) {
    const answer = await fetch(await controller.url('audit'), { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    sent.push({ where: 'an answer to an audit event', content: Buffer.from(await answer.text()) })
  }
  for (const path of ['/healthz', '/metrics']) {
    const answer = await fetch(hook.replace('/webhook', path))
    sent.push({ where: path, content: Buffer.from(await answer.text()) })
    // There are no metrics. When there are, they are searched here.
    assert.equal(answer.status, path === '/metrics' ? 404 : 200)
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
  controller.send('SIGTERM')
  const ended = await controller.exited
  assert.ok(ended.code === 0 || ended.code === 130, controller.stderr)
  await review.observe()
  return [
    ...sent,
    { where: 'stdout of the controller', content: Buffer.from(controller.stdout) },
    { where: 'stderr of the controller', content: Buffer.from(controller.stderr) },
  ]
}

/** Manifests of the package whose secrets are in git: somebody's own commits. */
async function authoredIds({ world }: ReviewWorld): Promise<ReadonlySet<string>> {
  // A proposal that was rejected or made anew has no branch any longer, and its objects stay.
  const objects = (await world.remote('cat-file', '--batch-all-objects', '--batch-check')).split('\n')
  const commits = objects.flatMap((line) => (line.split(' ')[1] === 'commit' ? [line.slice(0, line.indexOf(' '))] : []))
  const lines = (await world.remote('rev-list', '--objects', ...commits)).split('\n')
  return new Set(lines.flatMap((line) => (/ apps\/git-\d+\/\d+\.yaml$/.test(line) ? [line.slice(0, line.indexOf(' '))] : [])))
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
  for (const { number } of await read<readonly { number: number }[]>('/issues?state=all&limit=50')) {
    for (const below of ['comments', 'timeline', 'labels']) await read(`/issues/${number}/${below}`)
  }
  for (const { number } of await read<readonly { number: number }[]>('/pulls?state=all&limit=50')) {
    for (const below of ['reviews', 'commits', 'files']) await read(`/pulls/${number}/${below}`)
  }
  const commits = (await world.remote('rev-list', '--all')).split('\n')
  for (const commit of commits) await read(`/commits/${commit}/statuses?limit=50`)
  return locations
}
