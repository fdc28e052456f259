import type { FileChange, PackageRepository } from '@backporch/git-store/package-repository'
import type { ObjectId } from '@backporch/kyaml/files'

const SUBMODULE = '160000'

/**
 * @param from undefined for an empty tree. A submodule has its `git diff` content, which no
 * Backporch file has and which is not a deletion.
 */
export async function listChangesBetween(
  repository: PackageRepository,
  from: ObjectId | undefined,
  to: ObjectId,
  signal: AbortSignal,
): Promise<FileChange[]> {
  const before = new Map(
    from === undefined
      ? []
      : (await repository.list(from, '', signal)).map(({ path, id }) => [path, id]),
  )
  const after = await repository.list(to, '', signal)
  const written = after.filter(({ path, id }) => before.get(path) !== id)
  const contents = await repository.read(
    written.filter(({ mode }) => mode !== SUBMODULE).map(({ id }) => id),
    signal,
  )
  const retained = new Set(after.map(({ path }) => path))
  return [
    ...written.map(({ path, id, mode }) => ({
      path,
      content: mode === SUBMODULE ? formatSubmodule(id) : (contents.get(id) ?? null),
    })),
    ...[...before.keys()]
      .filter((path) => !retained.has(path))
      .map((path) => ({ path, content: null })),
  ]
}

export function hasSameContent(left: Uint8Array | null, right: Uint8Array | null): boolean {
  return left === null || right === null ? left === right : Buffer.compare(left, right) === 0
}

function formatSubmodule(id: ObjectId): Uint8Array {
  return new TextEncoder().encode(`Subproject commit ${id}\n`)
}
