/** See design §7. */
import { createHash } from 'node:crypto'

export const DRIFT_FOLDER = '.drift'
export const RECORDS_FOLDER = `${DRIFT_FOLDER}/records`

/**
 * Cluster names are free text (`arn:aws:eks:…:cluster/prod`): anything that is not a plain file
 * name is replaced, with a hash appended that keeps names distinct.
 */
export function formatPathSegment(name: string): string {
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
  return `${DRIFT_FOLDER}/records/${formatPathSegment(cluster)}/${slug}`
}

/**
 * `began` is RFC 3339 UTC. No tool that reads every manifest below a folder reads this file
 * extension (docs/adr/0067-names-that-no-applier-reads.md).
 */
export function recordPath(cluster: string, slug: string, began: string, episode: string): string {
  return `${recordFolder(cluster, slug)}/${began.slice(0, 10).replaceAll('-', '')}-${episode}.record`
}

/** `.yaml` is from earlier versions. */
export const RECORD_FILE = /^\d{8}-([^/]+)\.(?:record|yaml)$/

export function isRecordPath(path: string): boolean {
  return (
    path.startsWith(`${RECORDS_FOLDER}/`) && RECORD_FILE.test(path.slice(path.lastIndexOf('/') + 1))
  )
}

export function convertToPresentPath(path: string): string {
  return isRecordPath(path) ? path.replace(/\.yaml$/, '.record') : path
}

export function convertToEarlierPath(path: string): string {
  return isRecordPath(path) ? path.replace(/\.record$/, '.yaml') : path
}

export function formatLedgerUnitFolder(cluster: string, slug: string): string {
  return `clusters/${formatPathSegment(cluster)}/${slug}`
}

export function formatLedgerObservationPath(cluster: string): string {
  return `clusters/${formatPathSegment(cluster)}/observation.yaml`
}

export function formatClosedPath(began: string, episode: string): string {
  return `closed/${began.slice(0, 4)}/${began.slice(5, 7)}/${episode}.yaml`
}

/**
 * Inside of the package, because Porch publishes nothing else. Without a file extension no syncer
 * and no function reads it as an object.
 */
export function formatTravellingRecordPath(packagePath: string): string {
  return packagePath === '' ? TRAVELLING_RECORD : `${packagePath}/${TRAVELLING_RECORD}`
}

export const TRAVELLING_RECORD = '.drift-record'
