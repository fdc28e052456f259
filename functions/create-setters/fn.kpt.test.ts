// biome-ignore-all lint/suspicious/noTemplateCurlyInString: setter patterns are written so
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evalFunction, programOf } from '../../test/kpt/eval-function.ts'
import { whyNoKpt } from '../../test/kpt/find-kpt.ts'

const PROGRAM = programOf(import.meta.url)

const WEB = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-live
spec:
  replicas: 4 # was 3
  template:
    spec:
      containers:
        - name: web
          image: "reg.example/web:1.4.0"
          args: [--fast, --loud]
        - name: log
          args: [--stage, live]
`
const CONFIG = `apiVersion: v1
kind: ConfigMap
metadata:
  name: setters
data:
  stage: live
  web-replicas: "4"
  tag: 1.4.0
  args: "[--loud, --fast]"
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
      - message: 'Added line comment "kpt-set: shop-\${stage}" for field with value "shop-live"'
        severity: info
        field:
          path: metadata.name
        file:
          path: web.yaml
      - message: 'Added line comment "kpt-set: \${web-replicas}" for field with value "4"'
        severity: info
        field:
          path: spec.replicas
        file:
          path: web.yaml
      - message: 'Added line comment "kpt-set: \${args}" for field with value "[--fast --loud]"'
        severity: info
        field:
          path: spec.template.spec.containers[0].args
        file:
          path: web.yaml
      - message: 'Added line comment "kpt-set: reg.example/web:\${tag}" for field with value "reg.example/web:1.4.0"'
        severity: info
        field:
          path: spec.template.spec.containers[0].image
        file:
          path: web.yaml
      - message: 'Added line comment "kpt-set: \${stage}" for field with value "live"'
        severity: info
        field:
          path: spec.template.spec.containers[1].args[1]
        file:
          path: web.yaml
`

test('kpt runs it as a program, with the same files and results as the original', {
  skip: whyNoKpt(),
}, () => {
  const { files, results } = evalFunction(PROGRAM, { 'web.yaml': WEB }, CONFIG)
  assert.equal(
    files['web.yaml'],
    WEB.replace('name: shop-live', 'name: shop-live # kpt-set: shop-${stage}')
      .replace('# was 3', '# kpt-set: ${web-replicas}')
      .replace('web:1.4.0"', 'web:1.4.0" # kpt-set: reg.example/web:${tag}')
      .replace(
        'args: [--fast, --loud]',
        'args: # kpt-set: ${args}\n            - --fast\n            - --loud',
      )
      .replace(
        'args: [--stage, live]',
        'args:\n            - --stage\n            - live # kpt-set: ${stage}',
      ),
  )
  assert.equal(results, RESULTS)
})
