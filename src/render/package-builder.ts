/** Programs that turn files into objects in one go: `kubectl kustomize`, and commands of the operator's. */
import { createHash } from 'node:crypto'
import type { FailureDetail } from '../failure.ts'
import type { PackageFiles } from '../package/package-files.ts'

/** One run: everything that decides about what it prints. */
export interface Build {
  readonly tool: 'kustomize' | 'command'
  /** What is built, or where the command runs, from the root of the repository; empty for the root. */
  readonly folder: string
  /** Every file that it can read, by path from the root of the repository, sorted; nothing else is there. */
  readonly files: PackageFiles
  /** Program and arguments; empty for kustomize. */
  readonly command: readonly string[]
}

/** What it printed, or why it did not. */
export type BuildAnswer = { readonly text: string } | { readonly failure: FailureDetail }

/** Answers at once. */
export interface BuildLibrary {
  /** @throws MissingBuilds where it has to run first */
  built(build: Build): BuildAnswer
}

export interface PackageBuilder {
  readonly library: BuildLibrary
  /** Equal builds give equal answers; each runs once while it is remembered. @throws the signal's reason when it is aborted */
  build(build: Build, signal: AbortSignal): Promise<BuildAnswer>
}

/** Thrown in the middle of a computation, which is done again once these have run. */
export class MissingBuilds extends Error {
  readonly builds: readonly Build[]

  constructor(builds: readonly Build[]) {
    super('a program has to run first')
    this.name = 'MissingBuilds'
    this.builds = builds
  }
}

/** For a turn whose units are rendered by kpt alone. */
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

/** The same for equal builds alone. */
export function buildKey({ tool, folder, command, files }: Build): string {
  const hash = createHash('sha256').update(JSON.stringify([tool, folder, command]))
  for (const { path, mode, content } of files) hash.update(`\0${path}\0${mode}\0${content.length}\0`).update(content)
  return hash.digest('base64')
}
