/** The compared programs, each as its users run it. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { foundInDiff, foundInReport, type HandEdit } from './edits.ts'
import type { Command } from './measure.ts'
import { type Bench, SYNCER } from './prepare.ts'

export interface Tool {
  readonly name: string
  /** What one check of everything runs. */
  readonly commands: readonly Command[]
  /** Reads its output; undefined for one that names no fields. */
  readonly remembered: ((edits: readonly HandEdit[], stdout: string) => string) | undefined
}

export interface Tools {
  readonly tools: readonly Tool[]
  /** One line per missing program, with the reason. */
  readonly notRun: readonly string[]
  /** One line per program, with its version. */
  readonly versions: readonly string[]
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Bundles backporch first, because the bundle is what people run. */
export function findTools(bench: Bench): Tools {
  const notRun: string[] = []
  const versions: string[] = [`Node ${process.versions.node}`]
  const tools = [backporch(bench)]
  const kubectl = versionOf(
    'kubectl',
    ['version', '--client', '-o', 'json'],
    /"gitVersion": "([^"]+)"/,
  )
  if (kubectl === undefined) notRun.push('kubectl: it is not on the PATH')
  else {
    versions.push(`kubectl ${kubectl}`)
    tools.push(kubectlDiff(bench, 1), kubectlDiff(bench, 8))
  }
  const kpt = versionOf('kpt', ['version'], /(\S+)/)
  if (kpt === undefined) notRun.push('kpt: it is not on the PATH')
  else {
    versions.push(`kpt ${kpt}`)
    tools.push(kptApply(bench))
  }
  return { tools, notRun, versions }
}

function backporch(bench: Bench): Tool {
  const dist = join(bench.folder, 'dist')
  execFileSync(process.execPath, [join(ROOT, '.ci', 'bundle.ts'), dist], { stdio: 'pipe' })
  const env = {
    ...environment(bench),
    BACKPORCH_KEY: 'bench'.repeat(8),
    XDG_CACHE_HOME: join(bench.folder, 'cache'),
  }
  const args = [join(dist, 'backporch.mjs'), 'diff', '-o', 'json', '--quiet', '--cluster', 'bench']
  return {
    name: 'backporch diff',
    commands: [{ program: process.execPath, args, cwd: bench.repository, env, exitCodes: [0, 1] }],
    remembered: (edits, stdout) => {
      const { found, others } = foundInReport(edits, stdout)
      return `${found} of ${edits.length}${others === 0 ? '' : `, and ${others} that nobody made`}`
    },
  }
}

function kubectlDiff(bench: Bench, concurrency: number): Tool {
  const folders = bench.packages.flatMap(({ path }) => ['-f', join(path, 'manifests')])
  const args = [
    'diff',
    '--server-side',
    '--force-conflicts',
    `--field-manager=${SYNCER}`,
    `--concurrency=${concurrency}`,
    ...folders,
  ]
  return {
    name: `kubectl diff --server-side${concurrency === 1 ? '' : ` --concurrency=${concurrency}`}`,
    commands: [
      {
        program: 'kubectl',
        args,
        cwd: bench.repository,
        env: environment(bench),
        exitCodes: [0, 1],
      },
    ],
    remembered: (edits, stdout) => `${foundInDiff(edits, stdout)} of ${edits.length}`,
  }
}

/** One run per package: a package is what `kpt live` works on. */
function kptApply(bench: Bench): Tool {
  const flags = [
    '--dry-run',
    '--server-side',
    '--force-conflicts',
    `--field-manager=${SYNCER}`,
    '--inventory-policy=adopt',
    '--output=events',
  ]
  return {
    name: 'kpt live apply --dry-run --server-side',
    commands: bench.packages.map(({ path }) => ({
      program: 'kpt',
      args: ['live', 'apply', path, ...flags],
      cwd: bench.repository,
      env: environment(bench),
      exitCodes: [0],
    })),
    remembered: undefined,
  }
}

function environment({ plane, folder }: Bench): Record<string, string | undefined> {
  const { PATH, TMPDIR } = process.env
  return { PATH, TMPDIR, HOME: folder, KUBECONFIG: plane.kubeconfig }
}

export function versionOf(
  program: string,
  args: readonly string[],
  pattern: RegExp,
): string | undefined {
  try {
    return pattern.exec(
      execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    )?.[1]
  } catch {
    return undefined
  }
}
