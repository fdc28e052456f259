import { readFile } from 'node:fs/promises'
import { type ControlPlane, type ControlPlaneState, openControlPlane } from './control-plane.ts'
import type { ControlPlaneUnavailable } from './find-control-plane.ts'
import type { AuditLevel } from './server-flags.ts'
import { type StartOptions, startControlPlane } from './start-control-plane.ts'

/** Names a state file: the control plane that the tests of this run share. Set by whoever called `startForRun`. */
export const SHARED_CONTROL_PLANE = 'BACKPORCH_TEST_CONTROL_PLANE'

const AUDIT_LEVELS: readonly (AuditLevel | undefined)[] = [
  undefined,
  'Metadata',
  'Request',
  'RequestResponse',
]

/**
 * The control plane of this run if it has at least what `options` ask for, else one of this process's own.
 *
 * A shared plane has other tests' objects in it: work in a `namespace` of your own, give cluster-scoped objects unique
 * names, and do not stop its servers. A test that cannot do so calls `startControlPlane`. `stop` leaves a shared plane
 * running.
 *
 * Rejects when the run promised a plane that does not answer: starting another would hide that it died.
 */
export async function sharedControlPlane(
  options: StartOptions = {},
): Promise<ControlPlane | ControlPlaneUnavailable> {
  const file = (options.environment ?? process.env)[SHARED_CONTROL_PLANE]
  if (!file) return startControlPlane(options)

  const state: ControlPlaneState = JSON.parse(await readState(file))
  if (!isEnough(state, options)) return startControlPlane(options)

  const plane = await openControlPlane(state, async () => {})
  const { status } = await plane.request('GET', '/readyz')
  if (status !== 200)
    throw new Error(`the control plane of this run, ${state.url}, answers ${status} to /readyz`)
  return plane
}

async function readState(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new Error(
      `${SHARED_CONTROL_PLANE} names ${file}, which cannot be read: has the run's control plane stopped?`,
      { cause },
    )
  }
}

function isEnough(state: ControlPlaneState, wanted: StartOptions): boolean {
  if (wanted.controllerManager && !state.controllerManager) return false
  // What a plane was started with cannot be compared with flags: the same setting has many spellings.
  if (wanted.apiServerFlags && wanted.apiServerFlags.length > 0) return false
  return AUDIT_LEVELS.indexOf(state.auditLevel) >= AUDIT_LEVELS.indexOf(wanted.auditLevel)
}
