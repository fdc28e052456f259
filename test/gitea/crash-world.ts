/**
 * The real program against the real Gitea, and a proxy between them that kills it at a request that writes: before Gitea hears of it,
 * or after Gitea did it and before the answer goes back. The cluster is a recording, so that only forge and git are in play.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRepository } from '@backporch/git-store/repository'
import { backporchHere } from '../e2e/run-here.ts'
import { type LiveColour, recordingOf } from '../fakes/recorded-config-map.ts'
import { boundCommand } from '../processes/bound-command.ts'
import { PROGRAM } from '../program.ts'
import { HANGS_AFTER, waitUntil } from '../waiting/wait-until.ts'
import {
  type Fault,
  type FaultyProxy,
  isApiWrite,
  isPush,
  type ProxiedRequest,
  startFaultyProxy,
} from './faulty-proxy.ts'
import type { Gitea, GiteaUser } from './gitea.ts'
import { handOf } from './gitea-fixture.ts'

const NOW =
  'detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0, prConcurrentLimit: 0, stormThreshold: 0, stormShare: 0, digest: off}'
const FILES = {
  'apps/web/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n',
  'apps/web/settings.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop\ndata:\n  color: blue # brand\n',
  '.drift/policy.yaml': `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: test}\nspec: {mode: Propose, ${NOW}}\n`,
}

export type CrashCommand = 'scan' | 'controller' | 'approve' | 'reject'

/** Asked at each request that writes, with its name, its body and its number, from 1, and waited for. @returns when to kill the program */
export type Kill = (
  write: string,
  body: Buffer,
  at: number,
) => 'before' | 'after' | undefined | Promise<undefined>

export interface Ended {
  readonly signal: NodeJS.Signals | null
  readonly code: number | null
  readonly stderr: string
  /** Requests that write, as `POST /pulls` or `push`, without what names the repository. */
  readonly writes: readonly string[]
}

/** One repository with one package, and its recorded cluster. */
export interface CrashWorld {
  /** As `/repos/<owner>/<name>`. */
  readonly path: string
  readonly writer: GiteaUser
  /** Somebody edits the cluster, or the syncer applies what git says. */
  live(color: LiveColour['color'], by: LiveColour['by']): void
  /** @param command `controller` ends when it was killed, and only then; `approve` and `reject` are of the one package, by Ada */
  run(command: CrashCommand, kill?: Kill): Promise<Ended>
  /** A scan, in which `harm` is asked at each request to the API, with its name and its number, from 1. */
  disturbed(harm: (request: string, at: number) => Fault | undefined): Promise<Ended>
  /** As a person in the browser. @returns Gitea's answer */
  send<Body = unknown>(method: string, below: string, body?: unknown): Promise<Body>
  /** Of pull request #1, in the browser. */
  merge(): Promise<void>
  /** Everything that backporch asked of the repository, as `GET /pulls/1`, oldest first. */
  requested(): readonly string[]
  /** Everything that people can see, without times, commits and the name of the repository. */
  end(): Promise<unknown>
}

export interface CrashFixture {
  open(): Promise<CrashWorld>
  close(): Promise<void>
}

