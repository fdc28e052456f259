import { Failure } from '@backporch/kyaml/failure'
import type { Clock } from '@backporch/system/clock'
import { listStillApplying } from '../../plan/unit/pending-settles.ts'
import type { TurnPorts, TurnRequest } from '../observe/turn-request.ts'
import { runTurn, type TurnResult } from './run-turn.ts'

/** Milliseconds. */
const LOOK_EVERY = 2_000

/**
 * @param timeout seconds
 * @throws Failure BP3014 when live does not agree in time
 */
export async function waitUntilSettled(
  ports: TurnPorts,
  request: TurnRequest,
  { clock, timeout }: { readonly clock: Clock; readonly timeout: number },
  signal: AbortSignal,
): Promise<TurnResult> {
  const deadline = clock.now().getTime() + timeout * 1000
  for (;;) {
    const turn = await runTurn(ports, request, signal)
    const [unit] = turn.units
    if (unit?.state === 'failed') throw unit.failures[0]
    // Other drift may be open meanwhile, so the unit's state is not precise enough.
    if (unit === undefined || listStillApplying(unit.observation).size === 0) return turn
    if (clock.now().getTime() + LOOK_EVERY > deadline)
      throw createNotSettledFailure(unit.unit.packageName, ports.cluster.name, timeout)
    request.onProgress?.(`waiting for ${ports.cluster.name} to agree with git`)
    await clock.sleep(LOOK_EVERY, signal)
  }
}

function createNotSettledFailure(name: string, cluster: string, timeout: number): Failure {
  return new Failure({
    code: 'BP3014',
    what: `${name} in ${cluster} does not agree with the merged decision`,
    why: `${timeout} s after the merge the approved changes are still live: the package was not applied, or the change was reverted`,
    remedy: `apply the package with its syncer, or set "settle: backporch" in the policy; then run backporch scan ${name}`,
    retry: 'backoff',
  })
}
