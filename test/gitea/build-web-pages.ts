/**
 * For pictures only: gives the test Gitea its style sheets and scripts, which are not in the Go module but are made from sources
 * that are, with the versions of Gitea's own lock file. Once per machine and version, half a minute, from the npm registry.
 * Without them every page answers and has all its text, unstyled.
 *
 *   node test/gitea/build-web-pages.ts
 *
 * They go into the cached build's static folder, so every Gitea that is started afterwards has them.
 */
import { execFile } from 'node:child_process'
import { access, copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { copyFolder, moduleFolder } from '../programs/copy-folders.ts'
import { PROGRAMS } from '../programs/programs.ts'
import { findGitea } from './find-gitea.ts'

const run = promisify(execFile)
const FOLDERS = ['web_src', 'templates', 'public', 'assets']
const FILES = [
  'package.json',
  'pnpm-lock.yaml',
  '.npmrc',
  'vite.config.ts',
  'tailwind.config.ts',
  'tsconfig.json',
  'types.d.ts',
]
/** What the build writes; Gitea reads the manifest to find the others, so it is copied last. */
const RESULTS = ['js', 'css', '.vite']

const found = await findGitea()
if (found.state === 'unavailable') throw new Error(found.why)
const assets = join(found.staticRoot, 'public', 'assets')
if (await exists(join(assets, '.vite', 'manifest.json')))
  console.log('the pages are styled already')
else await build()

async function build(): Promise<void> {
  const source = await moduleFolder(PROGRAMS.gitea.beside.module, PROGRAMS.gitea, 'go', process.env)
  const work = await mkdtemp(join(tmpdir(), 'backporch-gitea-pages-'))
  try {
    for (const folder of FOLDERS) await copyFolder(join(source, folder), join(work, folder))
    for (const file of FILES) await copyFile(join(source, file), join(work, file))
    const { packageManager } = JSON.parse(await readFile(join(work, 'package.json'), 'utf8')) as {
      readonly packageManager: string
    }
    // Install scripts would download things from elsewhere; none is needed.
    await run(
      'npx',
      ['--yes', packageManager, 'install', '--prod', '--frozen-lockfile', '--ignore-scripts'],
      { cwd: work },
    )
    await run(process.execPath, [join('node_modules', 'vite', 'bin', 'vite.js'), 'build'], {
      cwd: work,
      env: { ...process.env, ENABLE_SOURCEMAP: 'false' },
    })
    for (const folder of RESULTS)
      await copyFolder(join(work, 'public', 'assets', folder), join(assets, folder))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  console.log(`the pages of the test Gitea are styled from now on: ${assets}`)
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