export async function openCrashFixture(gitea: Gitea): Promise<CrashFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-gitea-crash-'))
  const [owner, bot, writer] = await Promise.all(
    ['ann', 'bot', 'wendy'].map((name) => gitea.createUser(gitea.uniqueName(name))),
  )
  if (owner === undefined || bot === undefined || writer === undefined) throw new Error('no users')
  const proxy = await startFaultyProxy(gitea.url)
  const began = Date.now()
  return {
    open: async () => {
      const { name } = await gitea.createRepository(owner, gitea.uniqueName('deploy'), {
        files: FILES,
      })
      const path = `/repos/${owner.name}/${name}`
      for (const [person, permission] of [
        [bot, 'admin'],
        [writer, 'write'],
      ] as const)
        await gitea.request(owner.token, 'PUT', `${path}/collaborators/${person.name}`, {
          permission,
        })
      const home = join(folder, name)
      mkdirSync(home)
      let edits = 0
      return {
        path,
        writer,
        live: (color, by) => {
          edits += 1
          writeFileSync(
            join(home, 'live.json'),
            JSON.stringify(recordingOf([{ color, by, at: new Date(began + edits * 1_000) }])),
          )
        },
        run: (command, kill) =>
          runProgram({ command, proxy, path, home, token: bot.token, kill, harm: undefined }),
        disturbed: (harm) =>
          runProgram({
            command: 'scan',
            proxy,
            path,
            home,
            token: bot.token,
            kill: undefined,
            harm,
          }),
        send: async (method, below, body) => {
          const answer = await gitea.request(writer.token, method, `${path}${below}`, body)
          if (answer.status >= 300)
            throw new Error(
              `${method} ${below} answers ${answer.status}: ${JSON.stringify(answer.body)}`,
            )
          return answer.body as never
        },
        merge: () => handOf(gitea, writer, path).merge(1, 'squash'),
        requested: () =>
          proxy.requests.flatMap((request) =>
            request.path.includes(path) ? [nameOf(request, path)] : [],
          ),
        end: async () => endOf(gitea, bot, path, home),
      }
    },
    close: async () => {
      await proxy.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface ProgramOrder {
  readonly command: CrashCommand
  readonly proxy: FaultyProxy
  readonly path: string
  readonly home: string
  readonly token: string
  readonly kill: Kill | undefined
  readonly harm: Parameters<CrashWorld['disturbed']>[0] | undefined
}

/** Faults by path of the repository: worlds run side by side through one proxy. */
const faults = new Map<string, FaultyProxy['fault']>()

async function runProgram({
  command,
  proxy,
  path,
  home,
  token,
  kill,
  harm,
}: ProgramOrder): Promise<Ended> {
  proxy.fault = (request) =>
    [...faults].find(([repository]) => request.path.includes(repository))?.[1](request)
  const repository = path.replace('/repos', '')
  const writes: string[] = []
  const started =
    kill === undefined && command === 'scan'
      ? undefined
      : start(command, `${proxy.url}${repository}.git`, home, token)
  const die = (): boolean => started?.kill('SIGKILL') === true
  let requested = 0
  faults.set(repository, async (request) => {
    if (harm !== undefined && request.path.startsWith('/api/')) {
      requested += 1
      const fault = harm(nameOf(request, path), requested)
      if (fault !== undefined) return fault
    }
    if (!isApiWrite(request) && !isPush(request)) return undefined
    const write = nameOf(request, path)
    writes.push(write)
    const when = await kill?.(write, request.body, writes.length)
    if (when === undefined) return undefined
    if (when === 'after') return { kind: 'lost', done: die }
    die()
    return { kind: 'cut' }
  })
  const ended = await (started === undefined
    ? scanHere(`${proxy.url}${repository}.git`, home, token)
    : endedOf(started))
  faults.delete(repository)
  return { ...ended, writes }
}

/** `push`, `POST /pulls` */
function nameOf(request: ProxiedRequest, path: string): string {
  return isPush(request)
    ? 'push'
    : `${request.method} ${request.path.split(path.replace('/repos', ''))[1]}`
}

function argumentsOf(remote: string, home: string): string[] {
  return ['--repo', remote, '--live', join(home, 'live.json'), '--cluster', 'prod', '--quiet']
}

function environmentOf(home: string, token: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: home,
    XDG_CACHE_HOME: join(home, 'cache'),
    GIT_CONFIG_NOSYSTEM: '1',
    BACKPORCH_KEY: 'c0de'.repeat(16),
    BACKPORCH_TOKEN: token,
    NODE_COMPILE_CACHE: join(tmpdir(), 'backporch-test-compile-cache'),
  }
}

const DECISION = ['apps/web', '--yes', '--as', 'Ada']

/** A scan that nobody kills needs no process of its own. */
async function scanHere(
  remote: string,
  home: string,
  token: string,
): Promise<Omit<Ended, 'writes'>> {
  const { code, stderr } = await backporchHere(['scan', ...argumentsOf(remote, home)], {
    cwd: home,
    env: environmentOf(home, token),
  })
  return { code, signal: null, stderr }
}

function start(command: CrashCommand, remote: string, home: string, token: string): ChildProcess {
  const own = { scan: [], controller: ['--interval', '1s'], approve: DECISION, reject: DECISION }[
    command
  ]
  const args = [PROGRAM, command, ...own, ...argumentsOf(remote, home)]
  return spawn(...boundCommand(process.execPath, args), {
    cwd: home,
    // A controller that nobody kills would go on for ever.
    timeout: HANGS_AFTER,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: environmentOf(home, token),
  })
}

function endedOf(child: ChildProcess): Promise<Omit<Ended, 'writes'>> {
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8')
  })
  return new Promise((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, stderr })),
  )
}

