/** The real kubectl, for tests that build kustomizations with it. */
import { spawnSync } from 'node:child_process'

/** Why the tests that need kubectl do not run here, or false where they do: the `skip` option of node:test. */
export function whyNoKubectl(): string | false {
  const { error, status } = spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' })
  return error === undefined && status === 0 ? false : 'kubectl is not on the PATH'
}
