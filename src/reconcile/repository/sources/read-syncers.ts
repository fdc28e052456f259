import type { ClusterReader } from '@backporch/cluster/cluster'
import { convertToFailure, type Failure, type FailureCode } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { SourceKind } from '../../../sources/build/unit-source.ts'
import { DISCOVERIES } from '../../../sources/registry.ts'

export interface LiveSyncers {
  readonly listed: readonly JsonObject[]
  readonly unread: readonly { readonly name: string; readonly failure: Failure }[]
  /** A recording without syncer resources: the repository's declarations count. */
  readonly isFiles: boolean
}

const OF_ONE_KIND: ReadonlySet<FailureCode> = new Set(['BP3003', 'BP3005', 'BP3010'])

/** @throws Failure BP30xx if the cluster cannot be asked */
export async function readSyncers(
  cluster: ClusterReader,
  signal: AbortSignal,
): Promise<LiveSyncers> {
  const answers = await Promise.all(
    DISCOVERIES.flatMap(({ name, kinds }) =>
      kinds
        .filter(({ use }) => use !== 'files')
        .map(async (kind) => ({ name, kind, answer: await list(cluster, kind, signal) })),
    ),
  )
  const listed = answers.flatMap(({ answer }) => (isFailure(answer) ? [] : answer))
  const unread = new Map(
    answers.flatMap(({ name, answer }) => (isFailure(answer) ? [[name, answer] as const] : [])),
  )
  const isEmpty =
    unread.size === 0 &&
    answers.every(
      ({ kind, answer }) => kind.use === 'optional' || isFailure(answer) || answer.length === 0,
    )
  return {
    listed,
    unread: [...unread].map(([name, failure]) => ({ name, failure })),
    isFiles: isEmpty && (await cluster.identify(signal)).recorded,
  }
}

async function list(
  cluster: ClusterReader,
  { group, kind, use }: SourceKind,
  signal: AbortSignal,
): Promise<readonly JsonObject[] | Failure> {
  try {
    return (await cluster.list(group, kind, signal)).objects
  } catch (thrown) {
    signal.throwIfAborted()
    const failure = convertToFailure(thrown)
    if (failure.code === 'BP3009') return []
    if (OF_ONE_KIND.has(failure.code) && use === 'optional') return []
    if (!OF_ONE_KIND.has(failure.code)) throw failure
    return failure
  }
}

function isFailure(answer: readonly JsonObject[] | Failure): answer is Failure {
  return !Array.isArray(answer)
}
