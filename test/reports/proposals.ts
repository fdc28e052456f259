/** Cases on a forge: a ConfigMap `c` whose edits are proposed at once. */
import { policy } from '../e2e/packages.ts'
import type { ObservedPull } from '../e2e/review-world.ts'
import type { ProgramRun } from '../e2e/run-program.ts'
import type { Lab } from './lab.ts'
import { configMap } from './manifests.ts'

const PROPOSE = 'mode: Propose\ndetect: {minAge: 0s, settle: 0s}\nlimits: {prHourlyLimit: 100}'

export async function proposing(lab: Lab): Promise<void> {
  await lab.repository({ 'pkg/c.yaml': configMap(lab.namespace, 'a: "1", b: "1"'), ...policy(PROPOSE) })
  await lab.serverSide()
}

/** One turn: a command, which both reads what people decided and writes. */
export function scan(lab: Lab): Promise<ProgramRun> {
  return lab.backporch('scan', 'pkg')
}

/** `#1 open proposed/… Title`, oldest first. */
export async function listPulls(lab: Lab, state?: ObservedPull['state']): Promise<readonly string[]> {
  const pulls = (await lab.review.pulls()).filter((pull) => state === undefined || pull.state === state)
  return pulls.map((pull) => `#${pull.number} ${pull.merged ? 'merged' : pull.state} ${pull.head.label} "${pull.title}"`)
}

/** One line, for a check. */
export function say({ code, stdout, stderr }: ProgramRun): string {
  return `exit ${code} · ${(stdout + stderr).trim().replaceAll('\n', ' · ')}`
}
