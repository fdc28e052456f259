import { after, describe, test } from 'node:test'
import type { ControlPlane } from './control-plane.ts'
import {
  type ControlPlaneBinaries,
  type ControlPlaneUnavailable,
  findControlPlane,
} from './find-control-plane.ts'
import { sharedControlPlane } from './shared-control-plane.ts'
import type { StartOptions } from './start-control-plane.ts'

/**
 * A `describe` whose body gets a control plane. Where none can run there is one test instead, skipped with the reason.
 *
 *   await controlPlaneSuite('prune', { controllerManager: true }, (plane) => {
 *     test('keeps what another manager owns', async () => { const namespace = await plane.namespace('prune') … })
 *   })
 *
 * The plane may be shared with other files; see `sharedControlPlane`, which also says what it rejects with.
 */
export async function controlPlaneSuite(
  name: string,
  options: StartOptions,
  body: (plane: ControlPlane) => void,
): Promise<void> {
  const plane = await sharedControlPlane(options)
  if (plane.state === 'unavailable') return skipped(name, plane)
  describe(name, () => {
    after(() => plane.stop())
    body(plane)
  })
}

/** The same for tests that start planes of their own, because they stop them or need several: checks only that they could. */
export async function controlPlaneStartSuite(
  name: string,
  body: (found: ControlPlaneBinaries) => void,
): Promise<void> {
  const found = await findControlPlane()
  if (found.state === 'unavailable') return skipped(name, found)
  describe(name, () => body(found))
}

/** A test and not a suite, because the test runner counts skipped tests only. */
function skipped(name: string, { why }: ControlPlaneUnavailable): void {
  test(name, { skip: why }, () => {})
}
