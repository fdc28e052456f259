/**
 * Reads inventories in one request. If the request fails as a whole, its failure answers each
 * question.
 */
import type { ClusterReader, Inventory, InventoryQuestion } from '@backporch/cluster/cluster'
import { convertToFailure, type Failure } from '@backporch/kyaml/failure'

/** @throws only the reason of `signal` */
export async function readInventories(
  reader: ClusterReader,
  questions: readonly InventoryQuestion[],
  signal: AbortSignal,
): Promise<readonly (Inventory | Failure | undefined)[]> {
  if (questions.length === 0) return []
  try {
    return await reader.readInventories(questions, signal)
  } catch (thrown) {
    signal.throwIfAborted()
    const failure = convertToFailure(thrown)
    return questions.map(() => failure)
  }
}
