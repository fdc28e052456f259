/** Measures the time from a change in a live cluster until the forge lists its pull request, for Backporch and for a script. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ControlPlane } from '../test/controlplane/control-plane.ts'
import { startControlPlane } from '../test/controlplane/start-control-plane.ts'
import type { Gitea, GiteaUser } from '../test/gitea/gitea.ts'
import { startGitea } from '../test/gitea/start-gitea.ts'
import { BenchController, type Phases } from './bench-controller.ts'
import { type BenchObject, type BenchPackage, generate, repositoryFiles } from './generate.ts'
import { applyAll, pathOf } from './prepare.ts'
import { runScript } from './script.ts'
import { percentile, spread } from './table.ts'

export interface PullRequestOptions {
  /** Of each of the three repositories. */
  readonly objects: number
  readonly objectsPerPackage: number
  /** Measured changes for each way. */
  readonly rounds: number
  readonly seed: number
}

/** One repository on the forge, and the packages of it in the cluster. */
interface Location {
  readonly name: string
  readonly packages: readonly BenchPackage[]
  /** With the bot's rights. */
  readonly remote: string
}

/** Milliseconds. */
interface Timed {
  /** From the answer of the API server to the change. */
  readonly fromChange: number
  /** From the request for a turn. */
  readonly fromRequested: number
  readonly phases?: Phases
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OWNER = 'acme'
/** Milliseconds between two polls of the forge, which is the error of a figure. */
const OBSERVE = 20
const PATIENCE = 60_000

const POLICY = `apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata: {name: bench}
spec:
  mode: Propose
  detect: {minAge: 0s, settle: 0s}
  limits: {prHourlyLimit: 0, prConcurrentLimit: 0, stormThreshold: 0, stormShare: 0, digest: off}
`

/** @returns a section of Markdown, without its heading. Rejects where no API server or no Gitea can be run. */
export async function benchPullRequest(
  options: PullRequestOptions,
  report: (line: string) => void,
): Promise<string> {
  const plane = await startControlPlane()
  if (plane.state === 'unavailable') throw new Error(plane.why)
  const gitea = await startGitea()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'backporch-bench-')))
  const running: BenchController[] = []
  try {
    if (gitea.state === 'unavailable') throw new Error(gitea.why)
    const { body } = await plane.request<{ gitVersion: string }>('GET', '/version')
    execFileSync(process.execPath, [join(ROOT, '.ci', 'bundle.ts'), join(folder, 'dist')], {
      stdio: 'pipe',
    })
    const owner = await gitea.createUser(OWNER)
    const locations = new Map<string, Location>()
    for (const name of ['watch', 'script'])
      locations.set(name, await createLocation(gitea, owner, name, options))
    const all = [...locations.values()]
    report(`applying ${all.length} x ${options.objects} objects`)
    await applyAll(
      plane,
      all.flatMap(({ packages }) => packages),
    )
    const location = (name: string): Location => locations.get(name) ?? (all[0] as Location)
    const start = (name: string, flags: readonly string[]): BenchController => {
      const { remote } = location(name)
      const env = { GITEA_TOKEN: owner.token, KUBECONFIG: plane.kubeconfig }
      const started = new BenchController(
        join(folder, 'dist', 'backporch.mjs'),
        join(folder, name),
        ['--repo', remote, '--cluster', 'bench', ...flags],
        env,
      )
      running.push(started)
      return started
    }
    const loads: number[] = []
    const [byWatch, byScript]: [Timed[], Timed[]] = [[], []]

    // They alternate: while nothing changes, the controller does nothing.
    const watching = start('watch', ['--interval', '24h'])
    await watching.ready()
    const script = {
      kubeconfig: plane.kubeconfig,
      folder: join(folder, 'by-script'),
      token: owner.token,
      api: `${gitea.apiUrl}/repos/${OWNER}/script`,
    }
    runScript.prepare(script, location('script').remote, location('script').packages)
    for (let round = 0; round <= options.rounds; round += 1) {
      loads.push(loadavg()[0] ?? Number.NaN)
      const watched = await timeOne(plane, gitea, owner, location('watch'), round, async () =>
        watching.mark(),
      )
      await watching.done(watched.mark)
      if (round > 0)
        byWatch.push({ ...watched.timed, phases: watching.phases(watched.mark, watched.from) })
      const scripted = await timeOne(plane, gitea, owner, location('script'), round, async () =>
        runScript.run(script, round),
      )
      if (round > 0) byScript.push(scripted.timed)
      report(
        `${round === 0 ? 'warm-up' : `round ${round}`}: watch ${watched.timed.fromChange.toFixed(0)} ms, script ${scripted.timed.fromRequested.toFixed(0)} ms`,
      )
    }
    await watching.stop()
    const rows = [
      row(
        'backporch, its watch',
        byWatch.map(({ fromChange }) => fromChange),
      ),
      row(
        '`kubectl diff`, `git push`, one request',
        byScript.map(({ fromRequested: fromQuestion }) => fromQuestion),
      ),
    ]
    return [
      table(['from the change to the pull request', 'p50 s', 'p95 s', 'least–most s'], rows),
      'Duration of the steps of a turn, in ms (median):\n',
      table(
        [
          'change to the first request, with 0.5 s for more events',
          'read git and forge',
          'read cluster',
          'plan and pack',
          'push',
          'create pull request',
          'visible in the API',
        ],
        [phaseRow(byWatch)],
      ),
      `Requests to the API server in such a turn: ${percentile(
        byWatch.map(({ phases }) => phases?.requests ?? Number.NaN),
        50,
      )} (median), for ${options.objects} objects.`,
      `${options.objects} objects in ${location('webhook').packages.length} packages per row; each change is in another package, and the pull requests of earlier changes stay open. Rounds: ${options.rounds}, after one warm-up round; they alternate.`,
      `kube-apiserver ${body.gitVersion}, Gitea ${gitea.version}, Node ${process.versions.node}; ${cpus().length} CPUs (${cpus()[0]?.model ?? 'unknown'}), ${process.platform}; one-minute load ${spread(loads, 1)}.`,
    ].join('\n')
  } finally {
    for (const one of running) await one.stop()
    if (gitea.state === 'ready') await gitea.stop()
    await plane.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function createLocation(
  gitea: Gitea,
  owner: GiteaUser,
  name: string,
  options: PullRequestOptions,
): Promise<Location> {
  const packages = generate(options).map(({ path, namespace, objects }): BenchPackage => {
    const own = `${name}-${namespace}`
    const moved = objects.map(
      (object): BenchObject => ({ ...object, metadata: { ...object.metadata, namespace: own } }),
    )
    return { path, namespace: own, objects: moved }
  })
  if (packages.length <= options.rounds)
    throw new Error(
      `${options.rounds} rounds need as many packages and one more, there are ${packages.length}`,
    )
  await gitea.createRepository(owner, name, {
    files: { ...repositoryFiles(packages), '.drift/policy.yaml': POLICY },
  })
  return { name, packages, remote: gitea.cloneUrl(owner, OWNER, name).plain }
}

/** Edits one object of the round's package by hand, requests a turn, and waits for one more pull request. */
async function timeOne<Mark>(
  plane: ControlPlane,
  gitea: Gitea,
  owner: GiteaUser,
  { name, packages }: Location,
  round: number,
  ask: () => Promise<Mark>,
): Promise<{ readonly timed: Timed; readonly mark: Mark; readonly from: number }> {
  const object = packages[round]?.objects.find(({ kind }) => kind === 'ConfigMap')
  if (object === undefined) throw new Error(`package ${round} has no ConfigMap`)
  const before = await newest(gitea, owner, name)
  const path = `${pathOf(object)}?fieldManager=kubectl-edit`
  const { status } = await plane.request('PATCH', path, {
    body: { data: { key0: `edited-${round}` } },
    contentType: 'application/merge-patch+json',
  })
  if (status !== 200) throw new Error(`${path} answered ${status}`)
  const changed = performance.now()
  const from = performance.now()
  const asking = ask()
  for (;;) {
    if ((await newest(gitea, owner, name)) > before) break
    if (performance.now() - from > PATIENCE)
      throw new Error(`${name}: no pull request of round ${round}`)
    await sleep(OBSERVE)
  }
  const count = performance.now()
  return {
    timed: { fromChange: count - changed, fromRequested: count - from },
    mark: await asking,
    from,
  }
}

/** Number of the newest open pull request. */
async function newest(gitea: Gitea, { token }: GiteaUser, name: string): Promise<number> {
  const { body } = await gitea.request<readonly { number: number }[]>(
    token,
    'GET',
    `/repos/${OWNER}/${name}/pulls?state=open&limit=1`,
  )
  return body[0]?.number ?? 0
}

function row(name: string, times: readonly number[]): string[] {
  const seconds = (value: number): string => (value / 1000).toFixed(2)
  return [
    name,
    seconds(percentile(times, 50)),
    seconds(percentile(times, 95)),
    `${seconds(Math.min(...times))}–${seconds(Math.max(...times))}`,
  ]
}

function phaseRow(timed: readonly Timed[]): string[] {
  const phases = timed.flatMap((one) =>
    one.phases === undefined ? [] : [{ ...one.phases, count: one.fromRequested - one.phases.end }],
  )
  const median = (pick: (one: (typeof phases)[number]) => number): string =>
    percentile(phases.map(pick), 50).toFixed(0)
  return [
    median(({ waited }) => waited),
    median(({ read }) => read),
    median(({ observed }) => observed),
    median(({ planned }) => planned),
    median(({ pushed }) => pushed),
    median(({ opened }) => opened),
    median(({ count }) => count),
  ]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('')
}
