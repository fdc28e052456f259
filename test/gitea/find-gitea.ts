import { join } from 'node:path'
import { ensureProgram, type FindOptions, type Unavailable } from '../programs/build-programs.ts'
import { findProgram } from '../programs/go-build.ts'
import { PROGRAMS } from '../programs/programs.ts'

export type { FindOptions } from '../programs/build-programs.ts'
/** Gitea cannot run on this machine. */
export type GiteaUnavailable = Unavailable

/** How to run Gitea. */
export interface GiteaBinary {
  readonly state: 'ready'
  readonly binary: string
  /** Gitea's `STATIC_ROOT_PATH`. */
  readonly staticRoot: string
}

/** The Gitea to run: our build (`ensureProgram`), and git, which it runs. */
export async function findGitea(
  options: FindOptions = {},
): Promise<GiteaBinary | GiteaUnavailable> {
  if ((await findProgram('git', options.environment ?? process.env)) === undefined)
    return {
      state: 'unavailable',
      why: 'cannot run Gitea here: there is no git on the PATH, which Gitea runs.',
    }
  const found = await ensureProgram('gitea', options)
  if (found.state === 'unavailable') return found
  return {
    state: 'ready',
    binary: found.path,
    staticRoot: join(found.folder, PROGRAMS.gitea.beside.folder),
  }
}
