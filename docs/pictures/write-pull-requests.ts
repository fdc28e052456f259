/**
 * Makes the pictures of pull requests in this folder: a real Gitea, turns of Backporch on it, and its pages in headless
 * Chromium. The clusters are in memory; what is on the pages is what Backporch wrote.
 *
 *   node test/gitea/build-web-pages.ts        # once: the style sheets of the test Gitea
 *   node docs/pictures/write-pull-requests.ts [FOLDER]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openForge } from '@backporch/forge/open-forge'
import { BOT } from '@backporch/git-store/commit'
import { openRepository } from '@backporch/git-store/repository'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import type { TurnRequest } from '../../src/reconcile/observe/turn-request.ts'
import { runFleetTurn } from '../../src/reconcile/turn/run-turn.ts'
import { readVersion } from '../../src/wire.ts'
import { runProgram } from '../../test/e2e/run-program.ts'
import { InProcessRenderer } from '../../test/fakes/in-process-renderer.ts'
import { ONBOARDING_FILES, onboardingRecording } from '../../test/fakes/onboarding-samples.ts'
import { type TestRequest, turnRequest } from '../../test/fakes/turn-request.ts'
import { findGitea } from '../../test/gitea/find-gitea.ts'
import type { Gitea, GiteaUser } from '../../test/gitea/gitea.ts'
import { startGitea } from '../../test/gitea/start-gitea.ts'
import { type Browser, type Clip, findChromium, startBrowser } from './browser.ts'
import { toPalette } from './palette.ts'
import { clusterOf, EDGES, edit, FILES, PROD } from './story.ts'

const WIDTH = 1280
/** Around what is shown. */
const MARGIN = 12
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const target = process.argv[2] ?? fileURLToPath(new URL('.', import.meta.url))

const chromium = await findChromium(process.env)
const found = await findGitea()
if (chromium === undefined) console.log('no pictures: there is no chromium on the PATH')
else if (found.state === 'unavailable') console.log(`no pictures: ${found.why}`)
else if (!(await isStyled(found.staticRoot)))
  console.log('no pictures: run node test/gitea/build-web-pages.ts first')
else await takeAll(chromium)

