/** Which packages are observed together. One that may have ended the process before is observed alone and last, or not at all (ADR 74). */
import { createHash } from 'node:crypto'
import { Failure } from '../failure.ts'
import type { FoundPackage } from '../package/find-packages.ts'
import type { PackageMarks } from '../ports/package-marks.ts'
import { below, type RepositoryView } from './repository/repository-view.ts'

/** Packages whose live objects are read together, and in memory at once. */
const TOGETHER = 64

export interface PackageBatch {
  readonly packages: readonly FoundPackage[]
  /** Of its packages, for their marks. */
  readonly keys: readonly string[]
}

interface PackageBatches {
  readonly batches: readonly PackageBatch[]
  readonly refused: ReadonlyMap<FoundPackage, Failure>
}

/** @param marks undefined where no process follows this one */
export function batchesOf(
  packages: readonly FoundPackage[],
  {
    view,
    cluster,
    marks,
  }: { readonly view: Pick<RepositoryView, 'tree'>; readonly cluster: string; readonly marks: PackageMarks | undefined },
): PackageBatches {
  const keyed = packages.map((found) => ({ found, key: marks === undefined ? '' : keyOf(view, cluster, found.path) }))
  const known = keyed.map((one) => ({ ...one, ...(marks?.endingsOf(one.key) ?? NEVER) }))
  const alone = known.filter(({ count, isRefused }) => count > 0 && !isRefused)
  const others = known.filter(({ count }) => count === 0)
  const together = Array.from({ length: Math.ceil(others.length / TOGETHER) }, (_, at) => others.slice(at * TOGETHER, (at + 1) * TOGETHER))
  return {
    batches: [...together, ...alone.map((one) => [one])].map((batch) => ({
      packages: batch.map(({ found }) => found),
      keys: marks === undefined ? [] : batch.map(({ key }) => key),
    })),
    refused: new Map(known.flatMap(({ found, count, isRefused }) => (isRefused ? [[found, endsProcess(found.path, count)] as const] : []))),
  }
}

const NEVER = { count: 0, isRefused: false }

function keyOf({ tree }: Pick<RepositoryView, 'tree'>, cluster: string, path: string): string {
  const files = below(tree, path).map((file) => [file.path, file.id])
  return createHash('sha256')
    .update(JSON.stringify([cluster, path, files]))
    .digest('base64')
}

function endsProcess(path: string, count: number): Failure {
  return new Failure({
    code: 'BP1111',
    what: 'the package is not observed',
    where: path || '.',
    why: `${count} processes in a row ended while they observed this content of it, the last one this package alone`,
    remedy: 'change the package, or give the process more memory; the next start tries it again',
    retry: 'on-change',
  })
}
