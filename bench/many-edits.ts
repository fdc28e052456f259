/** Measures many edits per second in many packages: the time until each is in the ledger, on the branch of its pull request, and in its text. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ControlPlane } from '../test/controlplane/control-plane.ts'
import { startControlPlane } from '../test/controlplane/start-control-plane.ts'
import type { Gitea, GiteaUser } from '../test/gitea/gitea.ts'
import { startGitea } from '../test/gitea/start-gitea.ts'
import { BenchController } from './bench-controller.ts'
import { type BenchPackage, generate, repositoryFiles } from './generate.ts'
import { applyAll, pathOf } from './prepare.ts'
import { percentile, spread } from './table.ts'

export interface ManyEditsOptions {
  readonly objects: number
  readonly objectsPerPackage: number
  /** Seconds in which edits are made. */
  readonly rounds: number
  readonly seed: number
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OWNER = 'acme'
const REPOSITORY = 'edits'
const EDITS_A_SECOND = 5
const FIELDS = 4
/** Milliseconds between two polls, which is the error of a figure. */
const [LOOK_AT_REFS, LOOK_AT_TEXTS] = [200, 2_000]
/** Milliseconds until all remaining edits must be reported. */
const PATIENCE = 180_000

const POLICY = `apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata: {name: bench}
spec:
  mode: Propose
  detect: {minAge: 0s, settle: 0s}
  limits: {prHourlyLimit: 0, prConcurrentLimit: 0, stormThreshold: 0, stormShare: 0, digest: off}
`

interface Edit {
  readonly value: string
  readonly field: string
  readonly at: number
  /** The time at which each place showed it first; undefined if a later edit of the field was seen before. */
  readonly seen: Map<Place, number | undefined>
}

type Place = 'ledger' | 'branch' | 'text'
const PLACES: readonly Place[] = ['ledger', 'branch', 'text']

class Edits {
  private readonly edits: Edit[] = []
  /** By field: edits that a place has not shown yet. */
  private readonly open = new Map<string, Edit[]>()

  add(field: string, value: string): void {
    const edit = { field, value, at: performance.now(), seen: new Map() }
    this.edits.push(edit)
    this.open.set(field, [...(this.open.get(field) ?? []), edit])
  }

  look(place: Place, values: ReadonlySet<string>): void {
    const now = performance.now()
    for (const [field, edits] of this.open) {
      const last = edits.findLastIndex(({ value }) => values.has(value))
      for (const edit of edits.slice(0, last + 1))
        if (!edit.seen.has(place)) edit.seen.set(place, values.has(edit.value) ? now : undefined)
      this.open.set(
        field,
        edits.filter(({ seen }) => seen.size < PLACES.length),
      )
    }
  }

  get count(): number {
    return this.edits.length
  }

  /** The last one of each field. */
  standing(): readonly Edit[] {
    return [...new Map(this.edits.map((edit) => [edit.field, edit])).values()]
  }

  /** Milliseconds. */
  times(place: Place): readonly number[] {
    return this.edits.flatMap(({ seen, at }) => {
      const time = seen.get(place)
      return time === undefined ? [] : [time - at]
    })
  }
}

