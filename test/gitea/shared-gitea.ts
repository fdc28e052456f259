import { readFile } from 'node:fs/promises'
import type { GiteaUnavailable } from './find-gitea.ts'
import { type Gitea, type GiteaState, openGitea } from './gitea.ts'
import { type StartOptions, startGitea } from './start-gitea.ts'

/** Names a state file: the Gitea that the tests of this run share. Set by whoever called `startGiteaForRun`. */
export const SHARED_GITEA = 'BACKPORCH_TEST_GITEA'

/**
 * The Gitea of this run if there is one, else one of this process's own, which takes about two seconds.
 *
 * A shared Gitea has other tests' users and repositories in it: give yours a `uniqueName`, and do not stop it. A test that
 * cannot do so calls `startGitea`. `stop` leaves a shared one running.
 *
 * Rejects when the run promised a Gitea that does not answer: starting another would hide that it died.
 */
export async function sharedGitea(options: StartOptions = {}): Promise<Gitea | GiteaUnavailable> {
  const file = (options.environment ?? process.env)[SHARED_GITEA]
  if (!file) return startGitea(options)

  const state: GiteaState = JSON.parse(await readState(file))
  const gitea = openGitea(state, async () => {})
  const { status } = await gitea.request(undefined, 'GET', '/version')
  if (status !== 200)
    throw new Error(`the Gitea of this run, ${state.url}, answers ${status} to /version`)
  return gitea
}

async function readState(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new Error(
      `${SHARED_GITEA} names ${file}, which cannot be read: has the run's Gitea stopped?`,
      { cause },
    )
  }
}
