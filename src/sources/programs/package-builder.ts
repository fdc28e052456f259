import { createHash } from 'node:crypto'
import type { FailureDetail } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'

/** All inputs that decide the output. */
export interface Build {
  readonly tool: 'kustomize' | 'helm' | 'command'
  /** From the repository root; empty for the root. */
  readonly folder: string
  /** All readable files, sorted by path from the repository root. */
  readonly files: PackageFiles
  /**
   * For kustomize `--enable-helm`, if it runs Helm. For helm only the arguments, with paths from
   * the repository root.
   */
  readonly command: readonly string[]
  /** The program's messages are then not shown. */
  readonly hasSecrets?: boolean
}

export type BuildAnswer = { readonly text: string } | { readonly failure: FailureDetail }

export interface BuildLibrary {
  /** @throws Unanswered where it has to run first */
  built(build: Build): BuildAnswer
}

export interface PackageBuilder {
  readonly library: BuildLibrary
  /**
   * Equal builds run once while stored.
   * @throws the signal's reason when it is aborted
   */
  build(build: Build, signal: AbortSignal): Promise<BuildAnswer>
}

export const NO_BUILDS: BuildLibrary = {
  built: ({ folder }) => ({
    failure: {
      code: 'BP1208',
      what: 'the policy renders the package with a program',
      where: folder || '.',
      why: 'nothing here runs programs',
      remedy: 'allow the program with --allow-render',
      retry: 'on-change',
    },
  }),
}

export function sortFiles(files: PackageFiles): PackageFiles {
  return files.toSorted((one, other) => (one.path < other.path ? -1 : 1))
}

/** Equal for equal builds only. */
export function buildKey({ tool, folder, command, files, hasSecrets = false }: Build): string {
  const hash = createHash('sha256').update(JSON.stringify([tool, folder, command, hasSecrets]))
  for (const { path, mode, content } of files)
    hash.update(`\0${path}\0${mode}\0${content.length}\0`).update(content)
  return hash.digest('base64')
}
