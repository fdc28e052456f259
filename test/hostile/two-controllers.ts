/**
 * Two controllers of one repository on a real Gitea, and somebody who edits the cluster, merges, closes and commits at random times.
 * What Gitea did for a person is the truth; the ledger has to say each of it once, and nothing else.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { comeToRest, looksAt } from '../e2e/chaos-world.ts'
import { backporchHere } from '../e2e/run-here.ts'
import { COLOURS, type Colour, type LiveColour, recordingOf } from '../fakes/recorded-config-map.ts'
import { startFaultyProxy } from '../gitea/faulty-proxy.ts'
import type { Gitea, GiteaUser } from '../gitea/gitea.ts'
import { PROGRAM } from '../program.ts'
import { Chance } from '../seeds/chance.ts'

const PACKAGES = ['a', 'b', 'c', 'd'] as const
/** Looks of two controllers, one or two of each in a second. */
const REST = { rest: 32, most: 800 }
const NOW =
  'detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0, prConcurrentLimit: 0, stormThreshold: 0, stormShare: 0, digest: off}'
const POLICY = `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: test}\nspec: {mode: Propose, ${NOW}}\n`

/** What Gitea did for a person. */
export interface Act {
  readonly pull: number
  readonly outcome: 'Merged' | 'Declined'
  /** Names of the episodes whose records were on the head that was merged or closed. */
  readonly episodes: readonly string[]
  /** One of two open pull requests of one branch was closed: told once or not at all. */
  readonly mayBeReported?: boolean
  /** The commit that was merged or closed. */
  readonly head: string
  /** Name of the person; empty where a merge kept our commit, and Gitea does not know of the merge: nobody is named anywhere. */
  readonly by: string
}

/** As `history -o json` lists it. */
export interface Reported {
  readonly episode: string
  readonly outcome: string
  readonly decidedBy: string
}

export interface Day {
  readonly acts: readonly Act[]
  readonly reported: readonly Reported[]
  /** How often each thing was done. */
  readonly counts: Readonly<Record<string, number>>
  /** Lines about pull requests and the ledger, for whoever has to find out what happened. */
  readonly log: readonly string[]
}

interface Pull {
  readonly number: number
  readonly state: string
  readonly merged: boolean
  readonly head: { readonly label: string }
}

/** What somebody does. @returns false where it cannot be done now */
type Deed = readonly [name: string, act: () => void | Promise<void> | Promise<Act | boolean>]

/** @param seed of the random choices; when they meet a controller's writes is chance. @param deeds how many; what nobody could do does not count */
export async function twoControllers(
  gitea: Gitea,
  folder: string,
  seed: number,
  deeds: number,
): Promise<Day> {
  const chance = new Chance(seed)
  const world = await openWorld(gitea, folder)
  const controllers = ['one', 'two'].map((name) => world.controller(name))
  const acts: Act[] = []
  const counts: Record<string, number> = {}
  try {
    for (let deed = 0; deed < deeds; ) {
      const [name, act] = chance.one<Deed>([
        ['edit', () => world.edit(chance.one(PACKAGES), chance.one(COLOURS), 'kubectl-edit')],
        ['edit', () => world.edit(chance.one(PACKAGES), chance.one(COLOURS), 'kubectl-edit')],
        ['edit', () => world.edit(chance.one(PACKAGES), chance.one(COLOURS), 'kubectl-edit')],
        ['apply', () => world.applyAll()],
        ['commit', () => world.commit(chance.one(PACKAGES), chance.one(COLOURS))],
        [
          'merge',
          async () => world.decide('Merged', chance.one(['merge', 'squash', 'rebase']), chance),
        ],
        [
          'merge',
          async () => world.decide('Merged', chance.one(['merge', 'squash', 'rebase']), chance),
        ],
        ['close', async () => world.decide('Declined', '', chance)],
        ['adopt', async () => world.comment('/adopt', chance)],
        // An edit just before a decision: the controllers update the branch while somebody decides about it.
        [
          'edit, then merge',
          async () => {
            world.edit(chance.one(PACKAGES), chance.one(COLOURS), 'kubectl-edit')
            await sleep(chance.next() * 1_500)
            return world.decide('Merged', 'merge', chance)
          },
        ],
        [
          'edit, then close',
          async () => {
            world.edit(chance.one(PACKAGES), chance.one(COLOURS), 'kubectl-edit')
            await sleep(chance.next() * 1_500)
            return world.decide('Declined', '', chance)
          },
        ],
      ])
      const done = await act()
      if (done === false) continue
      deed += 1
      counts[name] = (counts[name] ?? 0) + 1
      if (typeof done === 'object') acts.push(done)
      await sleep(chance.next() * 900)
    }
    await world.quiet()
    for (const controller of controllers) await stop(controller)
    return {
      acts,
      reported: await world.history(),
      counts,
      log: [...(await world.pulls()), ...(await world.ledger())],
    }
  } finally {
    for (const controller of controllers) await stop(controller)
    await world.close()
  }
}

