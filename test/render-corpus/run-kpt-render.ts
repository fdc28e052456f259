/**
 * The real `kpt fn render --allow-exec` over a package tree, with our functions as programs on the PATH under their bare names.
 * The functions are bundled once per run: a program then starts in about 50 ms instead of 250.
 */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { boundCommand } from '../processes/bound-command.ts'
import { CORPUS_FUNCTIONS } from './corpus-functions.ts'
import type { RenderCase } from './render-case.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Functions of the catalog that are there, by their names. */
export const CATALOG_FUNCTIONS: readonly string[] = readdirSync(join(ROOT, 'functions'), {
  withFileTypes: true,
})
  .filter(
    (entry) => entry.isDirectory() && existsSync(join(ROOT, 'functions', entry.name, 'run.ts')),
  )
  .map(({ name }) => name)
  .sort()

export interface FunctionPrograms {
  /** To be put before the PATH. */
  readonly folder: string
  readonly names: readonly string[]
  remove(): void
}

/** Builds the programs in a new folder. @throws where esbuild does */
export async function buildFunctionPrograms(): Promise<FunctionPrograms> {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-functions-'))
  const programs = join(folder, 'programs')
  await build({
    absWorkingDir: ROOT,
    entryPoints: [
      ...CATALOG_FUNCTIONS.map((name) => ({ in: `functions/${name}/run.ts`, out: name })),
      { in: 'test/render-corpus/run-corpus-function.ts', out: 'corpus' },
    ],
    outdir: programs,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.19',
    minify: true,
    logLevel: 'error',
    banner: {
      js: "import{createRequire as bundledRequire}from'node:module';const require=bundledRequire(import.meta.url);",
    },
  })
  const names = [...CATALOG_FUNCTIONS, ...Object.keys(CORPUS_FUNCTIONS)]
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  for (const name of names) {
    const program =
      name in CORPUS_FUNCTIONS
        ? `"${join(programs, 'corpus.mjs')}" ${name}`
        : `"${join(programs, `${name}.mjs`)}"`
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\nNODE_COMPILE_CACHE="${join(folder, 'cache')}" exec "${process.execPath}" ${program}\n`,
    )
    chmodSync(join(bin, name), 0o755)
  }
  return { folder: bin, names, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

export interface KptRender {
  readonly ok: boolean
  /** All files of the package afterwards, by path, in order. */
  readonly files: { readonly [path: string]: string }
  /** What kpt says, with `<package>` for the folder and without times. */
  readonly text: string
  /** The text of results.yaml; empty where there is none. */
  readonly results: string
}

/** The environment of a render, whatever that of the tests has. */
function environmentOf(
  { folder }: FunctionPrograms,
  unattributed: RenderCase['unattributed'],
): Surroundings['env'] {
  return {
    PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
    KPT_DISABLE_ATTRIBUTION: unattributed === true ? '1' : '',
  }
}

/** Runs kpt over the tree in a folder of its own that is called `package`. Never throws for what kpt says. */
export async function runKptRender(
  tree: { readonly [path: string]: string },
  programs: FunctionPrograms,
  unattributed?: RenderCase['unattributed'],
): Promise<KptRender> {
  const outside = mkdtempSync(join(tmpdir(), 'backporch-render-'))
  const folder = join(outside, 'package')
  const results = join(outside, 'results')
  try {
    writeTree(folder, tree)
    const { code, text } = await run(
      'kpt',
      ['fn', 'render', folder, '--allow-exec', '--truncate-output=false', '--results-dir', results],
      {
        cwd: outside,
        env: environmentOf(programs, unattributed),
      },
    )
    return {
      ok: code === 0,
      files: filesBelow(folder),
      text: text
        .replaceAll(folder, '<package>')
        .replaceAll(outside, '<folder>')
        .replace(/ in [\d.]+m?s$/gm, '')
        .replace(/ +$/gm, ''),
      results: existsSync(join(results, 'results.yaml'))
        ? readFileSync(join(results, 'results.yaml'), 'utf8')
        : '',
    }
  } finally {
    rmSync(outside, { recursive: true, force: true })
  }
}

/** What `kpt fn render -o` prints for `stdout` and `unwrap`, and the files that it writes into a new folder. */
export interface KptOutputs {
  readonly list: string
  readonly unwrapped: string
  readonly files: KptRender['files']
}

/** @throws where kpt does not render the tree */
export async function runKptOutputs(
  { files: tree, unattributed }: RenderCase,
  programs: FunctionPrograms,
): Promise<KptOutputs> {
  const outside = mkdtempSync(join(tmpdir(), 'backporch-render-'))
  const folder = join(outside, 'package')
  const env = environmentOf(programs, unattributed)
  const rendered = async (output: string): Promise<string> => {
    const ended = await run('kpt', ['fn', 'render', folder, '--allow-exec', '-o', output], {
      cwd: outside,
      env,
    })
    if (ended.code !== 0) throw new Error(`kpt fn render -o ${output}: ${ended.text}`)
    return ended.printed
  }
  try {
    writeTree(folder, tree)
    const [list, unwrapped] = [await rendered('stdout'), await rendered('unwrap')]
    await rendered('written')
    return { list, unwrapped, files: filesBelow(join(outside, 'written')) }
  } finally {
    rmSync(outside, { recursive: true, force: true })
  }
}

/** `kpt live init` over the tree: the same files, and the inventory that it adds. No cluster is asked. */
export async function runKptLiveInit(tree: {
  readonly [path: string]: string
}): Promise<KptRender['files']> {
  const outside = mkdtempSync(join(tmpdir(), 'backporch-render-'))
  const folder = join(outside, 'package')
  try {
    writeTree(folder, tree)
    const { code, text } = await run(
      'kpt',
      ['live', 'init', folder, '--quiet', '--inventory-id=one', '--name=inventory-one'],
      {
        cwd: outside,
        env: { KUBECONFIG: join(outside, 'none') },
      },
    )
    if (code !== 0) throw new Error(`kpt live init: ${text}`)
    return filesBelow(folder)
  } finally {
    rmSync(outside, { recursive: true, force: true })
  }
}

interface Ended {
  readonly code: number | null
  /** Both streams, as they came. */
  readonly text: string
  /** On stdout alone. */
  readonly printed: string
}

interface Surroundings {
  readonly cwd: string
  /** Beside what this process has. */
  readonly env: { readonly [name: string]: string }
}

/** kpt ends before it pays to collect garbage: a quarter less CPU, and less than 100 MB for a small package. The limit is for a large one. */
const WITHOUT_COLLECTION = { GOGC: 'off', GOMEMLIMIT: '1GiB' }

function run(program: string, args: readonly string[], { cwd, env }: Surroundings): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(...boundCommand(program, args), {
      cwd,
      env: { ...process.env, ...WITHOUT_COLLECTION, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const parts: Buffer[] = []
    const printed: Buffer[] = []
    child.stdout.on('data', (part: Buffer) => {
      parts.push(part)
      printed.push(part)
    })
    child.stderr.on('data', (part: Buffer) => parts.push(part))
    child.on('error', reject)
    child.on('close', (code) =>
      resolve({
        code,
        text: Buffer.concat(parts).toString('utf8'),
        printed: Buffer.concat(printed).toString('utf8'),
      }),
    )
  })
}

function writeTree(folder: string, tree: { readonly [path: string]: string }): void {
  mkdirSync(folder)
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

function filesBelow(folder: string): { readonly [path: string]: string } {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}

/** Runs kpt over the cases, two at a time. By name. */
export async function renderAllWithKpt(
  cases: readonly RenderCase[],
  programs: FunctionPrograms,
): Promise<ReadonlyMap<string, KptRender>> {
  const renders = new Map<string, KptRender>()
  const left = [...cases]
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      renders.set(next.name, await runKptRender(next.files, programs, next.unattributed))
  }
  await Promise.all([work(), work()])
  return renders
}
