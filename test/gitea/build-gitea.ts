import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { type BuildOutcome, buildOnce, type Environment, type GoBuild, goBuild, goEnvironment } from '../controlplane/go-build.ts'

const run = promisify(execFile)

/** The module that is tested against; `go.mod` says which version. */
const GITEA = 'code.gitea.io/gitea'
/** `sqlite` is a database without a server, written in C; the other lets a writer wait for its turn. Gitea's own test tags. */
const TAGS = 'sqlite,sqlite_unlock_notify'
/** What Gitea reads at run time and its published binary has inside: page templates, translations and licences, pictures. */
const STATIC_FOLDERS = ['templates', 'options', 'public']

/** Name of the folder beside the binary that is Gitea's `STATIC_ROOT_PATH`. */
export const STATIC_FOLDER = 'static'

/** What would be built from `module`. Reads the sources, builds nothing. Cached like the control plane; see `goBuild`. */
export function giteaBuild(module: string, environment: Environment): Promise<GoBuild> {
  return goBuild('gitea', module, environment, true, goBuildArguments)
}

/**
 * Builds; see `buildOnce`. Beside the binary is a copy of the module's static files, so that a cached build needs neither
 * Go nor its module cache.
 *
 * @param report called with a sentence when this is going to take minutes.
 */
export function buildGitea(build: GoBuild, go: string, environment: Environment, report: (message: string) => void): Promise<BuildOutcome> {
  return buildOnce(build, go, environment, {
    report,
    what: 'the test Gitea once, about 3 minutes on 2 cores',
    complete: (folder) => copyStaticFiles(build, go, environment, join(folder, STATIC_FOLDER)),
  })
}

/** The folder of Gitea's own files in the module cache, fetched if it is not there. */
export async function moduleFolder(go: string, module: string, environment: Record<string, string>): Promise<string> {
  const { stdout } = await run(go, ['mod', 'download', '-json', GITEA], { cwd: module, env: environment })
  return (JSON.parse(stdout) as { readonly Dir: string }).Dir
}

async function copyStaticFiles(build: GoBuild, go: string, environment: Environment, to: string): Promise<void> {
  const source = await moduleFolder(go, build.module, goEnvironment(environment, build.cgo))
  const unfinished = `${to}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await rm(to, { recursive: true, force: true })
  for (const folder of STATIC_FOLDERS) await copyFolder(join(source, folder), join(unfinished, folder))
  await rename(unfinished, to)
}

/** Copies files and folders, not links. Not `cp`, which takes over that everything in a module cache is write-protected: nobody could remove the copy. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  const entries = await readdir(from, { recursive: true, withFileTypes: true })
  const targetOf = (entry: { parentPath: string; name: string }): string => join(to, relative(from, join(entry.parentPath, entry.name)))
  for (const entry of entries) if (entry.isDirectory()) await mkdir(targetOf(entry), { recursive: true })
  for (const entry of entries) if (entry.isFile()) await copyFile(join(entry.parentPath, entry.name), targetOf(entry))
}

/** The version is linked in, read from `go.mod`: without it `/api/v1/version` says `development`. */
function goBuildArguments(goMod: string): string[] {
  const [, version] = /^\s*code\.gitea\.io\/gitea v(\S+)/m.exec(goMod) ?? []
  if (version === undefined) throw new Error(`go.mod does not require ${GITEA}`)
  return ['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-tags', TAGS, '-ldflags', `-s -w -X main.version=${version}`]
}