async function openWorld(gitea: Gitea, folder: string) {
  const [owner, bot, writer] = (await Promise.all(
    ['ann', 'bot', 'wendy'].map((name) => gitea.createUser(gitea.uniqueName(name))),
  )) as [GiteaUser, GiteaUser, GiteaUser]
  const files = Object.fromEntries(
    PACKAGES.flatMap((name) => [
      [
        `apps/${name}/Kptfile`,
        `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ${name}\n`,
      ],
      [`apps/${name}/settings.yaml`, manifest(name, 'blue')],
    ]),
  )
  const { name } = await gitea.createRepository(owner, gitea.uniqueName('deploy'), {
    files: { ...files, '.drift/policy.yaml': POLICY },
  })
  const path = `/repos/${owner.name}/${name}`
  for (const [person, permission] of [
    [bot, 'admin'],
    [writer, 'write'],
  ] as const)
    await gitea.request(owner.token, 'PUT', `${path}/collaborators/${person.name}`, { permission })
  const proxy = await startFaultyProxy(gitea.url)
  const remote = gitea.cloneUrl(bot, owner.name, name).plain.replace(gitea.url, proxy.url)
  const ask = async <Body>(
    method: string,
    below: string,
    body?: unknown,
  ): Promise<{ status: number; body: Body }> =>
    gitea.request<Body>(writer.token, method, `${path}${below}`, body)
  const live = new Map<string, LiveColour>()
  let clock = Date.now()
  const write = (): void => {
    const file = join(folder, 'live.json')
    writeFileSync(`${file}.new`, JSON.stringify(recordingOf([...live.values()])))
    renameSync(`${file}.new`, file)
  }
  const edit = (of: string, color: Colour, by: LiveColour['by']): void => {
    clock = Math.max(Date.now(), clock + 1_000)
    live.set(of, { color, by, at: new Date(clock), name: of })
    write()
  }
  for (const each of PACKAGES) edit(each, 'blue', 'ci')
  const openPulls = async (): Promise<Pull[]> =>
    (await ask<Pull[]>('GET', '/pulls?state=open&limit=50')).body
  const environment = (home: string): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: join(folder, home),
    XDG_CACHE_HOME: join(folder, home, 'cache'),
    GIT_CONFIG_NOSYSTEM: '1',
    BACKPORCH_KEY: 'c0de'.repeat(16),
    BACKPORCH_TOKEN: bot.token,
    NODE_COMPILE_CACHE: join(tmpdir(), 'backporch-test-compile-cache'),
  })
  const flags = [
    '--repo',
    remote,
    '--live',
    join(folder, 'live.json'),
    '--cluster',
    'prod',
    '--quiet',
  ]
  const contentOf = async (of: string): Promise<{ sha: string; text: string }> => {
    const { body } = await ask<{ sha: string; content: string }>(
      'GET',
      `/contents/apps/${of}/settings.yaml?ref=main`,
    )
    return { sha: body.sha, text: Buffer.from(body.content, 'base64').toString('utf8') }
  }
  /** Names of the records that the commit has and the base branch, as it was before, does not. */
  const recordsAt = async (commit: string): Promise<readonly string[]> => {
    const { body } = await ask<{ tree: readonly { readonly path: string }[] }>(
      'GET',
      `/git/trees/${commit}?recursive=true&per_page=1000`,
    )
    return body.tree.flatMap(
      ({ path: file }) => /^\.drift\/records\/.+-([0-9a-f]{8}[^/]*)\.yaml$/.exec(file)?.[1] ?? [],
    )
  }
  /** The branch may have moved on: see docs/facts/head-of-an-ended-pull-request.md. */
  const closedHead = async (pull: number): Promise<string> => {
    const { body } = await ask<readonly { readonly object: { readonly sha: string } }[]>(
      'GET',
      `/git/refs/pull/${pull}/head`,
    )
    return body[0]?.object.sha ?? ''
  }
  const tip = async (branch: string): Promise<string> =>
    (await ask<{ commit: { id: string } }>('GET', `/branches/${branch}`)).body.commit.id

  const isOfPerson = async (commit: string): Promise<boolean> =>
    (
      await ask<{ commit: { committer: { name: string } } }>(
        'GET',
        `/git/commits/${commit}?stat=false&files=false`,
      )
    ).body.commit.committer.name === writer.name

  return {
    edit,
    controller: (home: string): ChildProcess => {
      mkdirSync(join(folder, home))
      return spawn(process.execPath, [PROGRAM, 'controller', '--interval', '1s', ...flags], {
        cwd: join(folder, home),
        stdio: 'ignore',
        env: environment(home),
      })
    },
    /** The syncer applies what the base branch says, everywhere. */
    applyAll: async (): Promise<void> => {
      for (const each of PACKAGES) {
        const { text } = await contentOf(each)
        const wanted = COLOURS.find((one) => text.includes(`color: ${one}`))
        if (wanted !== undefined) edit(each, wanted, 'ci')
      }
    },
    commit: async (of: string, colour: Colour): Promise<boolean> => {
      const { sha, text } = await contentOf(of)
      const next = text.replace(/color: \w+/, `color: ${colour}`)
      if (next === text) return false
      const body = {
        branch: 'main',
        message: `${of} is ${colour}`,
        sha,
        content: Buffer.from(next).toString('base64'),
      }
      return (await ask('PUT', `/contents/apps/${of}/settings.yaml`, body)).status < 300
    },
    comment: async (body: string, chance: Chance): Promise<boolean> => {
      const pulls = await openPulls()
      const pull = pulls[chance.between(0, pulls.length - 1)]
      return (
        pull !== undefined &&
        (await ask('POST', `/issues/${pull.number}/comments`, { body })).status < 300
      )
    },
    decide: async (
      outcome: Act['outcome'],
      style: string,
      chance: Chance,
    ): Promise<Act | false> => {
      const pulls = await openPulls()
      const pull = pulls[chance.between(0, pulls.length - 1)]
      if (pull === undefined) return false
      const before = new Set(await recordsAt(await tip('main')))
      const episodesAt = async (head: string) =>
        (await recordsAt(head)).filter((episode) => !before.has(episode))
      if (outcome === 'Merged') {
        const { status } = await ask('POST', `/pulls/${pull.number}/merge`, { Do: style })
        // A branch that is withdrawn at this moment makes the pull request closed for Gitea, although git has the merge: git is asked.
        const head = await tip('main')
        const episodes = await episodesAt(head)
        if (status >= 300 && episodes.length === 0) return false
        const { merged } = (await ask<Pull>('GET', `/pulls/${pull.number}`)).body
        return {
          pull: pull.number,
          outcome,
          episodes,
          head,
          by: merged || (await isOfPerson(head)) ? writer.name : '',
        }
      }
      if ((await ask('PATCH', `/pulls/${pull.number}`, { state: 'closed' })).status >= 300)
        return false
      // A branch that is withdrawn closes the pull request too: who closed it is in the timeline.
      if (!(await closedBy(ask, pull.number, writer.name))) return false
      // Opened by both controllers at the same moment. It is a decision where the controller closes the other one.
      const mayBeReported = pulls.some(
        ({ number, head }) => number !== pull.number && head.label === pull.head.label,
      )
      const head = await closedHead(pull.number)
      if (head === '') throw new Error(`Gitea does not say what was closed of #${pull.number}`)
      return {
        pull: pull.number,
        outcome,
        episodes: await episodesAt(head),
        head,
        by: writer.name,
        mayBeReported,
      }
    },
    /** Until nothing is written any more: the branches stand still. */
    quiet: async (): Promise<void> => {
      const observe = async (): Promise<string> => {
        const refs = (
          await ask<{ name: string; commit: { id: string } }[]>('GET', '/branches?limit=50')
        ).body
        return JSON.stringify(refs.map((ref) => [ref.name, ref.commit.id]))
      }
      await comeToRest(() => looksAt(proxy), REST, observe)
    },
    close: () => proxy.stop(),
    pulls: async (): Promise<string[]> => {
      type Listed = Pull & {
        readonly created_at: string
        readonly closed_at: string | null
      }
      type Event = {
        readonly type: string
        readonly created_at: string
        readonly user: { readonly login: string } | null
      }
      const lines: string[] = []
      for (let page = 1; ; page += 1) {
        const { body } = await ask<Listed[]>(
          'GET',
          `/pulls?state=all&sort=oldest&limit=50&page=${page}`,
        )
        if (body.length === 0) return lines
        for (const { number, state, merged, head, created_at, closed_at } of body) {
          const events = (await ask<Event[]>('GET', `/issues/${number}/timeline`)).body
          const ends = events.filter(({ type }) => /close|merge|delete_branch/.test(type))
          const ended = ends
            .map(({ type, created_at: at, user }) => `${type} ${at.slice(11, 19)} ${user?.login}`)
            .join(', ')
          const what = `#${number} ${merged ? 'merged' : state} ${head.label} ${created_at.slice(11, 19)}-${closed_at?.slice(11, 19)}`
          lines.push(`${what}: ${ended}`)
        }
      }
    },
    /** What the ledger's commits say, newest first. */
    ledger: async (): Promise<string[]> => {
      type Commit = { readonly created: string; readonly commit: { readonly message: string } }
      const lines: string[] = []
      for (let page = 1; ; page += 1) {
        const { body } = await ask<Commit[]>(
          'GET',
          `/commits?sha=drift-ledger&stat=false&files=false&limit=50&page=${page}`,
        )
        if (body.length === 0) return lines
        for (const { created, commit } of body)
          lines.push(
            ...commit.message.split('\n').map((line) => `${created.slice(11, 19)} ${line}`),
          )
      }
    },
    history: async (): Promise<Reported[]> => {
      const run = await backporchHere(
        ['history', '--repo', remote, '--cluster', 'prod', '-o', 'json'],
        {
          cwd: folder,
          env: environment('seen'),
        },
      )
      if (run.code !== 0) throw new Error(run.stderr)
      type Item = { spec: { episode: string }; status?: { outcome: string; decidedBy: string } }
      return (JSON.parse(run.stdout) as { items: Item[] }).items.map(({ spec, status }) => ({
        episode: spec.episode,
        outcome: status?.outcome ?? '',
        decidedBy: status?.decidedBy ?? '',
      }))
    },
  }
}

async function closedBy(
  ask: <Body>(method: string, below: string) => Promise<{ body: Body }>,
  pull: number,
  person: string,
): Promise<boolean> {
  type Event = { readonly type: string; readonly user: { readonly login: string } | null }
  const { body } = await ask<Event[]>('GET', `/issues/${pull}/timeline?limit=100`)
  return body.findLast(({ type }) => type === 'close')?.user?.login === person
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  if (child.exitCode === null && child.kill('SIGTERM')) await ended
}

function manifest(name: string, colour: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: shop\ndata:\n  color: ${colour} # brand\n`
}
