/** Otherwise the system may end the process silently. */
import { getHeapStatistics } from 'node:v8'
import { Failure } from '@backporch/kyaml/failure'
import { MAX_YAML_NODES } from '@backporch/kyaml/read-yaml'

/** Bytes per node; freed after each file. */
const TREE_BYTES = 300
/** Bytes per node; they stay for the turn. */
const OBJECT_BYTES = 70
/** Bytes per byte of a file: the byte and its text. */
const TEXT_BYTES = 3
const MEBIBYTE = 1024 * 1024
/** They take less than what is freed meanwhile. */
const ALWAYS = 20 * MEBIBYTE

/** Bytes, by the limits of machine, container and Node.js. */
export function freeMemory(): number {
  const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics()
  return Math.min(process.availableMemory(), limit - used)
}

/**
 * @param become texts, read one at a time, or a package's objects
 * @throws Failure BP1111 without room for it
 */
export function assertMemory(
  where: string,
  files: readonly { readonly content: Uint8Array }[],
  become: 'texts' | 'objects',
  free: () => number,
): void {
  let needed = 0
  let largest = 0
  for (const { content } of files) {
    const nodes = estimateNodes(content)
    needed += content.length * TEXT_BYTES + (become === 'objects' ? nodes * OBJECT_BYTES : 0)
    largest = Math.max(largest, nodes)
  }
  needed += largest * TREE_BYTES
  if (needed < ALWAYS || needed <= free()) return
  throw new Failure({
    code: 'BP1111',
    what: 'the files are not read',
    where,
    why: `what they declare takes about ${Math.ceil(needed / MEBIBYTE)} MiB of memory, and the process does not have that left`,
    remedy:
      'give the process more memory (NODE_OPTIONS=--max-old-space-size=<MiB>, the limit of the container), or observe fewer packages at once',
    retry: 'backoff',
  })
}

/** Approximate; stops at one file's limit. */
export function estimateNodes(content: Uint8Array): number {
  let nodes = 0
  // An iterator takes four times as long.
  for (let at = 0; at < content.length && nodes < MAX_YAML_NODES; at += 1)
    nodes += NODES_OF[content[at] as number] as number
  return Math.min(nodes, MAX_YAML_NODES)
}

const NODES_OF = new Uint8Array(256)
for (const [character, nodes] of [
  ['\n', 1],
  [':', 1],
  ['[', 1],
  ['{', 1],
  [',', 2],
] as const)
  NODES_OF[character.charCodeAt(0)] = nodes
