// biome-ignore-all lint/suspicious/noTemplateCurlyInString: setter patterns are written so
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { evalFunction, programOf } from '../../test/kpt/eval-function.ts'
import { runKpt, whyNoKpt, withFolder } from '../../test/kpt/find-kpt.ts'

const PROGRAM = programOf(import.meta.url)

const WEB = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-web
spec:
  template:
    spec:
      containers:
        - name: web
          image: 'reg.example/shop-web:1.4' # as tested
          args: [--fast, --loud]
        - name: log
          image: reg.example/log:2
`
const CONFIG = `apiVersion: v1
kind: ConfigMap
metadata:
  name: search
data:
  by-path: spec.**.image
  by-value-regex: reg\\.example/(.*):(.*)
  by-file-path: "**/*.yaml"
  put-value: mirror.example/\${1}:\${2}-r1
  put-comment: "kpt-set: mirror.example/\${1}:\${tag}"
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
      - message: 'Mutated field value to "''mirror.example/shop-web:1.4-r1'' # kpt-set: mirror.example/shop-web:\${tag}"'
        severity: info
        field:
          path: spec.template.spec.containers[0].image
        file:
          path: web.yaml
      - message: 'Mutated field value to "mirror.example/log:2-r1 # kpt-set: mirror.example/log:\${tag}"'
        severity: info
        field:
          path: spec.template.spec.containers[1].image
        file:
          path: web.yaml
`

test('kpt runs it as a program, with the same files and results as the original', {
  skip: whyNoKpt(),
}, () => {
  const { files, results } = evalFunction(PROGRAM, { 'web.yaml': WEB }, CONFIG)
  assert.equal(
    files['web.yaml'],
    WEB.replace(
      "'reg.example/shop-web:1.4' # as tested",
      "'mirror.example/shop-web:1.4-r1' # kpt-set: mirror.example/shop-web:${tag}",
    ).replace('reg.example/log:2', 'mirror.example/log:2-r1 # kpt-set: mirror.example/log:${tag}'),
  )
  assert.equal(results, RESULTS)
})

test('an unknown key fails, and kpt shows why', { skip: whyNoKpt() }, () => {
  withFolder({ 'pkg/web.yaml': WEB }, (folder) => {
    const { ok, stderr } = runKpt(
      folder,
      'fn',
      'eval',
      'pkg',
      '--exec',
      PROGRAM,
      '--',
      'by-name=web',
    )
    assert.equal(ok, false)
    assert.match(
      stderr,
      /\[error\]: failed to perform search-replace operation: "invalid matcher \\"by-name\\"/,
    )
    assert.equal(readFileSync(join(folder, 'pkg/web.yaml'), 'utf8'), WEB)
  })
})
