/** Paths of records in the repository, and of status in the ledger (design §7). */
import { createHash } from 'node:crypto'

export const DRIFT_FOLDER = '.drift'
export const RECORDS_FOLDER = `${DRIFT_FOLDER}/records`

/**
 * A name as one path segment. Names of clusters are free text (`arn:aws:eks:…:cluster/prod`): whatever is not a plain
 * file name is replaced, with a hash behind it that keeps two names apart.
 */
export function pathSegment(name: string): string {
  if (
    /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/.test(name) &&
    !name.includes('..') &&
    !name.endsWith('.lock')
  )
    return name
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 48)
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return plain === '' ? hash : `${plain}-${hash}`
}

export function recordFolder(cluster: string, slug: string): string {
  return `${DRIFT_FOLDER}/records/${pathSegment(cluster)}/${slug}`
}

/**
 * `began` is RFC 3339 UTC; the date comes from it, not from a clock. No tool that takes every manifest below a folder reads the ending
 * (docs/adr/0067-names-that-no-applier-reads.md).
 */
export function recordPath(cluster: string, slug: string, began: string, episode: string): string {
  return `${recordFolder(cluster, slug)}/${began.slice(0, 10).replaceAll('-', '')}-${episode}.record`
}

/** In the folder of its unit: `20261121-9f2c1a7b.record`, or with `.yaml`, as earlier versions wrote it. */
export const RECORD_FILE = /^\d{8}-([^/]+)\.(?:record|yaml)$/

/** Whether a path from the root is that of a record, of this version or an earlier one. */
export function isRecordPath(path: string): boolean {
  return (
    path.startsWith(`${RECORDS_FOLDER}/`) && RECORD_FILE.test(path.slice(path.lastIndexOf('/') + 1))
  )
}

/** The path that a record has since it ends in `.record`; any other path as it is. */
export function presentRecordPath(path: string): string {
  return isRecordPath(path) ? path.replace(/\.yaml$/, '.record') : path
}

/** The path that earlier versions gave the record. */
export function earlierRecordPath(path: string): string {
  return isRecordPath(path) ? path.replace(/\.record$/, '.yaml') : path
}

export function ledgerUnitFolder(cluster: string, slug: string): string {
  return `clusters/${pathSegment(cluster)}/${slug}`
}

export function ledgerObservationPath(cluster: string): string {
  return `clusters/${pathSegment(cluster)}/observation.yaml`
}

export function closedPath(began: string, episode: string): string {
  return `closed/${began.slice(0, 4)}/${began.slice(5, 7)}/${episode}.yaml`
}

/**
 * The record inside of the package, where Porch lands nothing else. Without an extension no syncer and no function reads it as an object.
 * `apps/web/.drift-record`
 */
export function travellingRecordPath(packagePath: string): string {
  return packagePath === '' ? TRAVELLING_RECORD : `${packagePath}/${TRAVELLING_RECORD}`
}

/** Its name in the package. */
export const TRAVELLING_RECORD = '.drift-record'