/** @returns a section of Markdown, without its heading. Rejects where no API server or no Gitea can be run. */
export async function benchManyEdits(
  options: ManyEditsOptions,
  report: (line: string) => void,
): Promise<string> {
  const plane = await startControlPlane()
  if (plane.state === 'unavailable') throw new Error(plane.why)
  const gitea = await startGitea()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'backporch-edits-')))
  let controller: BenchController | undefined
  const stop = new AbortController()
  try {
    if (gitea.state === 'unavailable') throw new Error(gitea.why)
    execFileSync(process.execPath, [join(ROOT, '.ci', 'bundle.ts'), join(folder, 'dist')], {
      stdio: 'pipe',
    })
    const owner = await gitea.createUser(OWNER)
    const packages = generate(options)
    await gitea.createRepository(owner, REPOSITORY, {
      files: { ...repositoryFiles(packages), '.drift/policy.yaml': POLICY },
    })
    report(`applying ${options.objects} objects in ${packages.length} packages`)
    await applyAll(plane, packages)
    const args = [
      '--repo',
      gitea.cloneUrl(owner, OWNER, REPOSITORY).plain,
      '--cluster',
      'bench',
      '--interval',
      '1m',
    ]
    controller = new BenchController(
      join(folder, 'dist', 'backporch.mjs'),
      join(folder, 'home'),
      args,
      {
        GITEA_TOKEN: owner.token,
        KUBECONFIG: plane.kubeconfig,
      },
    )
    await controller.ready()
    const edits = new Edits()
    const git = gitFolderOf(gitea)
    const watching = Promise.all([
      watchRefs(git, edits, stop.signal),
      watchTexts(gitea, owner, edits, stop.signal),
    ])
    const load = await makeEdits(plane, packages, edits, options, report)
    const ended = performance.now()
    let missing = missingOf(git, edits)
    while (
      (missing.length > 0 || edits.standing().some(({ seen }) => !seen.has('text'))) &&
      performance.now() - ended < PATIENCE
    ) {
      await sleep(500)
      missing = missingOf(git, edits)
    }
    const calm = performance.now() - ended
    stop.abort()
    await watching
    const rows = PLACES.map((place) => row(place, edits.times(place)))
    const standing = edits.standing()
    return [
      table(['from an edit to', 'seen', 'p50 s', 'p95 s', 'p99 s', 'most s'], rows),
      `${edits.count} edits in ${options.rounds} s, of ${FIELDS} fields in each of ${packages.length} packages. ${standing.length} remained at the end; ${missing.length} of them were not in the ledger and on exactly one proposal${missing.length === 0 ? '' : ` (${missing.slice(0, 3).join('; ')})`}, and ${standing.filter(({ seen }) => !seen.has('text')).length} in no pull request, ${(calm / 1000).toFixed(0)} s after the last edit; ${(await openPulls(gitea, owner)).length} pull requests are open.`,
      `Gitea ${gitea.version}, Node ${process.versions.node}; ${cpus().length} CPUs (${cpus()[0]?.model ?? 'unknown'}), ${process.platform}; one-minute load ${spread(load, 1)}.`,
    ].join('\n')
  } finally {
    stop.abort()
    await controller?.stop()
    if (gitea.state === 'ready') await gitea.stop()
    await plane.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Edits one ConfigMap of each package as `kubectl edit` does. */
async function makeEdits(
  plane: ControlPlane,
  packages: readonly BenchPackage[],
  edits: Edits,
  { rounds, seed }: ManyEditsOptions,
  report: (line: string) => void,
): Promise<readonly number[]> {
  const objects = packages.flatMap(
    ({ objects: all }) => all.find(({ kind }) => kind === 'ConfigMap') ?? [],
  )
  const loads: number[] = []
  const begin = performance.now()
  for (let count = 0, state = seed; count < rounds * EDITS_A_SECOND; count += 1) {
    state = (state * 16_807) % (2 ** 31 - 1)
    const object = objects[state % objects.length]
    if (object === undefined) throw new Error('no package has a ConfigMap')
    const key = `key${Math.floor(state / objects.length) % FIELDS}`
    const value = `edited-${String(count).padStart(6, '0')}`
    const path = `${pathOf(object)}?fieldManager=kubectl-edit`
    const { status } = await plane.request('PATCH', path, {
      body: { data: { [key]: value } },
      contentType: 'application/merge-patch+json',
    })
    if (status !== 200) throw new Error(`${path} answered ${status}`)
    edits.add(`${object.metadata.namespace} ${key}`, value)
    if (count % (EDITS_A_SECOND * 10) === 0) {
      loads.push(loadavg()[0] ?? Number.NaN)
      report(
        `${Math.round((performance.now() - begin) / 1000)} s, ${count} edits; ${progressOf(edits)}`,
      )
    }
    await sleep(Math.max(0, begin + ((count + 1) * 1_000) / EDITS_A_SECOND - performance.now()))
  }
  return loads
}

function progressOf(edits: Edits): string {
  return PLACES.filter((place) => edits.times(place).length > 0)
    .map((place) => `${place} p95 ${(percentile(edits.times(place), 95) / 1000).toFixed(1)} s`)
    .join(', ')
}

/** The repository on Gitea's disk: reading it there costs the server nothing. */
function gitFolderOf(gitea: Gitea): string {
  const directory = join(gitea.stateFile, '..')
  const found = readdirSync(directory, { recursive: true, encoding: 'utf8' }).find((path) =>
    path.endsWith(`${OWNER}/${REPOSITORY}.git`),
  )
  if (found === undefined) throw new Error(`${directory} has no repository ${OWNER}/${REPOSITORY}`)
  return join(directory, found)
}

const VALUE = /edited-\d{6}/g

function valuesOf(git: string, refs: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>(refs.map((ref) => [ref, new Set()]))
  if (refs.length === 0) return found
  const args = ['grep', '--no-color', '-o', '-E', 'edited-[0-9]{6}', ...refs]
  for (const line of run(git, args).split('\n')) {
    const ref = line.slice(0, line.indexOf(':'))
    for (const [value] of line.matchAll(VALUE)) found.get(ref)?.add(value)
  }
  return found
}

function run(git: string, args: readonly string[]): string {
  try {
    return execFileSync('git', ['--git-dir', git, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 2 ** 28,
    })
  } catch {
    // Nothing matches, or the ref was deleted.
    return ''
  }
}

function headsOf(git: string): ReadonlyMap<string, string> {
  const lines = run(git, [
    'for-each-ref',
    '--format=%(refname) %(objectname)',
    'refs/heads/drift-ledger',
    'refs/heads/proposed',
  ]).split('\n')
  return new Map(lines.filter(Boolean).map((line) => line.split(' ') as [string, string]))
}

async function watchRefs(git: string, edits: Edits, signal: AbortSignal): Promise<void> {
  let known: ReadonlyMap<string, string> = new Map()
  while (!signal.aborted) {
    const heads = headsOf(git)
    const moved = [...heads].filter(([ref, commit]) => known.get(ref) !== commit)
    for (const [commit, values] of valuesOf(
      git,
      moved.map(([, id]) => id),
    )) {
      const ref = moved.find(([, id]) => id === commit)?.[0]
      edits.look(ref === 'refs/heads/drift-ledger' ? 'ledger' : 'branch', values)
    }
    known = heads
    await sleep(LOOK_AT_REFS)
  }
}

interface Pull {
  readonly body: string
  readonly head: { readonly ref: string }
}

async function openPulls(gitea: Gitea, { token }: GiteaUser): Promise<readonly Pull[]> {
  const pulls: Pull[] = []
  for (let page = 1; ; page += 1) {
    const path = `/repos/${OWNER}/${REPOSITORY}/pulls?state=open&limit=50&page=${page}`
    const { body } = await gitea.request<readonly Pull[]>(token, 'GET', path)
    pulls.push(...body)
    if (body.length < 50) return pulls
  }
}

async function watchTexts(
  gitea: Gitea,
  owner: GiteaUser,
  edits: Edits,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const texts = (await openPulls(gitea, owner)).map(({ body }) => body).join('\n')
    edits.look('text', new Set([...texts.matchAll(VALUE)].map(([value]) => value)))
    await sleep(LOOK_AT_TEXTS)
  }
}

/** Remaining edits that are not in the ledger, or not on exactly one branch. */
function missingOf(git: string, edits: Edits): readonly string[] {
  const heads = headsOf(git)
  const values = valuesOf(git, [...new Set(heads.values())])
  const ledger = values.get(heads.get('refs/heads/drift-ledger') ?? '') ?? new Set()
  const branches = [...heads].flatMap(([ref, commit]) =>
    ref === 'refs/heads/drift-ledger' ? [] : [values.get(commit) ?? new Set()],
  )
  return edits.standing().flatMap(({ value, field }) => {
    const count = branches.filter((each) => each.has(value)).length
    return ledger.has(value) && count === 1
      ? []
      : [`${field}=${value}: ${ledger.has(value) ? 'in' : 'not in'} the ledger, ${count} branches`]
  })
}

function row(place: Place, times: readonly number[]): readonly string[] {
  const names: Readonly<Record<Place, string>> = {
    ledger: 'the ledger',
    branch: 'the branch of its pull request',
    text: 'the text of its pull request',
  }
  const seconds = (hundredths: number): string => (percentile(times, hundredths) / 1000).toFixed(1)
  return [names[place], String(times.length), seconds(50), seconds(95), seconds(99), seconds(100)]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('')
}
