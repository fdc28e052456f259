import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adopted, changeIn, refused } from '../../test/fakes/adoption-samples.ts'
import { CATALOG, webKptfile } from '../../test/fakes/pipeline-files.ts'

const withRelease = (release: string) => ({
  Kptfile: webKptfile(`    - image: ${CATALOG}/set-namespace:${release}
      configMap:
        namespace: shop
`),
  'binding.yaml': `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: readers
  namespace: shop
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: reader
subjects:
  # who reads
  - kind: ServiceAccount
    name: web # of the shop
    namespace: shop
`,
})

const subject = (name: string, namespace = 'shop') => [{ kind: 'ServiceAccount', name, namespace }]

test('adopts the name of a subject in its manifest, also with releases that rewrite all subjects', () => {
  for (const release of ['v0.4.6', 'v0.4.1', 'v0.3.4', 'v0.2.0', 'v0.1.4']) {
    const texts = withRelease(release)
    assert.deepEqual(
      adopted(texts, changeIn(texts, 'RoleBinding', 'subjects', subject('job'))),
      { 'apps/web/binding.yaml': ['-    name: web # of the shop', '+    name: job # of the shop'] },
      release,
    )
  }
})

test('adopts the namespace of a subject where the function keeps it, and refuses it where it writes it', () => {
  const later = withRelease('v0.4.6')
  assert.deepEqual(
    adopted(later, changeIn(later, 'RoleBinding', 'subjects', subject('web', 'other'))),
    {
      'apps/web/binding.yaml': ['-    namespace: shop', '+    namespace: other'],
    },
  )
  const release = withRelease('v0.4.1')
  const { why } = refused(
    release,
    changeIn(release, 'RoleBinding', 'subjects', subject('web', 'other')),
  )
  assert.match(why, /set-namespace/)
})
