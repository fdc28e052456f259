/** Checks the memory before a read, so that a failure says so before the system ends the process without a word. */
import { getHeapStatistics } from 'node:v8'
import { Failure } from '../../failure.ts'

/** Memory of the objects of a manifest, for each byte of its text. */
const GROWTH = 20
/** Bytes. Smaller reads are always made: they take less than what is freed meanwhile. */
const ALWAYS = 1024 * 1024

/** Bytes, by the limits of the machine, of the container and of Node.js. */
export function freeMemory(): number {
  const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics()
  return Math.min(process.availableMemory(), limit - used)
}

/** @throws Failure BP1111 where the objects of the read files would not find room */
export function assertMemory(where: string, files: readonly { readonly content: Uint8Array }[], free: () => number): void {
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0)
  if (bytes < ALWAYS || bytes * GROWTH <= free()) return
  throw new Failure({
    code: 'BP1111',
    what: 'the files are not read',
    where,
    why: `they are ${Math.ceil(bytes / ALWAYS)} MiB, and the process has no memory left for what they declare`,
    remedy:
      'give the process more memory (NODE_OPTIONS=--max-old-space-size=<MiB>, the limit of the container), or look at fewer packages at once',
    retry: 'backoff',
  })
}
