/** Releases as Helm stores them in Secrets and ConfigMaps, and the lists in which a server gives them. */
import { gzipSync } from 'node:zlib'

export const SECRETS = 'GET /api/v1/namespaces/shop/secrets'
export const CONFIG_MAPS = 'GET /api/v1/namespaces/shop/configmaps'
/** The question for the release `web` of the namespace `shop`. */
export const REF = { helmRelease: { namespace: 'shop', name: 'web' } }
export const MANIFEST = `---
# Source: web/templates/config.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: elsewhere}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: web}
---
apiVersion: gone.example.com/v1
kind: Gone
metadata: {name: web}
---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {password: hunter2hunter2}
`

/** As Helm stores it: base64 of gzip of JSON, and base64 again as all data of a Secret. */
export function stored(manifest: unknown, version = 1, { zip = true, status = 'deployed' } = {}) {
  const text = Buffer.from(JSON.stringify({ name: 'web', version, manifest }))
  const release = Buffer.from((zip ? gzipSync(text) : text).toString('base64')).toString('base64')
  const labels = { owner: 'helm', name: 'web', status, version: String(version) }
  return {
    metadata: { name: `sh.helm.release.v1.web.v${version}`, namespace: 'shop', labels },
    type: 'helm.sh/release.v1',
    data: { release },
  }
}

/** As Helm stores it in a ConfigMap: base64 of gzip of JSON. */
export function storedAsText(
  manifest: unknown,
  version: number,
  { status = 'deployed', at = '' } = {},
) {
  const release = gzipSync(
    JSON.stringify({ name: 'web', version, manifest, info: { last_deployed: at } }),
  ).toString('base64')
  return { metadata: stored('', version, { status }).metadata, data: { release } }
}

export const config = (name: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`

const listOf = (kind: string, items: readonly object[]) => ({
  body: { kind: `${kind}List`, apiVersion: 'v1', metadata: { resourceVersion: '9' }, items },
})
export const list = (...items: readonly object[]) => listOf('Secret', items)
export const texts = (...items: readonly object[]) => listOf('ConfigMap', items)
export const NO_TEXTS = { [CONFIG_MAPS]: () => texts() }
