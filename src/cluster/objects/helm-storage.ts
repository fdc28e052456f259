/**
 * Helm 3 and 4: one object per revision, a Secret of type `helm.sh/release.v1` or, with
 * `HELM_DRIVER=configmap`, a ConfigMap. `release` is base64 of gzip of JSON; the `manifest` omits
 * hooks and a chart's `crds/` (helm `pkg/storage/driver/{secrets,cfgmaps,util}.go`,
 * `pkg/release/v1/release.go`).
 */
import { gunzipSync } from 'node:zlib'
import type { PackageFile } from '@backporch/kyaml/files'
import {
  filterObjects,
  formatJson,
  getPartAt,
  getTextAt,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { listDocumentObjects, parseGoYaml } from '@backporch/kyaml/read-yaml'
import { getLabels, type Resource, readResource } from '@backporch/kyaml/resource'
import type { DeployedRelease, HelmReleaseRef, Inventory } from '../ports/cluster.ts'

/** The third one, `sql`, is an external database. */
export const STORES = ['Secret', 'ConfigMap'] as const
export type Store = (typeof STORES)[number]

interface StoredRevision {
  readonly store: Store
  readonly version: number
  /** helm `pkg/release/common/status.go` */
  readonly status: string
  readonly object: JsonObject
}

export interface StoredRelease {
  readonly current: StoredRevision
  readonly later: StoredRevision | undefined
}

export class RevisionPicker {
  private deployed: StoredRevision | undefined
  private newest: StoredRevision | undefined

  add(store: Store, object: JsonObject): void {
    const labels = getLabels(object)
    const revision = {
      store,
      version: Number(labels.get('version') ?? 0) || 0,
      status: labels.get('status') ?? '',
      object,
    }
    if (this.newest === undefined || revision.version > this.newest.version) this.newest = revision
    if (revision.status === 'deployed' && revision.version > (this.deployed?.version ?? -1))
      this.deployed = revision
  }

  clear(): void {
    this.deployed = undefined
    this.newest = undefined
  }

  /**
   * The newest deployed revision; without one, or after an uninstall, the newest of all (helm
   * `pkg/action/upgrade.go`, prepareUpgrade).
   */
  pick(): StoredRelease | undefined {
    const { newest } = this
    if (newest === undefined) return undefined
    if (this.deployed === undefined || isUninstalled(newest))
      return { current: newest, later: undefined }
    return {
      current: this.deployed,
      later: newest.version > this.deployed.version ? newest : undefined,
    }
  }
}

/** Only the objects that Helm must keep remain, and the next release starts from nothing. */
function isUninstalled({ status }: StoredRevision): boolean {
  return status.startsWith('uninstall')
}

/** Includes the content of Secrets. */
interface DecodedRevision {
  readonly resources: readonly Resource[]
  readonly release: Json
  /** Milliseconds since 1970; 0 if unknown. */
  readonly deployedAt: number
  /** Undefined without a rollback, and if a person wrote the description. */
  readonly rollbackTo: number | undefined
}

/** Bytes. A release is at most 1 MiB of gzip, like its object. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Objects without a namespace get the release's. @returns undefined if it is no release in Helm's
 * format
 */
export function decodeRevision(
  { store, object }: StoredRevision,
  namespace: string,
): DecodedRevision | undefined {
  const stored = getPartAt(object, 'data', 'release')
  if (typeof stored !== 'string') return undefined
  try {
    // All data of a Secret is base64-encoded again.
    const text = store === 'Secret' ? Buffer.from(stored, 'base64').toString('latin1') : stored
    const packed = Buffer.from(text, 'base64')
    const zipped = packed[0] === 0x1f && packed[1] === 0x8b && packed[2] === 0x08
    const release = parseJson(
      (zipped ? gunzipSync(packed, { maxOutputLength: MOST_BYTES }) : packed).toString('utf8'),
    )
    const manifest = getPartAt(release, 'manifest')
    if (typeof manifest !== 'string') return undefined
    return { resources: parseResources(manifest, namespace), release, ...parseReleaseInfo(release) }
  } catch {
    // A parser message may quote a Secret.
    return undefined
  }
}

/** Omits objects with `generateName`. */
function parseResources(manifest: string, namespace: string): Resource[] {
  return parseGoYaml(manifest, 'the manifest').documents.flatMap((document) =>
    listDocumentObjects(document, manifest, 'the manifest').flatMap(({ object }) => {
      const read = readResource(object)
      if ('problem' in read) return []
      const { id } = read
      return [{ ...read, id: { ...id, namespace: id.namespace === '' ? namespace : id.namespace } }]
    }),
  )
}

function parseReleaseInfo(release: Json): Omit<DecodedRevision, 'resources' | 'release'> {
  // helm `pkg/action/rollback.go`, prepareRollback
  const to = /^Rollback to (\d{1,9})$/.exec(getTextAt(release, 'info', 'description'))?.[1]
  return {
    deployedAt: Date.parse(getTextAt(release, 'info', 'last_deployed')) || 0,
    rollbackTo: to === undefined ? undefined : Number(to),
  }
}

const NOTHING: DecodedRevision = {
  resources: [],
  release: null,
  deployedAt: 0,
  rollbackTo: undefined,
}

export function describeRevision(
  namespace: string,
  name: string,
  { version, status }: StoredRevision,
): string {
  return `Helm release ${namespace}/${name} revision ${version}${status === 'deployed' ? '' : ` (${status})`}`
}

export async function buildReleaseInventory(
  { helmRelease: { namespace, name }, withChart = false }: HelmReleaseRef,
  { current, later }: StoredRelease,
  location: (resource: Resource) => Resource | Promise<Resource>,
): Promise<Inventory | undefined> {
  const [decoded, after] = [
    decodeRevision(current, namespace),
    later === undefined ? NOTHING : decodeRevision(later, namespace),
  ]
  if (decoded === undefined || after === undefined) return undefined
  const resources = await Promise.all(decoded.resources.map(location))
  const tried = await Promise.all(after.resources.map(location))
  const { rollbackTo, deployedAt } = decoded
  const failed = [later, current].find((revision) => revision?.status === 'failed')
  const why = failed === undefined ? '' : `${describeRevision(namespace, name, failed)} failed`
  return {
    source: describeRevision(namespace, name, current),
    resources: resources.map(({ id }) => id),
    ...(isUninstalled(current) ? {} : { applied: resources }),
    ...(rollbackTo === undefined
      ? {}
      : {
          rollback: { to: rollbackTo, at: `${new Date(deployedAt).toISOString().slice(0, 19)}Z` },
        }),
    ...(withChart
      ? { release: createDeployedRelease({ namespace, name }, current, decoded.release) }
      : {}),
    ...(failed === undefined
      ? {}
      : { refused: (failed === later ? tried : resources).map(({ id }) => ({ id, why })) }),
    ...(later === undefined
      ? {}
      : {
          later: {
            source: describeRevision(namespace, name, later),
            resources: tried.map(({ id }) => id),
          },
        }),
  }
}

function createDeployedRelease(
  of: Pick<DeployedRelease, 'namespace' | 'name'>,
  { version, status }: StoredRevision,
  release: Json,
): DeployedRelease {
  const values = getPartAt(release, 'config')
  const metadata = getPartAt(release, 'chart', 'metadata')
  return {
    ...of,
    revision: version,
    status,
    chartTitle: `${getTextAt(metadata, 'name')} ${getTextAt(metadata, 'version')}`,
    chart: findChartFiles(getPartAt(release, 'chart'), getTextAt(release, 'manifest')),
    values: isJsonObject(values) ? values : {},
    manifest: getTextAt(release, 'manifest'),
  }
}

/**
 * Base64. Helm stores no dependencies (helm `pkg/chart/v2/chart.go`), so only a chart that used
 * none is complete. A dependency with templates renders its own manifest; a library shows as a
 * named template that the chart does not define.
 */
function findChartFiles(
  chart: Json | undefined,
  manifest: string,
): readonly PackageFile[] | undefined {
  const given = getPartAt(chart, 'metadata')
  if (!isJsonObject(given) || /^# Source: [^/\n]+\/charts\//m.test(manifest)) return undefined
  const { dependencies = [], ...metadata } = given
  const file = (path: string, content: Uint8Array): PackageFile => ({
    path,
    mode: '100644',
    content,
  })
  const text = (path: string, value: Json): PackageFile =>
    file(path, new TextEncoder().encode(formatJson(value)))
  const stored = ['templates', 'files'].flatMap((name) =>
    filterObjects(getPartAt(chart, name)).map((each) =>
      file(getTextAt(each, 'name'), Buffer.from(getTextAt(each, 'data'), 'base64')),
    ),
  )
  if (filterObjects(dependencies).length > 0 && hasMissingReferences(stored)) return undefined
  const schema = getTextAt(chart, 'schema') || undefined
  const own = [text('Chart.yaml', metadata), text('values.yaml', getPartAt(chart, 'values') ?? {})]
  if (schema !== undefined) own.push(file('values.schema.json', Buffer.from(schema, 'base64')))
  return [...own, ...stored].filter(
    ({ path }) => path !== '' && !path.startsWith('/') && !path.split('/').includes('..'),
  )
}

const COMMENT = /\{\{-?\s*\/\*[\s\S]*?\*\/\s*-?\}\}/g
const DEFINED = /\{\{-?\s*(?:define|block)\s+["`]([^"`]+)["`]/g
const USED = /\b(?:include|template)\s+["`]([^"`]+)["`]/g

function hasMissingReferences(files: readonly PackageFile[]): boolean {
  const templates = files
    .filter(({ path }) => path.startsWith('templates/'))
    .map(({ content }) => new TextDecoder().decode(content).replaceAll(COMMENT, ''))
    .join('\n')
  const defined = new Set([...templates.matchAll(DEFINED)].map(([, name]) => name))
  return [...templates.matchAll(USED)].some(([, name]) => !defined.has(name))
}
