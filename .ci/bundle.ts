/**
 * The published program: entry files and the chunks that they share, so that `npx backporch` and the GitHub Action install no
 * dependency, and a command loads only what it needs; beside them the licences and the bill of materials of what is in them.
 *
 * node .ci/bundle.ts [folder]   writes <folder>/{backporch,action,render-worker,functions,set-default-requests,*-HASH}.mjs, functions.d.mts, licenses.txt and sbom.cdx.json; the folder is dist unless given
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Metafile } from 'esbuild'
import { neededParts } from './needed-parts.ts'
import { openDoors } from './open-doors.ts'
import { manifestAt, sbomOf } from './sbom.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

type Output = Metafile['outputs'][string]

/**
 * @returns what was written, by path
 * @throws when something would have to be installed beside the files, when esbuild warns, or when an entry lies in another folder than
 *   the chunks: `worker-renderer.ts` and `run-demo.ts` look for files beside the one that they are in
 */
async function bundle(
  entries: Readonly<Record<string, string>>,
  folder: string,
): Promise<Metafile['outputs']> {
  const { version, license = '' } = manifestAt(root)
  const { metafile, warnings } = await build({
    absWorkingDir: root,
    entryPoints: { ...entries },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    // The floor of package.json.
    target: 'node22.19',
    minify: true,
    // Stack traces of a reported fault name functions and classes, and error names are printed.
    keepNames: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    plugins: [neededParts(), openDoors(root)],
    define: { BACKPORCH_VERSION: JSON.stringify(version) },
    banner: {
      // Dependencies in CommonJS call require() for modules of Node itself, which a module file has to be given.
      js: `/* backporch ${version}, ${license}; of what is in it: licenses.txt */\nimport{createRequire as backporchRequire}from'node:module';const require=backporchRequire(import.meta.url);`,
    },
  })
  if (warnings.length > 0) throw new Error(`esbuild gave ${warnings.length} warnings`)
  const { outputs } = metafile
  const imports = Object.values(outputs).flatMap((output) => output.imports)
  const outside = imports
    .filter(({ external, path }) => external && !isBuiltin(path))
    .map(({ path }) => path)
  if (outside.length > 0) throw new Error(`not in the bundle: ${[...new Set(outside)].join(', ')}`)
  const elsewhere = Object.keys(outputs).filter(
    (path) => resolve(root, dirname(path)) !== resolve(root, folder),
  )
  if (elsewhere.length > 0) throw new Error(`not in ${folder}: ${elsewhere.join(', ')}`)
  return withoutUnused(outputs, Object.keys(entries))
}

/** esbuild writes a chunk for each late import, also for one whose code nothing needs. */
function withoutUnused(
  outputs: Metafile['outputs'],
  entries: readonly string[],
): Metafile['outputs'] {
  const used = new Set(
    Object.keys(outputs).filter((path) => entries.includes(basename(path, '.mjs'))),
  )
  for (const path of used)
    for (const { external, path: next } of outputs[path]?.imports ?? [])
      if (external !== true) used.add(next)
  for (const path of Object.keys(outputs)) if (!used.has(path)) rmSync(resolve(root, path))
  return Object.fromEntries(Object.entries(outputs).filter(([path]) => used.has(path)))
}

/** Size of an entry with all that is loaded with it, without what it loads later. */
function startSize(entry: string, outputs: Metafile['outputs']): number {
  const loaded = new Set([entry])
  for (const path of loaded) {
    for (const { kind, external, path: next } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && external !== true) loaded.add(next)
    }
  }
  return [...loaded].reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0)
}

/** Paths of the packages of which something is in an output, from the root. */
function packagesOf({ inputs }: Output): string[] {
  return Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => {
    const folder = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
    return folder === undefined || bytesInOutput === 0 ? [] : [folder]
  })
}

function licenceOf(path: string): string {
  const folder = join(root, path)
  const { name, version, license = 'no licence named' } = manifestAt(folder)
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return [`==== ${name} ${version} (${license}) ====`, ...texts].join('\n\n')
}

const folder = process.argv[2] ?? join(root, 'dist')
const entries = {
  backporch: 'src/main.ts',
  action: 'src/action-main.ts',
  'render-worker': 'src/adapters/functions/render-worker.ts',
  functions: 'functions/sdk/sdk.ts',
  'set-default-requests': 'functions/set-default-requests/run.ts',
}
mkdirSync(folder, { recursive: true })
// Chunks are named by their content, so those of an earlier build stay unless they are removed.
for (const file of readdirSync(folder))
  if (/-[0-9A-Z]{8}\.mjs$/.test(file)) rmSync(join(folder, file))
const outputs = await bundle(entries, folder)
const packages = [...new Set(Object.values(outputs).flatMap(packagesOf))].sort()
copyFileSync(join(root, 'functions/sdk/sdk.d.mts'), join(folder, 'functions.d.mts'))
writeFileSync(join(folder, 'licenses.txt'), packages.map(licenceOf).join('\n\n'))
writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(sbomOf(root, packages), null, 2)}\n`)
const kib = (bytes: number): number => Math.round(bytes / 1024)
for (const [path, { entryPoint }] of Object.entries(outputs)) {
  if (basename(path, '.mjs') in entries)
    console.log(`${path}: ${entryPoint}, starts with ${kib(startSize(path, outputs))} KiB`)
}
const bytes = Object.values(outputs).reduce((sum, output) => sum + output.bytes, 0)
console.log(
  `${folder}: ${Object.keys(outputs).length} files, ${kib(bytes)} KiB, with ${packages.length} packages`,
)
