/**
 * Records the demo's cluster from a real API server, in two states: edited by hand, and after the syncer has applied what
 * was merged. Writes `src/cli/demo/recordings.json`, the same bytes each time: see normalise-recording.ts.
 *
 * node test/demo/record.ts
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startControlPlane } from '../controlplane/start-control-plane.ts'
import { formatRecordings, recordDemo } from './record-demo.ts'

const plane = await startControlPlane()
if (plane.state === 'unavailable') throw new Error(plane.why)
try {
  const path = fileURLToPath(new URL('../../src/cli/demo/recordings.json', import.meta.url))
  writeFileSync(path, formatRecordings(await recordDemo(plane)))
} finally {
  await plane.stop()
}
