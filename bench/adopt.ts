/**
 * The cost of Adopt compared with `diff`, in one of many units that Flux applies: for its own
 * value, for a component that all units share, and while its proposal is open.
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { gitTestEnvironment } from '../test/contract/git-remotes.ts'
import { appliedBy, editedBy } from '../test/fakes/live-object.ts'
import { packed, type StartCost, startOnce } from './start.ts'
import { spread } from './table.ts'

const SYNCER = 'kustomize-controller'
const OWN = 'app-001'
const SHARED = 'app-002'

interface Row {
  readonly name: string
  readonly words: readonly string[]
  /** Checkout of it. */
  readonly repository: string
  /** The row that this one is compared with. */
  readonly of?: number
  /** The builds of the previous process exist. */
  readonly isWarm?: boolean
}

interface Measured extends StartCost {
  readonly programs: number
}

/**
 * @param objects units
 * @returns a section of Markdown, without its heading. Rejects where kubectl, bash or GNU time is not there, or a command fails
 */
export async function benchAdopt(
  { objects: units, rounds }: { readonly objects: number; readonly rounds: number },
  report: (line: string) => void,
): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'backporch-bench-adopt-')))
  try {
    const env = {
      ...gitTestEnvironment(folder),
      BACKPORCH_KEY: 'bench'.repeat(8),
      BACKPORCH_ALLOW_RENDER: 'kubectl',
      PATH: `${countingKubectl(folder)}:${process.env['PATH']}`,
    }
    const [closed, open] = [join(folder, 'fleet'), join(folder, 'proposed')]
    const names = Array.from(
      { length: units },
      (_none, index) => `app-${String(index + 1).padStart(3, '0')}`,
    )
    prepare(closed, names, env)
    const launcher = packed(join(folder, 'packed'))
    const run = (row: Row) => {
      const builds = join(folder, '.cache', 'backporch', 'builds')
      if (row.isWarm !== true) rmSync(builds, { recursive: true, force: true })
      return measured(row, { launcher, folder, env })
    }
    // The remote of the resources, and so of the copy, is the first one.
    cpSync(closed, open, { recursive: true })
    run({ name: 'adopt', words: ['adopt', `ks/${OWN}`], repository: open })
    const rows: readonly Row[] = [
      { name: '`diff` of a unit', words: ['diff', `ks/${OWN}`], repository: closed },
      {
        name: 'the same, with its Adopt proposal open',
        words: ['diff', `ks/${OWN}`],
        repository: open,
        of: 0,
      },
      {
        name: '`adopt` of a value of its own',
        words: ['adopt', `ks/${OWN}`, '--dry-run'],
        repository: closed,
        of: 0,
      },
      {
        name: 'the same again, with the builds of the first',
        words: ['adopt', `ks/${OWN}`, '--dry-run'],
        repository: closed,
        of: 0,
        isWarm: true,
      },
      {
        name: `\`adopt\` of a value that all ${units} have`,
        words: ['adopt', `ks/${SHARED}`, '--dry-run'],
        repository: closed,
        of: 0,
      },
      { name: '`diff` of all units', words: ['diff'], repository: closed },
      {
        name: 'the same again, with the builds of the first',
        words: ['diff'],
        repository: closed,
        of: 5,
        isWarm: true,
      },
    ]
    const results = rows.map((): Measured[] => [])
    const loads: number[] = []
    // The first round fills the compile cache, and does not count.
    for (let round = 0; round <= rounds; round += 1) {
      report(`round ${round} of ${rounds}`)
      for (const [index, row] of rows.entries()) {
        const cost = run(row)
        if (round > 0) results[index]?.push(cost)
      }
      loads.push(loadavg()[0] ?? 0)
    }
    return [
      formatRows(rows, results),
      `${units} Flux Kustomizations of one component, a recorded cluster with two hand edits. Rounds: ${rounds}, interleaved, after one warm-up round; median (least–most).`,
      'Programs are runs of `kubectl kustomize`, CPU is that of the process and its children, memory the maximum of one process.',
      `Node ${process.versions.node}; ${cpus().length} CPUs (${cpus()[0]?.model ?? 'unknown'}), ${process.platform}; one-minute load ${spread(loads, 1)}.`,
    ].join('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @returns the folder with a `kubectl` that writes a line for each of its runs */
function countingKubectl(folder: string): string {
  const real = execFileSync('bash', ['-c', 'command -v kubectl'], { encoding: 'utf8' }).trim()
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(
    join(bin, 'kubectl'),
    `#!/bin/sh\necho >> "${join(folder, 'runs')}"\nexec "${real}" "$@"\n`,
  )
  chmodSync(join(bin, 'kubectl'), 0o755)
  return bin
}

function measured(
  { name, words, repository }: Row,
  at: { readonly launcher: string; readonly folder: string; readonly env: NodeJS.ProcessEnv },
): Measured {
  const runs = join(at.folder, 'runs')
  writeFileSync(runs, '')
  const live = ['--live', join(dirname(repository), 'live.json'), '--cluster', 'prod']
  const command = [process.execPath, at.launcher, ...words, ...live]
  const cost = startOnce(
    // 3: a recording answers no dry run of an object that somebody edited.
    { name, command, exitCodes: [0, 1, 3] },
    { cwd: repository, env: at.env, scratch: join(at.folder, 'memory') },
  )
  return { ...cost, programs: readFileSync(runs, 'utf8').length }
}

export function formatRows(
  rows: readonly Pick<Row, 'name' | 'of'>[],
  results: readonly (readonly Measured[])[],
): string {
  const middle = (index: number): number =>
    (results[index] ?? []).map(({ cpu }) => cpu).sort((one, other) => one - other)[
      Math.floor((results[index]?.length ?? 0) / 2)
    ] ?? Number.NaN
  const head = ['command', 'programs', 'CPU s', 'ratio', 'memory MiB']
  const cells = rows.map(({ name, of }, index) => {
    const column = (key: keyof Measured, digits: number): string =>
      spread(
        (results[index] ?? []).map((cost) => cost[key]),
        digits,
      )
    const ratio = of === undefined ? '' : (middle(index) / middle(of)).toFixed(2)
    return [name, column('programs', 0), column('cpu', 2), ratio, column('memory', 0)]
  })
  return [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |\n`).join('')
}

function prepare(repository: string, names: readonly string[], env: NodeJS.ProcessEnv): void {
  const url = `file://${repository}`
  const files: { [path: string]: string } = {
    'clusters/prod/source.yaml': text(source(url)),
    'components/limits/kustomization.yaml':
      'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources:\n- limits.yaml\n',
    'components/limits/limits.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: limits\ndata:\n  rate: "5"\n',
  }
  for (const name of names) {
    files[`clusters/prod/${name}.yaml`] = text(kustomization(name))
    files[`apps/${name}/kustomization.yaml`] =
      `namespace: ${name}\nresources:\n- deployment.yaml\ncomponents:\n- ../../components/limits\n`
    files[`apps/${name}/deployment.yaml`] = text(deployment(name))
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(repository, path)), { recursive: true })
    writeFileSync(join(repository, path), content)
  }
  const git = (...args: readonly string[]): void => {
    execFileSync('git', args, { cwd: repository, env, stdio: 'pipe' })
  }
  git('init', '--quiet', '--initial-branch=main')
  git('remote', 'add', 'origin', url)
  git('add', '--all')
  git('commit', '--quiet', '--message', 'feat: apps')
  const live = names.flatMap((name) => {
    const own = appliedBy(SYNCER, inNamespace(deployment(name), name))
    const limits = appliedBy(SYNCER, inNamespace(LIMITS, name))
    return [
      kustomization(name),
      name === OWN ? editedBy('kubectl-edit', own, 'spec.replicas', 4) : own,
      name === SHARED ? editedBy('kubectl-edit', limits, 'data.rate', '9') : limits,
    ]
  })
  writeFileSync(
    join(dirname(repository), 'live.json'),
    text({ apiVersion: 'v1', kind: 'List', items: [source(url), ...live] }),
  )
}

/** JSON is YAML. */
function text(object: Json): string {
  return `${JSON.stringify(object, null, 2)}\n`
}

const LIMITS: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'limits' },
  data: { rate: '5' },
}

function inNamespace(object: JsonObject, namespace: string): JsonObject {
  return { ...object, metadata: { ...(object['metadata'] as JsonObject), namespace } }
}

function deployment(name: string): JsonObject {
  const labels = { app: name }
  const containers = [{ name: 'app', image: `registry.example/${name}:1.0.0` }]
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  }
}

function source(url: string): JsonObject {
  return {
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind: 'GitRepository',
    metadata: { name: 'flux-system', namespace: 'flux-system' },
    spec: { interval: '1m', url, ref: { branch: 'main' } },
  }
}

function kustomization(name: string): JsonObject {
  return {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name, namespace: 'flux-system' },
    spec: {
      interval: '10m',
      path: `./apps/${name}`,
      prune: true,
      sourceRef: { kind: 'GitRepository', name: 'flux-system' },
    },
  }
}
