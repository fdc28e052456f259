import type { GiteaUnavailable } from './find-gitea.ts'
import type { Gitea } from './gitea.ts'
import { SHARED_GITEA } from './shared-gitea.ts'
import { type StartOptions, startGitea } from './start-gitea.ts'

/** A Gitea for one test run. */
export interface RunGitea {
  readonly state: 'ready'
  readonly gitea: Gitea
  /** To be merged into the environment of the test processes. */
  readonly environment: Readonly<Record<string, string>>
  /** Ends it. Safe to call again. */
  stop(): Promise<void>
}

/**
 * For the test runner: one Gitea for a whole run of test processes, which find it through `environment`; see
 * `sharedGitea`. It ends with the runner however that ends, `SIGKILL` included. Rejects when Gitea is there but does not start.
 */
export async function startGiteaForRun(
  options: StartOptions = {},
): Promise<RunGitea | GiteaUnavailable> {
  const gitea = await startGitea(options)
  if (gitea.state === 'unavailable') return gitea
  return {
    state: 'ready',
    gitea,
    environment: { [SHARED_GITEA]: gitea.stateFile },
    stop: () => gitea.stop(),
  }
}
