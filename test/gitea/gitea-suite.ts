import { after, describe, test } from 'node:test'
import { findGitea, type GiteaBinary, type GiteaUnavailable } from './find-gitea.ts'
import type { Gitea } from './gitea.ts'
import { sharedGitea } from './shared-gitea.ts'
import type { StartOptions } from './start-gitea.ts'

/**
 * A `describe` whose body gets a Gitea. Where none can run there is one test instead, skipped with the reason.
 *
 *   await giteaSuite('merging', {}, (gitea) => {
 *     test('closes the proposal', async () => { const ann = await gitea.createUser(gitea.uniqueName('ann')) … })
 *   })
 *
 * It may be shared with other files; see `sharedGitea`, which also says what it rejects with.
 */
export async function giteaSuite(
  name: string,
  options: StartOptions,
  body: (gitea: Gitea) => void,
): Promise<void> {
  const gitea = await sharedGitea(options)
  if (gitea.state === 'unavailable') return skipped(name, gitea)
  describe(name, () => {
    after(() => gitea.stop())
    body(gitea)
  })
}

/** The same for tests that start one of their own, because they stop it or need several: checks only that they could. */
export async function giteaStartSuite(
  name: string,
  body: (found: GiteaBinary) => void,
): Promise<void> {
  const found = await findGitea()
  if (found.state === 'unavailable') return skipped(name, found)
  describe(name, () => body(found))
}

/** A test and not a suite, because the test runner counts skipped tests only. */
function skipped(name: string, { why }: GiteaUnavailable): void {
  test(name, { skip: why }, () => {})
}
