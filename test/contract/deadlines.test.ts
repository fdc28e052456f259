/**
 * A wait for what comes from outside ends by `Deadline`, which does not count the time in which this process did not run. A plain timer would blame
 * the other side for it. Every other timer of the source is on the list, with the reason why it blames nobody.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TIMER = /\bsetTimeout\(|\bAbortSignal\.timeout\(/

const ALLOWED = {
  'it is the mechanism': ['src/system/deadline.ts'],
  'nothing is said of what it ends, which has failed or is not needed any more': [
    'src/adapters/functions/run-program.ts',
    'src/cluster/connection/http2-transport.ts',
    'src/git-store/objects/cat-file.ts',
    'src/git-store/protocol/process-transport.ts',
  ],
  'it ends an answer of our own servers that nobody reads': [
    'src/adapters/metrics/monitoring-server.ts',
    'src/cluster/audit/audit-server.ts',
    'src/system/listen.ts',
    'src/system/plain-exchange.ts',
  ],
  'it is the most that our own work may take, whatever else this process does': [
    'src/adapters/traces/otlp-traces.ts',
    'src/cli/context/local-names.ts',
    'src/controller/controller-turns.ts',
    'src/reconcile/observe/preview/open-previews.ts',
  ],
  'it waits between two looks': [
    'src/controller/followed-clusters.ts',
    'src/controller/turn-places.ts',
  ],
}

test('every timer of the source is on the list of allowed timers', () => {
  const timed = globSync('src/**/*.ts', { cwd: ROOT, exclude: ['**/node_modules', '**/*.test.ts'] })
    .filter((path) => !path.includes('node_modules') && !path.endsWith('.test.ts'))
    .filter((path) => TIMER.test(readFileSync(join(ROOT, path), 'utf8')))
  assert.deepEqual(timed.sort(), Object.values(ALLOWED).flat().sort())
})
