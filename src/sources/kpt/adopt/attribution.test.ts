/** Adoptions on objects of Config Connector, on which kpt records each render. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adopted, changeIn } from '../../../../test/fakes/adoption-samples.ts'
import { CATALOG, webKptfile } from '../../../../test/fakes/pipeline-files.ts'

const KPTFILE = webKptfile(`    - image: ${CATALOG}/set-labels:v0.2.0
      configMap:
        team: shop
`).replace('  name: web\n', '  name: web\n  labels:\n    team: shop\n')

function bucket(annotations: string): { readonly [path: string]: string } {
  return {
    Kptfile: KPTFILE,
    'bucket.yaml': `apiVersion: storage.cnrm.cloud.google.com/v1beta1
kind: StorageBucket
metadata:
  name: logs
  labels:
    team: shop
${annotations}spec:
  location: eu # here
`,
  }
}

const note = (more = ''): string => `  annotations:\n    example.com/note: cold\n${more}`
const NOTE = 'metadata.annotations["example.com/note"]'

test('a file without the attribution is still stored rendered, and gets none', () => {
  const texts = bucket(note())
  assert.deepEqual(adopted(texts, changeIn(texts, 'StorageBucket', NOTE, undefined)), {
    'apps/web/bucket.yaml': ['-  annotations:', '-    example.com/note: cold'],
  })
  assert.deepEqual(adopted(texts, changeIn(texts, 'StorageBucket', 'spec.location', 'us')), {
    'apps/web/bucket.yaml': ['-  location: eu # here', '+  location: us # here'],
  })
})

test('keeps an existing attribution, also one that each kpt render changes', () => {
  for (const value of ["'kpt-fn'", 'cnrm/x/v1,kpt-pkg', 'kpt-pkg,kpt-live']) {
    const texts = bucket(note(`    cnrm.cloud.google.com/blueprint: ${value}\n`))
    const both = [
      changeIn(texts, 'StorageBucket', NOTE, undefined),
      changeIn(texts, 'StorageBucket', 'spec.location', 'us'),
    ]
    assert.deepEqual(adopted(texts, ...both), {
      'apps/web/bucket.yaml': [
        '-    example.com/note: cold',
        '-  location: eu # here',
        '+  location: us # here',
      ],
    })
  }
})

test('adopts another value of the annotation beside that of kpt', () => {
  const location = 'metadata.annotations["cnrm.cloud.google.com/blueprint"]'
  const texts = bucket('')
  assert.deepEqual(adopted(texts, changeIn(texts, 'StorageBucket', location, 'cnrm/x/v1,kpt-fn')), {
    'apps/web/bucket.yaml': [
      '+  annotations:',
      '+    cnrm.cloud.google.com/blueprint: cnrm/x/v1,kpt-fn',
    ],
  })
})
