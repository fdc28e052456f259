/**
 * The published programs: each in one file, so that `npx backporch` and the GitHub Action install no dependency; beside them
 * the thread in which both render packages, and the licences of what is in them.
 *
 * node .ci/bundle.ts [folder]   writes <folder>/{backporch.mjs,action.js,render-worker.mjs,licenses.txt}; the folder is dist unless given
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Metafile } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
}

interface Bundle {
  readonly path: string
  readonly kib: number
  /** Folders of the packages of which something is in it. */
  readonly packages: readonly string[]
}

/** @throws when something would have to be installed beside the file, or when esbuild warns */
async function bundle(entry: string, path: string): Promise<Bundle> {
  const { version, license = '' } = manifestOf(root)
  const { metafile, warnings } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: path,
    bundle: true,
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
    define: { BACKPORCH_VERSION: JSON.stringify(version) },
    banner: {
      // Dependencies in CommonJS call require() for modules of Node itself, which a module file has to be given.
      js: `/* backporch ${version}, ${license}; of what is in it: licenses.txt */\nimport{createRequire as backporchRequire}from'node:module';const require=backporchRequire(import.meta.url);`,
    },
  })
  if (warnings.length > 0) throw new Error(`esbuild gave ${warnings.length} warnings`)
  const [output] = Object.values(metafile.outputs)
  if (output === undefined) throw new Error('esbuild wrote nothing')
  const outside = output.imports.filter(({ external, path }) => external && !isBuiltin(path)).map(({ path }) => path)
  if (outside.length > 0) throw new Error(`not in the bundle: ${[...new Set(outside)].join(', ')}`)
  return { path, kib: Math.round(output.bytes / 1024), packages: packagesOf(output) }
}

/** Folders of the packages of which something is in the bundle. */
function packagesOf({ inputs }: Metafile['outputs'][string]): string[] {
  const folders = Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => {
    const folder = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
    return folder === undefined || bytesInOutput === 0 ? [] : [folder]
  })
  return [...new Set(folders)].sort().map((folder) => join(root, folder))
}

function licenceOf(folder: string): string {
  const { name, version, license = 'no licence named' } = manifestOf(folder)
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return [`==== ${name} ${version} (${license}) ====`, ...texts].join('\n\n')
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

const folder = process.argv[2] ?? join(root, 'dist')
const bundles = [
  await bundle('src/main.ts', join(folder, 'backporch.mjs')),
  await bundle('src/action-main.ts', join(folder, 'action.js')),
  // `worker-renderer.ts` looks for it beside the file that it is in.
  await bundle('src/adapters/functions/render-worker.ts', join(folder, 'render-worker.mjs')),
]
const packages = [...new Set(bundles.flatMap((one) => one.packages))].sort()
writeFileSync(join(folder, 'licenses.txt'), packages.map(licenceOf).join('\n\n'))
for (const { path, kib, packages: within } of bundles) console.log(`${path}: ${kib} KiB, with ${within.length} packages`)
