/** `render-worker.ts` with toys in place of the functions. */
import { parentPort, workerData } from 'node:worker_threads'
import { serveRenders } from '../../src/adapters/functions/serve-renders.ts'
import type { WorkerStart } from '../../src/adapters/functions/worker-messages.ts'
import { TOY_FUNCTIONS } from './toy-functions.ts'

if (parentPort !== null) serveRenders(parentPort, workerData as WorkerStart, TOY_FUNCTIONS)