async function takeAll(program: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-pictures-'))
  const gitea = await startGitea()
  if (gitea.state === 'unavailable') throw new Error(gitea.why)
  const browser = await startBrowser(program, WIDTH)
  try {
    const [owner, bot] = [await gitea.createUser('acme'), await gitea.createUser('backporch-bot')]
    await review(gitea, owner, bot, folder)
    const pages = `${gitea.url}/${owner.name}/deploy`
    for (const { number, title } of await issues(gitea, owner, 'deploy'))
      console.log(`#${number} ${title}`)
    await take(
      browser,
      `${pages}/pulls/${await numberOf(gitea, owner, 'apps/web')}`,
      'pull-request.png',
      1000,
    )
    await take(
      browser,
      `${pages}/pulls/${await numberOf(gitea, owner, 'apps/checkout')}`,
      'pull-request-mixed.png',
      1300,
    )
    await take(
      browser,
      `${pages}/pulls/${await numberOf(gitea, owner, 'platform/trust')}`,
      'pull-request-mass.png',
      1000,
    )
    await take(browser, `${pages}/issues/${await dashboard(gitea, owner)}`, 'dashboard.png', 1300)
    const first = await onboard(gitea, owner, bot, folder)
    await take(browser, first, 'pull-request-init.png', 1300)
  } finally {
    await browser.stop()
    await gitea.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The pull requests and the dashboard of one repository, as three turns leave them. */
async function review(
  gitea: Gitea,
  owner: GiteaUser,
  bot: GiteaUser,
  folder: string,
): Promise<void> {
  await gitea.createRepository(owner, 'deploy', { files: FILES })
  await letIn(gitea, owner, 'deploy', bot)
  const remote = gitea.cloneUrl(bot, owner.name, 'deploy').plain
  const environment = { GITEA_TOKEN: bot.token }
  const repository = openRepository({
    remote,
    token: bot.token,
    cacheDir: folder,
    workingDirectory: folder,
    environment: {},
    baseBranch: 'main',
  })
  const { signal } = new AbortController()
  const forge = await openForge(
    repository,
    {
      remote,
      kind: 'gitea',
      environment,
      clock: systemClock,
      version: readVersion(),
      longestWait: 0,
      findToken: async () => undefined,
      note: (text) => console.log(text),
    },
    signal,
  )
  const prod = clusterOf(PROD, ['apps/', 'infra/'])
  const edges = EDGES.map((name) => clusterOf(name, ['platform/']))
  const clusters = [prod, ...edges]
  const turn = async (now: string, more: TestRequest = {}, among = clusters): Promise<void> => {
    for (const cluster of clusters) cluster.now = now
    const result = await runFleetTurn({ repository, forge, clusters: among }, request(more), signal)
    for (const unit of result.units) if (unit.state === 'failed') throw unit.failures[0]
  }
  const web = 'apps/Deployment/shop/web'
  edit(prod, [{ key: web, field: 'spec.replicas', value: 5, manager: 'kubectl-scale' }])
  await turn('2026-11-21T02:17:00Z')
  edit(prod, [
    {
      key: 'apps/Deployment/shop/checkout',
      field: 'spec.replicas',
      value: 6,
      manager: 'kubectl-scale',
      at: '2026-11-21T09:41:00Z',
    },
    {
      key: 'apps/Deployment/shop/checkout',
      field: 'spec.template.spec.containers[name=app].image',
      value: 'registry.example/shop/checkout:v1.8.3-hotfix',
      manager: 'kubectl-set',
      at: '2026-11-21T09:44:00Z',
    },
    {
      key: '/ConfigMap/shop/checkout-settings',
      field: 'data.timeout',
      value: '90',
      at: '2026-11-21T09:46:00Z',
    },
    {
      key: '/Service/shop/checkout',
      field: 'spec.sessionAffinity',
      value: 'ClientIP',
      at: '2026-11-21T09:47:00Z',
    },
    { key: 'policy/PodDisruptionBudget/shop/checkout' },
  ])
  for (const edge of edges) {
    edit(edge, [
      {
        key: '/ConfigMap/platform/ca-bundle',
        field: 'data["ca.crt"]',
        value: 'MIIBsecond',
        manager: 'cert-rotator',
        at: '2026-11-21T09:50:00Z',
      },
    ])
  }
  await turn('2026-11-21T09:55:00Z')
  await turn(
    '2026-11-21T09:57:00Z',
    { packages: ['apps/checkout'], resolutionRequest: adopt(['deployment/checkout']) },
    [prod],
  )
  edit(prod, [
    {
      key: '/ConfigMap/infra/dns',
      field: 'data.upstream',
      value: '10.0.0.9',
      at: '2026-11-21T09:58:00Z',
    },
    {
      key: '/ConfigMap/infra/logging',
      field: 'data.level',
      value: 'debug',
      at: '2026-11-21T09:58:00Z',
    },
  ])
  await turn('2026-11-21T10:00:00Z')
}

function adopt(
  selectors: readonly string[],
): NonNullable<TurnRequest['forge']['resolutionRequest']> {
  return { resolution: 'Adopt', selectors, message: 'the hotfix of INC-4711 stays' }
}

function request(more: TestRequest): TurnRequest {
  return turnRequest({
    clock: { now: () => new Date() },
    key: createRedactionKey(new Uint8Array(32).fill(7)),
    bot: { email: BOT.email },
    renderer: new InProcessRenderer(),
    version: readVersion(),
    ...more,
  })
}

/** `backporch init` in another repository. @returns the address of its pull request */
async function onboard(
  gitea: Gitea,
  owner: GiteaUser,
  bot: GiteaUser,
  folder: string,
): Promise<string> {
  await gitea.createRepository(owner, 'fleet', { files: ONBOARDING_FILES })
  await letIn(gitea, owner, 'fleet', bot)
  const live = join(folder, 'live.json')
  writeFileSync(live, onboardingRecording())
  const remote = gitea.cloneUrl(bot, owner.name, 'fleet').plain
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GITEA_TOKEN: bot.token,
    GIT_CONFIG_NOSYSTEM: '1',
  }
  const run = await runProgram(
    process.execPath,
    [MAIN, 'init', '--yes', '--repo', remote, '--live', live],
    { cwd: folder, env },
  )
  if (run.code !== 0) throw new Error(run.stderr)
  return `${gitea.url}/${owner.name}/fleet/pulls/1`
}

async function letIn(gitea: Gitea, owner: GiteaUser, name: string, bot: GiteaUser): Promise<void> {
  const path = `/repos/${owner.name}/${name}/collaborators/${bot.name}`
  const { status } = await gitea.request(owner.token, 'PUT', path, { permission: 'admin' })
  if (status !== 204) throw new Error(`the bot cannot be let in: ${status}`)
}

interface Issue {
  readonly number: number
  readonly title: string
}

async function issues(gitea: Gitea, owner: GiteaUser, name: string): Promise<readonly Issue[]> {
  return (
    await gitea.request<readonly Issue[]>(
      owner.token,
      'GET',
      `/repos/${owner.name}/${name}/issues?state=open&limit=50`,
    )
  ).body
}

async function numberOf(gitea: Gitea, owner: GiteaUser, packagePath: string): Promise<number> {
  type Pull = { readonly number: number; readonly head: { readonly ref: string } }
  const { body } = await gitea.request<readonly Pull[]>(
    owner.token,
    'GET',
    `/repos/${owner.name}/deploy/pulls?state=open`,
  )
  const pull = body.find(({ head }) => head.ref.startsWith(`proposed/${packagePath}/`))
  if (pull === undefined)
    throw new Error(
      `no pull request of ${packagePath} among ${body.map(({ head }) => head.ref).join(' ')}`,
    )
  return pull.number
}

async function dashboard(gitea: Gitea, owner: GiteaUser): Promise<number> {
  const issue = (await issues(gitea, owner, 'deploy')).find(
    ({ title }) => title === 'Drift dashboard',
  )
  if (issue === undefined) throw new Error('there is no dashboard')
  return issue.number
}

/** The title and the first comment of the page, at most so high, and cut below a paragraph or a table. */
async function take(browser: Browser, url: string, name: string, height: number): Promise<void> {
  await browser.open(url)
  const clip = await browser.evaluate<Clip>(`(() => {
    const place = (selector) => document.querySelector(selector).getBoundingClientRect()
    const { left: x, right } = { ...place('.issue-title-header').toJSON(), right: place('.timeline-item.comment.first').right }
    document.querySelector('.issue-title-header').style.maxWidth = right - x + 'px'
    const y = place('.issue-title-header').top
    const parts = [...document.querySelectorAll('.timeline-item.comment.first .render-content > *')]
    const ends = parts.map((part) => part.getBoundingClientRect().bottom - y).filter((end) => end < ${height})
    const end = Math.max(...ends) > ${height} / 2 ? Math.max(...ends) : ${height}
    return { x: x - ${MARGIN}, y: y - ${MARGIN}, width: right - x + 2 * ${MARGIN}, height: end + 2 * ${MARGIN} }
  })()`)
  const picture = toPalette(await browser.capture(clip))
  writeFileSync(join(target, name), picture)
  console.log(
    `${name}: ${Math.round(clip.width)} x ${Math.round(clip.height)}, ${Math.round(picture.length / 1024)} KiB`,
  )
}

async function isStyled(staticRoot: string): Promise<boolean> {
  return access(join(staticRoot, 'public', 'assets', '.vite', 'manifest.json')).then(
    () => true,
    () => false,
  )
}
