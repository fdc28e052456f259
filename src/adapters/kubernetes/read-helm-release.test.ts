import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { scriptedApi, statusAnswer } from '../../../test/apiserver/scripted-api.ts'
import { Failure } from '../../failure.ts'
import { resourceKey } from '../../krm/resource-id.ts'

const signal = new AbortController().signal
const SECRETS = 'GET /api/v1/namespaces/shop/secrets'
const REF = { helmRelease: { namespace: 'shop', name: 'web' } }
const MANIFEST = `---
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
function stored(manifest: unknown, version = 1, zip = true) {
  const text = Buffer.from(JSON.stringify({ name: 'web', version, manifest }))
  const release = Buffer.from((zip ? gzipSync(text) : text).toString('base64')).toString('base64')
  const labels = { owner: 'helm', name: 'web', status: 'deployed', version: String(version) }
  return {
    metadata: { name: `sh.helm.release.v1.web.v${version}`, namespace: 'shop', labels },
    type: 'helm.sh/release.v1',
    data: { release },
  }
}

const list = (...items: readonly object[]) => ({
  body: { kind: 'SecretList', apiVersion: 'v1', metadata: { resourceVersion: '9' }, items },
})

test('the objects of the newest deployed revision, in the namespace where Helm puts them', async (t) => {
  const api = await scriptedApi(t, { [SECRETS]: () => list(stored('', 2), stored(MANIFEST, 10), stored('', 9)) })
  const [answer] = await api.cluster.readInventories([REF], signal)
  assert.ok(answer !== undefined && !(answer instanceof Failure))
  assert.equal(answer.source, 'Helm release shop/web revision 10')
  assert.deepEqual(answer.resources.map(resourceKey), [
    '/ConfigMap/shop/web',
    'apps/Deployment/elsewhere/web',
    'rbac.authorization.k8s.io/ClusterRole//web',
    'gone.example.com/Gone/shop/web',
    '/Secret/shop/web',
  ])
  assert.deepEqual(api.asked(), [`${SECRETS}?limit=500&labelSelector=owner=helm,name=web,status=deployed`])
})

test('a release from before Helm packed them is read too, and one that is not there is none', async (t) => {
  let items: readonly object[] = [stored(MANIFEST, 1, false)]
  const api = await scriptedApi(t, { [SECRETS]: () => list(...items) })
  const [answer] = await api.cluster.readInventories([REF], signal)
  assert.equal(answer !== undefined && !(answer instanceof Failure) && answer.resources.length, 5)
  items = []
  assert.deepEqual(await api.cluster.readInventories([REF], signal), [undefined])
})

test('a Secret that holds no release is a failure that says nothing of its content', async (t) => {
  const secret = 'hunter2hunter2'
  for (const broken of [stored(12), stored(`a: [${secret}`), { ...stored(''), data: { release: secret } }, { ...stored(''), data: {} }]) {
    const api = await scriptedApi(t, { [SECRETS]: () => list(broken) })
    const [answer] = await api.cluster.readInventories([REF], signal)
    assert.ok(answer instanceof Failure)
    assert.equal(answer.code, 'BP3012')
    assert.doesNotMatch(`${answer.what} ${answer.why} ${answer.where} ${answer.stack} ${String(answer.cause)}`, new RegExp(secret))
  }
})

test('who may not read Secrets is told so, and no other question fails with it', async (t) => {
  const api = await scriptedApi(t, { [SECRETS]: () => statusAnswer(403, 'Forbidden', 'no Secrets') })
  const listing = { listing: [], labelSelector: '' }
  const [release, listed] = await api.cluster.readInventories([REF, listing], signal)
  assert.equal(release instanceof Failure && release.code, 'BP3003')
  assert.deepEqual(listed, { source: 'a listing', resources: [], objects: [] })
})
