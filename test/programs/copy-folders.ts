import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { type Environment, type GoBuild, goEnvironment } from './go-build.ts'
import type { CopiedFolders } from './programs.ts'

const run = promisify(execFile)

/** Copies folders of a module beside the program, complete or not at all. */
export async function copyFolders(
  folders: CopiedFolders,
  build: GoBuild,
  go: string,
  environment: Environment,
): Promise<void> {
  const source = await moduleFolder(folders.module, build, go, environment)
  const to = join(dirname(build.binary), folders.folder)
  const unfinished = `${to}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await rm(to, { recursive: true, force: true })
  for (const [from, copy] of Object.entries(folders.copies))
    await copyFolder(join(source, from), join(unfinished, copy))
  await rename(unfinished, to)
}

/** The folder of a module in the module cache, fetched if it is not there, in the version that `module` requires. */
export async function moduleFolder(
  name: string,
  { module }: { readonly module: string },
  go: string,
  environment: Environment,
): Promise<string> {
  const { stdout } = await run(go, ['mod', 'download', '-json', name], {
    cwd: module,
    env: goEnvironment(environment, false),
  })
  return (JSON.parse(stdout) as { readonly Dir: string }).Dir
}

/** Copies files and folders, not links. Not `cp`, which takes over that everything in a module cache is write-protected: nobody could remove the copy. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  const entries = await readdir(from, { recursive: true, withFileTypes: true })
  const targetOf = (entry: { parentPath: string; name: string }): string =>
    join(to, relative(from, join(entry.parentPath, entry.name)))
  for (const entry of entries)
    if (entry.isDirectory()) await mkdir(targetOf(entry), { recursive: true })
  for (const entry of entries)
    if (entry.isFile()) await copyFile(join(entry.parentPath, entry.name), targetOf(entry))
}
