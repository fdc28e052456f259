/**
 * The objects of a Helm release, from Helm's own storage: a Secret of type `helm.sh/release.v1` for each revision, whose `release` holds
 * base64 of gzip of JSON with the rendered `manifest` (helm `pkg/storage/driver/{secrets,util}.go`, `pkg/release/release.go`). Hooks are
 * kept apart there and are no part of the manifest. Of the Secret nothing but kinds, names and namespaces leaves this file.
 */
import { gunzipSync } from 'node:zlib'
import { Failure } from '../../failure.ts'
import { objectsIn, parseGoYaml } from '../../krm/go-yaml.ts'
import { getKey, isJsonObject, type Json, type JsonObject, parseJson } from '../../krm/json.ts'
import { labelsOf, readResource } from '../../krm/resource.ts'
import type { ResourceId } from '../../krm/resource-id.ts'
import type { HelmReleaseRef, Inventory } from '../../ports/cluster.ts'
import { listObjects } from './list-objects.ts'
import type { LiveSources } from './read-live.ts'

/** A release is at most 1 MiB of gzip, because a Secret is; text that unpacks to more is no manifest of a release. */
const MOST_BYTES = 64 * 1024 * 1024

/** @returns undefined where the cluster stores no deployed revision of it. @throws Failure BP3003 where Secrets may not be read, BP30xx */
export async function readHelmRelease(
  { api, discovery }: LiveSources,
  { helmRelease: { namespace, name } }: HelmReleaseRef,
  signal: AbortSignal,
): Promise<Inventory | undefined> {
  const served = await discovery.find('v1', 'Secret', signal)
  let newest: { readonly version: number; readonly secret: JsonObject } | undefined
  const take = (secret: JsonObject): void => {
    const version = Number(labelsOf(secret).get('version') ?? 0)
    if (newest === undefined || version > newest.version) newest = { version, secret }
  }
  const restart = (): void => {
    newest = undefined
  }
  await listObjects(api, served, { namespace, labelSelector: `owner=helm,name=${name},status=deployed`, take, restart }, signal)
  if (newest === undefined) return undefined
  const ids = releasedObjects(newest.secret, namespace)
  if (ids === undefined) throw notARelease(api.cluster, namespace, name, newest.version)
  const resources: ResourceId[] = []
  for (const { id, apiVersion } of ids) {
    const scope = await discovery.find(apiVersion, id.kind, signal).catch((thrown: unknown) => {
      // A kind that is gone has no objects; one that nobody could ask for keeps the namespace that Helm would use.
      if (thrown instanceof Failure) return undefined
      throw thrown
    })
    resources.push(scope?.namespaced === false ? { ...id, namespace: '' } : id)
  }
  return { source: `Helm release ${namespace}/${name} revision ${newest.version}`, resources }
}

interface Released {
  readonly id: ResourceId
  readonly apiVersion: string
}

/**
 * Ids of the objects in the manifest of a stored release; those without a namespace get the release's.
 * @returns undefined for a Secret that holds no release
 */
export function releasedObjects(secret: JsonObject, namespace: string): readonly Released[] | undefined {
  const manifest = manifestOf(secret)
  if (manifest === undefined) return undefined
  try {
    return parseGoYaml(manifest, 'the manifest').documents.flatMap((document) =>
      objectsIn(document, manifest, 'the manifest').flatMap(({ object }) => {
        const read = readResource(object)
        if ('problem' in read) return []
        const { id, apiVersion } = read
        return [{ id: { ...id, namespace: id.namespace === '' ? namespace : id.namespace }, apiVersion }]
      }),
    )
  } catch {
    // What the parser says may quote the manifest, which may hold Secrets.
    return undefined
  }
}

function manifestOf(secret: JsonObject): string | undefined {
  const data = getKey(secret, 'data')
  const stored = isJsonObject(data) ? getKey(data, 'release') : undefined
  if (typeof stored !== 'string') return undefined
  try {
    const packed = Buffer.from(Buffer.from(stored, 'base64').toString('latin1'), 'base64')
    const zipped = packed[0] === 0x1f && packed[1] === 0x8b && packed[2] === 0x08
    const release: Json = parseJson((zipped ? gunzipSync(packed, { maxOutputLength: MOST_BYTES }) : packed).toString('utf8'))
    const manifest = isJsonObject(release) ? getKey(release, 'manifest') : undefined
    return typeof manifest === 'string' ? manifest : undefined
  } catch {
    return undefined
  }
}

function notARelease(cluster: string, namespace: string, name: string, version: number): Failure {
  return new Failure({
    code: 'BP3012',
    what: `the Helm release ${namespace}/${name} cannot be read`,
    where: `cluster ${cluster}, revision ${version}`,
    why: 'its Secret does not hold a release as Helm 3 and 4 store it',
    remedy: 'look at it with helm get manifest; where Helm can read it, report this',
    retry: 'on-change',
  })
}
