/** Programs that render files: `kubectl kustomize`, `helm template`, and commands of the operator. */
import { createHash } from 'node:crypto'
import type { FailureDetail } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'

/** One run: the whole input that decides about its output. */
export interface Build {
  readonly tool: 'kustomize' | 'helm' | 'command'
  /** Folder of the build or of the command, from the root of the repository; empty for the root. */
  readonly folder: string
  /** Every file that it can read, sorted by path from the root of the repository. */
  readonly files: PackageFiles
  /** Program and arguments. For kustomize `--enable-helm`, where it runs Helm within the build. For helm the arguments alone, with paths from the root of the repository. */
  readonly command: readonly string[]
  /** Whether the files have values of Secrets: then nothing is told of what the program says. */
  readonly hasSecrets?: boolean
}

export type BuildAnswer = { readonly text: string } | { readonly failure: FailureDetail }

export interface BuildLibrary {
  /** @throws Unanswered where it has to run first */
  built(build: Build): BuildAnswer
}

export interface PackageBuilder {
  readonly library: BuildLibrary
  /** Equal builds give equal answers; each runs once while it is stored. @throws the signal's reason when it is aborted */
  build(build: Build, signal: AbortSignal): Promise<BuildAnswer>
}

/** For a turn that renders with kpt only. */
export const NO_BUILDS: BuildLibrary = {
  built: ({ folder }) => ({
    failure: {
      code: 'BP1208',
      what: 'the policy renders the package with a program',
      where: folder || '.',
      why: 'nothing here runs programs',
      remedy: 'allow the program with --allow-render where it may run',
      retry: 'on-change',
    },
  }),
}

/** By path, as a build has them. */
export function sortedFiles(files: PackageFiles): PackageFiles {
  return files.toSorted((one, other) => (one.path < other.path ? -1 : 1))
}

/** Equal for equal builds only. */
export function buildKey({ tool, folder, command, files, hasSecrets = false }: Build): string {
  const hash = createHash('sha256').update(JSON.stringify([tool, folder, command, hasSecrets]))
  for (const { path, mode, content } of files)
    hash.update(`\0${path}\0${mode}\0${content.length}\0`).update(content)
  return hash.digest('base64')
}
