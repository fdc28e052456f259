/**
 * For the test runner: one control plane for a whole run of `node --test` processes.
 *
 *   const started = await startForRun()
 *   if (started.state === 'unavailable') reportSkipped(started.why)   // a failure in CI; the runner decides
 *   else {
 *     const child = spawn(process.execPath, ['--test', ...files], { env: { ...process.env, ...started.environment } })
 *     await exitOf(child)
 *     await started.stop()
 *   }
 *
 * Test files call `controlPlaneSuite` or `sharedControlPlane` and find the plane through `environment`. Run alone,
 * without the runner, a file starts a plane of its own, which costs it about two seconds.
 *
 * The plane ends with the runner however that ends, `SIGKILL` included; see `guard-process.ts`.
 */
import type { ControlPlane } from './control-plane.ts'
import { type ControlPlaneUnavailable, findControlPlane } from './find-control-plane.ts'
import { SHARED_CONTROL_PLANE } from './shared-control-plane.ts'
import { type StartOptions, startControlPlane } from './start-control-plane.ts'

/** A control plane for one test run. */
export interface RunControlPlane {
  readonly state: 'ready'
  readonly plane: ControlPlane
  /** To be merged into the environment of the test processes. */
  readonly environment: Readonly<Record<string, string>>
  /** Ends the plane. Safe to call again. */
  stop(): Promise<void>
}

/**
 * Starts the plane that tests share, with all that they may ask for: the controllers, and an audit log with bodies,
 * so that as few tests as possible have to start one of their own. `options` override that.
 *
 * With standard servers that lack kube-controller-manager it starts without; tests that need the controllers then
 * report themselves unavailable.
 *
 * Rejects when the servers are there but do not start.
 */
export async function startForRun(
  options: StartOptions = {},
): Promise<RunControlPlane | ControlPlaneUnavailable> {
  const found = await findControlPlane(options)
  if (found.state === 'unavailable') return found
  const controllerManager = found.commands.has('kube-controller-manager')
  const plane = await startControlPlane({
    controllerManager,
    auditLevel: 'RequestResponse',
    ...options,
  })
  if (plane.state === 'unavailable') return plane
  return {
    state: 'ready',
    plane,
    environment: { [SHARED_CONTROL_PLANE]: plane.stateFile },
    stop: () => plane.stop(),
  }
}