interface Issue {
  readonly number: number
  readonly title: string
  readonly state: string
  readonly body: string
  readonly labels: readonly { readonly name: string }[]
  readonly pull_request: { readonly merged: boolean; readonly draft: boolean } | null
}

async function endOf(gitea: Gitea, bot: GiteaUser, path: string, home: string): Promise<unknown> {
  const get = async <Body>(below: string): Promise<Body> =>
    (await gitea.request<Body>(bot.token, 'GET', `${path}${below}`)).body
  const issues = async (): Promise<Issue[]> => get('/issues?state=all&type=all&limit=50')
  const branches = new Set(
    (await get<{ name: string }[]>('/branches?limit=50')).map(({ name }) => name),
  )
  // Gitea closes pull requests whose branch is gone a moment after the push.
  await waitUntil('pull requests without a branch are closed', async () => {
    const open = await get<{ head: { ref: string } }[]>('/pulls?state=open&limit=50')
    return open.every(({ head }) => branches.has(head.ref))
  })
  const shown = (await issues()).sort((left, right) => left.number - right.number)
  const message = await Promise.all(
    shown.map(async ({ number, title, state, body, labels, pull_request }) => {
      type Comment = {
        readonly id: number
        readonly body: string
        readonly user: { readonly login: string }
      }
      const comments = await get<Comment[]>(`/issues/${number}/comments`)
      const reacted = await Promise.all(
        comments.map(({ id }) =>
          get<{ content: string }[] | null>(`/issues/comments/${id}/reactions`),
        ),
      )
      const { merged, draft } = pull_request ?? {}
      return {
        ...{
          number,
          title,
          state,
          body,
          merged,
          draft,
          labels: labels.map(({ name }) => name).sort(),
        },
        comments: comments.map((comment, index) => [
          comment.user.login,
          comment.body,
          reacted[index]?.map(({ content }) => content).sort(),
        ]),
      }
    }),
  )
  const repository = openRepository({
    remote: gitea.cloneUrl(bot, ...ownerAndName(path)).plain,
    token: bot.token,
    cacheDir: join(home, 'seen'),
    workingDirectory: home,
    environment: {},
    baseBranch: 'main',
  })
  const refs: Record<string, unknown> = {}
  const signal = new AbortController().signal
  for (const [ref, id] of (await repository.listRefs(signal)).refs) {
    if (!/^refs\/(heads|tags)\//.test(ref)) continue
    const { message } = await repository.commit(id, signal)
    const files = await repository.list(id, '', signal)
    const blobs = await repository.read(
      files.map((file) => file.id),
      signal,
    )
    type Status = {
      readonly context: string
      readonly status: string
      readonly description: string
    }
    const statuses = (await get<Status[] | null>(`/commits/${id}/statuses?limit=50`)) ?? []
    refs[ref] = {
      ...(ref.endsWith('/drift-ledger') ? {} : { message }),
      content: files.map((file) => [file.path, new TextDecoder().decode(blobs.get(file.id))]),
      statuses: statuses
        .map(({ context, status, description }) => [context, status, description])
        .sort(),
    }
  }
  const text = JSON.stringify({ text: message, refs })
    .replaceAll(path.split('/').at(-1) ?? '', 'REPOSITORY')
    .replaceAll(/2026-\d\d-\d\d[T ]\d\d:\d\d(:\d\dZ)?/g, 'TIME')
    // An answer has the id of the comment that it answers, which counts over all repositories.
    .replaceAll(/(<!-- backporch:[a-z]+=TIME,)\d+,/g, '$1ID,')
    // Of what was pushed, which has times in it.
    .replaceAll(/(content: |- )['"\\]*[0-9a-f]{16}\b['"\\]*?(?=\\n)/g, '$1HASH')
    .replaceAll(/\b[0-9a-f]{40}\b/g, 'COMMIT')
    // YAML quotes an id that looks like a number.
    .replaceAll('\\"COMMIT\\"', 'COMMIT')
    .replaceAll(/`[0-9a-f]{7}`/g, 'COMMIT')
  return JSON.parse(text)
}

function ownerAndName(path: string): [owner: string, name: string] {
  const [, , owner = '', name = ''] = path.split('/')
  return [owner, name]
}
