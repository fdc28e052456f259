/** Bundled as a separate file (.ci/bundle.ts). */
import { parentPort, workerData } from 'node:worker_threads'
import { BUILT_IN } from '../../../functions/built-in-functions.ts'
import { serveRenders } from './serve-renders.ts'
import type { WorkerStart } from './worker-messages.ts'

if (parentPort === null) throw new TypeError('this file is the entry of a worker thread')
serveRenders(parentPort, workerData as WorkerStart, BUILT_IN)
