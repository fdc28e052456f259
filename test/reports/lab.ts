/** Where a case of a public report runs: a namespace, a repository with one package, the programs of people, and what was checked. */
import { join } from 'node:path'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import type { KubectlResult } from '../controlplane/run-kubectl.ts'
import type { ReviewWorld } from '../e2e/review-world.ts'
import type { ProgramRun } from '../e2e/run-program.ts'
import type { World } from '../e2e/world.ts'

/** One file of `cases/` exports one of these as `reported`. */
export interface ReportCase {
  /** What is right, in one line. */
  readonly right: string
  /** What Backporch said on 2026-11-27, in one line. */
  readonly before: string
  /** Needs a forge: `lab.review` is there. */
  readonly gitea?: boolean
  run(lab: Lab): Promise<void>
}

export interface Check {
  readonly label: string
  readonly isRight: boolean
  /** What was seen, in one line. */
  readonly seen: string
}

export interface Diff {
  readonly code: number
  /** `changed ConfigMap/c data.a "1" -> "2" by kubectl-edit` */
  readonly lines: readonly string[]
  readonly stderr: string
  readonly list: DriftReportList | undefined
}

export interface PatchOptions {
  readonly type?: 'merge' | 'json' | 'strategic'
  readonly manager?: string
  readonly namespace?: string
}

/** Who edits by hand. */
const PERSON = 'kubectl-edit'

export class Lab {
  readonly world: World
  readonly namespace: string
  readonly checks: Check[] = []
  private readonly plane: ControlPlane
  private readonly onForge: ReviewWorld | undefined

  constructor(
    plane: ControlPlane,
    namespace: string,
    world: World,
    review: ReviewWorld | undefined,
  ) {
    this.plane = plane
    this.namespace = namespace
    this.world = world
    this.onForge = review
  }

  get review(): ReviewWorld {
    if (this.onForge === undefined) throw new Error('this case has no forge: say `gitea: true`')
    return this.onForge
  }

  check(label: string, isRight: boolean, seen: string | readonly string[]): void {
    const text = typeof seen === 'string' ? seen : seen.join(' · ')
    this.checks.push({
      label,
      isRight,
      seen: text.trim() === '' ? 'nothing' : text.trim().replace(/\s+/g, ' '),
    })
  }

  checkQuiet(label: string, diff: Diff): void {
    this.check(
      label,
      diff.code === 0 && diff.lines.length === 0,
      diff.code === 0 && diff.lines.length === 0 ? 'quiet' : tell(diff),
    )
  }

  /** Commits and pushes files below `pkg/`; `null` removes one. */
  async files(files: Readonly<Record<string, string | null>>): Promise<void> {
    await this.repository(
      Object.fromEntries(Object.entries(files).map(([path, text]) => [`pkg/${path}`, text])),
    )
  }

  async repository(files: Readonly<Record<string, string | null>>): Promise<void> {
    if (this.onForge === undefined) await this.world.commit(files, 'change')
    else await this.onForge.commit(files, 'change')
  }

  path(file = ''): string {
    return join(this.world.checkout, 'pkg', file)
  }

  /** The syncer applies the files of the package, server-side. */
  async serverSide({
    file = '',
    manager = 'sync',
  }: {
    file?: string
    manager?: string
  } = {}): Promise<void> {
    await this.kubectl(
      'apply',
      '--server-side',
      '--force-conflicts',
      `--field-manager=${manager}`,
      '-f',
      this.path(file),
    )
  }

  async clientSide(file = ''): Promise<void> {
    await this.kubectl('apply', '-f', this.path(file))
  }

  /** As the administrator. Rejects when it fails. */
  async kubectl(...args: readonly string[]): Promise<string> {
    return (await this.plane.kubectl(args)).stdout
  }

  /** `kubectl` in the namespace of the case. */
  in(...args: readonly string[]): Promise<string> {
    return this.kubectl(...args, `--namespace=${this.namespace}`)
  }

  /** With text for standard input; exit code 1 is an answer. */
  pipe(stdin: string, ...args: readonly string[]): Promise<KubectlResult> {
    return this.plane.kubectl(args, { stdin, exitCodes: [0, 1] })
  }

  /** A server-side apply past kubectl. @param path of the API, with the field manager */
  async applyPatch(path: string, manifest: string): Promise<void> {
    const { status, body } = await this.plane.request('PATCH', path, {
      body: manifest,
      contentType: 'application/apply-patch+yaml',
    })
    if (status >= 300) throw new Error(`PATCH ${path} answers ${status}: ${JSON.stringify(body)}`)
  }

