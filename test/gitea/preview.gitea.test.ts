/** `backporch preview --comment` as people run it, on the real Gitea: of a branch of the repository, and of a fork. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runAction } from '../../src/cli/action/run-action.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { backporchHere, runHere } from '../e2e/run-here.ts'
import type { ProgramRun } from '../e2e/run-program.ts'
import { ONBOARDING_FILES, onboardingRecording } from '../fakes/onboarding-samples.ts'
import { isApiWrite, startFaultyProxy } from './faulty-proxy.ts'
import type { Gitea } from './gitea.ts'
import { giteaSuite } from './gitea-suite.ts'

const FILE = 'apps/web/deployment.yaml'
/** It needs a program, so nothing is built of it where none may run. */
const pipeline = (marker: string): string =>
  `${ONBOARDING_FILES['apps/api/Kptfile']}pipeline:\n  mutators:\n  - exec: sh -c 'touch ${marker}; cat'\n`

await giteaSuite('backporch preview', {}, (gitea) => {
  test('writes one comment per head, and updates it in place for the next one', async (t) => {
    const { commit, open, preview, comments, writes } = await fixture(gitea, t)
    await commit('owner', 'change', FILE, (text) => text.replace('replicas: 3', 'replicas: 11'))
    const number = await open('owner', 'change')
    const first = await preview(number)
    assert.equal(first.code, 0, first.stderr)
    const [comment] = await comments(number)
    assert.match(comment ?? '', /Merging changes 1 object in 1 cluster\*\*: `apps\/web`/)
    assert.match(comment ?? '', /\| `3` \| `11` \|/)
    assert.equal(writes(), 1)
    await preview(number)
    assert.equal(writes(), 1, 'the same again writes nothing')
    await commit('owner', 'change', FILE, (text) => text.replace('replicas: 11', 'replicas: 12'))
    await preview(number)
    const after = await comments(number)
    assert.equal(after.length, 1)
    assert.match(after[0] ?? '', /\| `3` \| `12` \|/)
  })

  test('reads the commit of a fork but runs none of its programs, and the comment says so', async (t) => {
    const { commit, fork, open, preview, comments, ran, marker } = await fixture(gitea, t)
    await fork()
    await commit('stranger', 'evil', FILE, (text) => text.replace('replicas: 3', 'replicas: 11'))
    await commit('stranger', 'evil', 'apps/api/Kptfile', () => pipeline(marker))
    const number = await open('stranger', 'evil')
    const run = await preview(number, '--allow-exec', `sh -c 'touch ${marker}; cat'`)
    assert.equal(run.code, 2, run.stderr)
    const [comment = ''] = await comments(number)
    assert.match(comment, /\*\*From a fork:\*\* no program, image or module that it names was run/)
    assert.match(comment, /\| `3` \| `11` \|/)
    assert.match(comment, /`apps\/api` in `[^`]+`, after the merge \(`BP120[16]`\)/)
    assert.match(comment, /review it, and push the commits to a branch of the repository/)
    assert.ok(!ran())
  })

  test('the step of the Action comments; with the token of a fork it warns and writes the summary', async (t) => {
    const { commit, fork, open, step, comments } = await fixture(gitea, t)
    await commit('owner', 'change', FILE, (text) => text.replace('replicas: 3', 'replicas: 11'))
    const own = await open('owner', 'change')
    const done = await step(own, { fork: false, token: 'bot' })
    assert.equal(done.code, 0, done.stdout)
    assert.match((await comments(own))[0] ?? '', /\| `3` \| `11` \|/)
    await fork()
    await commit('stranger', 'other', FILE, (text) => text.replace('replicas: 3', 'replicas: 12'))
    const foreign = await open('stranger', 'other')
    const refused = await step(foreign, { fork: true, token: 'none' })
    assert.equal(refused.code, 0, refused.stdout)
    assert.match(refused.stdout, /^::warning title=backporch::the comment was not written/m)
    assert.match(refused.summary, /\| `3` \| `12` \|/)
    assert.deepEqual(await comments(foreign), [])
  })
})

async function fixture(gitea: Gitea, t: { after(done: () => unknown): void }) {
  const owner = await gitea.createUser(gitea.uniqueName('ann'))
  const stranger = await gitea.createUser(gitea.uniqueName('eve'))
  const bot = await gitea.createUser(gitea.uniqueName('bot'))
  await gitea.createRepository(owner, 'deploy', { files: ONBOARDING_FILES })
  const path = `/repos/${owner.name}/deploy`
  await gitea.request(owner.token, 'PUT', `${path}/collaborators/${bot.name}`, {
    permission: 'write',
  })
  const people = { owner, stranger }
  const folder = mkdtempSync(join(tmpdir(), 'backporch-preview-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const marker = join(folder, 'ran')
  writeFileSync(join(folder, 'live.json'), onboardingRecording())
  const proxy = await startFaultyProxy(gitea.url)
  t.after(() => proxy.stop())
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    BACKPORCH_TOKEN: bot.token,
    BACKPORCH_KEY: 'k'.repeat(32),
    GIT_CONFIG_NOSYSTEM: '1',
  }
  const flags = [
    '--repo',
    `${proxy.url}/${owner.name}/deploy.git`,
    '--live',
    join(folder, 'live.json'),
    '--comment',
  ]
  return {
    marker,
    writes: (): number => proxy.requests.filter(isApiWrite).length,
    /** Whether the program of the pipeline ran. */
    ran: (): boolean => existsSync(marker),
    preview: (number: number, ...more: readonly string[]): Promise<ProgramRun> =>
      backporchHere(['preview', '--pull-request', String(number), ...flags, ...more], {
        cwd: folder,
        env,
      }),
    /** The Action for the event of a pull request. `none`: a token that may read only. */
    step: async (
      number: number,
      { fork, token }: { readonly fork: boolean; readonly token: 'bot' | 'none' },
    ) => {
      const [event, summary] = [
        join(folder, `event-${number}.json`),
        join(folder, `summary-${number}`),
      ]
      const side = (name: string) => ({
        ref: 'main',
        sha: '0'.repeat(40),
        repo: { full_name: name },
      })
      writeFileSync(
        event,
        JSON.stringify({
          pull_request: {
            number,
            head: side(fork ? 'eve/deploy' : 'ann/deploy'),
            base: side('ann/deploy'),
          },
        }),
      )
      writeFileSync(summary, '')
      const readOnly = await gitea.createToken(bot, ['read:repository', 'read:issue', 'read:user'])
      const run = await runHere(
        'the action',
        {
          cwd: folder,
          env: {
            ...{ ...env, BACKPORCH_TOKEN: token === 'bot' ? bot.token : readOnly.token },
            ...{
              INPUT_COMMAND: 'preview',
              INPUT_REPO: `${proxy.url}/${owner.name}/deploy.git`,
              INPUT_LIVE: join(folder, 'live.json'),
            },
            ...{ GITHUB_EVENT_PATH: event, GITHUB_STEP_SUMMARY: summary },
          },
        },
        (world) => runAction(world, runCli),
      )
      return { ...run, summary: readFileSync(summary, 'utf8') }
    },
    fork: async (): Promise<void> => {
      const { status } = await gitea.request(stranger.token, 'POST', `${path}/forks`, {})
      assert.equal(status, 202)
    },
    /** Edits a file on a branch, which begins at `main`. */
    commit: async (
      who: keyof typeof people,
      branch: string,
      file: string,
      change: (text: string) => string,
    ): Promise<void> => {
      const { name, token } = people[who]
      const at = `/repos/${name}/deploy/contents/${file}`
      const there = await gitea.request<{ sha: string; content: string }>(
        token,
        'GET',
        `${at}?ref=${branch}`,
      )
      const { body } =
        there.status === 200
          ? there
          : await gitea.request<{ sha: string; content: string }>(token, 'GET', at)
      const content = Buffer.from(change(Buffer.from(body.content, 'base64').toString())).toString(
        'base64',
      )
      const to = there.status === 200 ? { branch } : { branch: 'main', new_branch: branch }
      const { status } = await gitea.request(token, 'PUT', at, {
        ...to,
        sha: body.sha,
        content,
        message: 'edit',
      })
      assert.equal(status, 200)
    },
    open: async (who: keyof typeof people, branch: string): Promise<number> => {
      const head = who === 'owner' ? branch : `${people[who].name}:${branch}`
      const { status, body } = await gitea.request<{ number: number }>(
        people[who].token,
        'POST',
        `${path}/pulls`,
        {
          head,
          base: 'main',
          title: 'x',
        },
      )
      assert.equal(status, 201)
      return body.number
    },
    comments: async (number: number): Promise<readonly string[]> => {
      const { body } = await gitea.request<{ body: string }[]>(
        owner.token,
        'GET',
        `${path}/issues/${number}/comments`,
      )
      return body.map((comment) => comment.body)
    },
  }
}
