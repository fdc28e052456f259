/** Cases on a forge: a ConfigMap `c` whose edits are proposed at once. */
import { policy } from '../e2e/packages.ts'
import type { ObservedPull } from '../e2e/review-world.ts'
import type { ProgramRun } from '../e2e/run-program.ts'
import type { Lab } from './lab.ts'
import { configMap } from './manifests.ts'

const PROPOSE = 'mode: Propose\ndetect: {minAge: 0s, settle: 0s}\nlimits: {prHourlyLimit: 100}'

export async function proposing(lab: Lab): Promise<void> {
  await lab.repository({
    'pkg/c.yaml': configMap(lab.namespace, 'a: "1", b: "1"'),
    ...policy(PROPOSE),
  })
  await lab.serverSide()
}

/** One turn: a command, which both reads what people decided and writes. */
export function scan(lab: Lab): Promise<ProgramRun> {
  return lab.backporch('scan', 'pkg')
}

/** `#1 open proposed/… Title`, oldest first. */
export async function listPulls(
  lab: Lab,
  state?: ObservedPull['state'],
): Promise<readonly string[]> {
  const pulls = (await lab.review.pulls()).filter(
    (pull) => state === undefined || pull.state === state,
  )
  return pulls.map(
    (pull) =>
      `#${pull.number} ${pull.merged ? 'merged' : pull.state} ${pull.head.label} "${pull.title}"`,
  )
}

/** One line, for a check. */
export function say({ code, stdout, stderr }: ProgramRun): string {
  return `exit ${code} · ${(stdout + stderr).trim().replaceAll('\n', ' · ')}`
}

/** The number of the only open pull request, and its branch. */
export async function onlyOpen(
  lab: Lab,
): Promise<{ readonly number: number; readonly branch: string }> {
  const { number, head } = await lab.review.onlyOpen()
  return { number, branch: head.label }
}

/** A change of the repository's settings or a rule, as its owner makes it. @returns the status */
export async function asOwner(
  lab: Lab,
  method: string,
  below: string,
  body?: object,
): Promise<number> {
  const { gitea, owner, path } = lab.review.fixture
  return (await gitea.request(owner.token, method, `${path}${below}`, body)).status
}

/** A person who may write, in the browser. Rejects when it is refused. */
export async function asPerson(
  lab: Lab,
  method: string,
  below: string,
  body?: object,
): Promise<void> {
  const { gitea, writer, path } = lab.review.fixture
  const answer = await gitea.request(writer.token, method, `${path}${below}`, body)
  if (answer.status >= 300)
    throw new Error(`${method} ${below} answers ${answer.status}: ${JSON.stringify(answer.body)}`)
}

/** backporch on another address of the repository, with the bot's token. */
export function backporchOn(
  lab: Lab,
  remote: string,
  ...args: readonly string[]
): Promise<ProgramRun> {
  const { bot } = lab.review.fixture
  const { world } = lab
  return world.backporchIn(
    world.checkout,
    { GITEA_TOKEN: bot.token },
    ...args,
    '--cluster',
    'lab',
    '--repo',
    remote,
  )
}
