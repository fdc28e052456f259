import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evalFunction, programOf } from '../../test/kpt/eval-function.ts'
import { whyNoKpt } from '../../test/kpt/find-kpt.ts'

const PROGRAM = programOf(import.meta.url)

const WEB = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: 'shop' # the shop
spec:
  template:
    spec:
      initContainers:
        - name: wait
          image: web:1.4
      containers:
        # pinned
        - image: "web:1.4" # as tested
          name: web
          args: ["--level", "3"]
`
const CHART = `apiVersion: dev.example.com/v1
kind: Chart
metadata: {name: shop}
images: [{image: web}]
size: 3 # in metres
`
const CONFIG = `apiVersion: fn.kpt.dev/v1alpha1
kind: SetImage
metadata:
  name: image
image:
  name: web
  newName: mirror.example/web
  newTag: "1.5"
additionalImageFields:
- group: dev.example.com
  kind: Chart
  path: images[]/image
`
const RESULTS = `apiVersion: kpt.dev/v1
kind: FunctionResultList
metadata:
  name: fnresults
exitCode: 0
items:
  - exec: PROGRAM
    exitCode: 0
    results:
      - message: set image from web to mirror.example/web:1.5
        severity: info
        resourceRef:
          apiVersion: dev.example.com/v1
          kind: Chart
          name: shop
        field:
          path: images.image
          currentValue: web
          proposedValue: mirror.example/web:1.5
        file:
          path: chart.yaml
      - message: set image from web:1.4 to mirror.example/web:1.5
        severity: info
        resourceRef:
          apiVersion: apps/v1
          kind: Deployment
          name: shop
        field:
          path: spec.template.spec.containers.image
          currentValue: web:1.4
          proposedValue: mirror.example/web:1.5
        file:
          path: web.yaml
      - message: set image from web:1.4 to mirror.example/web:1.5
        severity: info
        resourceRef:
          apiVersion: apps/v1
          kind: Deployment
          name: shop
        field:
          path: spec.template.spec.initContainers.image
          currentValue: web:1.4
          proposedValue: mirror.example/web:1.5
        file:
          path: web.yaml
`

test('kpt runs it as a program, with the same files and results as the original', {
  skip: whyNoKpt(),
}, () => {
  const { files, results } = evalFunction(PROGRAM, { 'web.yaml': WEB, 'chart.yaml': CHART }, CONFIG)
  assert.equal(
    files['web.yaml'],
    WEB.replace("'shop'", 'shop')
      .replace('"web:1.4"', 'mirror.example/web:1.5')
      .replace('image: web:1.4', 'image: mirror.example/web:1.5')
      .replace('["--level", "3"]', '\n            - --level\n            - "3"')
      .replace('args: \n', 'args:\n'),
  )
  assert.equal(
    files['chart.yaml'],
    CHART.replace('{name: shop}', '\n  name: shop')
      .replace('metadata: \n', 'metadata:\n')
      .replace('images: [{image: web}]', 'images:\n- image: mirror.example/web:1.5'),
  )
  assert.equal(results, RESULTS)
})