  async patch(object: string, patch: object, options: PatchOptions = {}): Promise<void> {
    const { type = 'strategic', manager = PERSON, namespace = this.namespace } = options
    const how = [
      `--type=${type}`,
      `--field-manager=${manager}`,
      `--namespace=${namespace}`,
      '-p',
      JSON.stringify(patch),
    ]
    await this.kubectl('patch', object, ...how)
  }

  /** A person takes the object, changes its text and puts it back. */
  async replace(object: string, change: (text: string) => string): Promise<void> {
    const text = await this.in('get', object, '-o', 'json')
    await this.pipe(change(text), 'replace', `--field-manager=${PERSON}`, '-f', '-')
  }

  backporch(...args: readonly string[]): Promise<ProgramRun> {
    const call = [...args, '--cluster', 'lab', '--color', 'never']
    return this.onForge === undefined
      ? this.world.backporch(...call)
      : this.onForge.backporch(...call)
  }

  /** What `diff` finds, as its JSON says. @param args `pkg` where there are none */
  async diff(...args: readonly string[]): Promise<Diff> {
    return readDiff(
      await this.backporch('diff', ...(args.length === 0 ? ['pkg'] : args), '-o', 'json'),
    )
  }

  /** `diff` in another folder, on the repository that is there. */
  async diffIn(folder: string, ...args: readonly string[]): Promise<Diff> {
    const call = ['diff', 'pkg', ...args, '--cluster', 'lab', '-o', 'json']
    return readDiff(await this.world.backporchIn(folder, {}, ...call))
  }

  /** What `diff` says to people: both outputs. */
  async told(...args: readonly string[]): Promise<string> {
    const run = await this.backporch('diff', ...(args.length === 0 ? ['pkg'] : args))
    return run.stdout + run.stderr
  }

  /** Adopts everything. @returns the file as the proposed branch has it, `undefined` where it was refused, and what was said */
  async adopt(file: string): Promise<{ readonly text: string | undefined; readonly said: string }> {
    const { code, stdout, stderr } = await this.backporch('adopt', 'pkg')
    const said = `exit ${code} · ${(stdout + stderr).trim().replaceAll('\n', ' · ')}`
    const isProposed = (await this.world.proposals()).some((name) => name.startsWith('proposed/'))
    return {
      text: isProposed ? await this.world.show(await this.proposed(), `pkg/${file}`) : undefined,
      said,
    }
  }

  /** What a server-side apply of the manifests would change, as `kubectl diff` prints it: empty where they are live. */
  async wouldChange(manifests: string): Promise<string> {
    const args = ['diff', '--server-side', '--force-conflicts', '--field-manager=sync', '-f', '-']
    const { stdout } = await this.pipe(manifests, ...args)
    return stdout
      .split('\n')
      .filter((line) => /^[-+](?![-+]| {2}generation:)/.test(line))
      .join(' · ')
  }

  /** The only `proposed/` branch. */
  async proposed(): Promise<string> {
    const [branch, ...more] = (await this.world.proposals()).filter((name) =>
      name.startsWith('proposed/'),
    )
    if (branch === undefined || more.length > 0)
      throw new Error(`proposed: ${[branch, ...more].join(' ') || 'no branch'}`)
    return branch
  }

  /** Takes every branch of Backporch away. */
  async forget(): Promise<void> {
    const names = [...(await this.world.refs()).keys()].filter((ref) =>
      /^refs\/heads\/(drafts|proposed|drift-ledger)\b/.test(ref),
    )
    for (const name of names) await this.world.remote('update-ref', '-d', name)
  }
}

export function tell({ code, lines, stderr, list }: Diff): string {
  const incomplete = (list?.incomplete ?? []).map(({ code: reason, why }) => `${reason}: ${why}`)
  return [`exit ${code}`, ...lines, ...incomplete, ...(list === undefined ? [stderr] : [])].join(
    ' · ',
  )
}

function readDiff({ code, stdout, stderr }: ProgramRun): Diff {
  if (stdout === '') return { code, lines: [], stderr, list: undefined }
  const list: DriftReportList = JSON.parse(stdout)
  const lines = list.items.flatMap(({ spec }) =>
    spec.changes.map(({ change, ref, path = '', git, live, actor }) => {
      const values =
        git === undefined && live === undefined
          ? ''
          : ` ${path} ${JSON.stringify(git)} -> ${JSON.stringify(live)}`
      return `${change} ${ref.kind}/${ref.name}${values} by ${actor.manager}`
    }),
  )
  return { code, lines: lines.sort(), stderr, list }
}
