/**
 * A package that may have ended the process before is observed alone and last, or not at all (ADR
 * 74).
 */
import { createHash } from 'node:crypto'
import type { FoundPackage } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageMarks } from '../../ports/package-marks.ts'
import { listFilesBelow, type RepositoryView } from './repository-view.ts'

const TOGETHER = 64

interface PackageBatch {
  readonly packages: readonly FoundPackage[]
  readonly keys: readonly string[]
}

interface PackageBatches {
  readonly batches: readonly PackageBatch[]
  readonly refused: ReadonlyMap<FoundPackage, Failure>
}

/** @param marks undefined if no process follows this one */
export function splitIntoBatches(
  packages: readonly FoundPackage[],
  {
    view,
    cluster,
    marks,
  }: {
    readonly view: Pick<RepositoryView, 'tree'>
    readonly cluster: string
    readonly marks: PackageMarks | undefined
  },
): PackageBatches {
  const keys =
    marks === undefined ? new Map<string, string>() : computeBatchKeys(view, cluster, packages)
  const keyed = packages.map((found) => ({ found, key: keys.get(found.path) ?? '' }))
  const known = keyed.map((one) => ({ ...one, ...(marks?.getEndings(one.key) ?? NEVER) }))
  const alone = known.filter(({ count, isRefused }) => count > 0 && !isRefused)
  const others = known.filter(({ count }) => count === 0)
  const together = Array.from({ length: Math.ceil(others.length / TOGETHER) }, (_, at) =>
    others.slice(at * TOGETHER, (at + 1) * TOGETHER),
  )
  return {
    batches: [...together, ...alone.map((one) => [one])].map((batch) => ({
      packages: batch.map(({ found }) => found),
      keys: marks === undefined ? [] : batch.map(({ key }) => key),
    })),
    refused: new Map(
      known.flatMap(({ found, count, isRefused }) =>
        isRefused ? [[found, createEndsProcessFailure(found.path, count)] as const] : [],
      ),
    ),
  }
}

const NEVER = { count: 0, isRefused: false }

function computeBatchKeys(
  { tree }: Pick<RepositoryView, 'tree'>,
  cluster: string,
  packages: readonly FoundPackage[],
): ReadonlyMap<string, string> {
  const hashes = new Map(
    packages.map(({ path }) => [
      path,
      createHash('sha256').update(JSON.stringify([cluster, path])),
    ]),
  )
  for (const { path, id } of listFilesBelow(tree, ''))
    for (const folder of listFolders(path)) hashes.get(folder)?.update(JSON.stringify([path, id]))
  return new Map([...hashes].map(([path, hash]) => [path, hash.digest('base64')]))
}

function* listFolders(path: string): Generator<string> {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    yield path.slice(0, at)
  yield ''
}

function createEndsProcessFailure(path: string, count: number): Failure {
  return new Failure({
    code: 'BP1111',
    what: 'the package is not observed',
    where: path || '.',
    why: `${count} processes in a row ended while they observed this content of it, the last one this package alone`,
    remedy: 'change the package, or give the process more memory; the next start tries it again',
    retry: 'on-change',
  })
}
