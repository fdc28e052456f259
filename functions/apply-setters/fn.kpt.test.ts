// biome-ignore-all lint/suspicious/noTemplateCurlyInString: setter patterns are written so
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evalFunction, programOf } from '../../test/kpt/eval-function.ts'
import { whyNoKpt } from '../../test/kpt/find-kpt.ts'

const PROGRAM = programOf(import.meta.url)

const WEB = `# Shop, the web part.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-web
  namespace: test # kpt-set: \${stage}
spec:
  replicas: 2 # kpt-set: \${web-replicas}
  template:
    spec:
      containers:
        - name: web # the only one
          image: 'reg.example/web:1.4' # kpt-set: reg.example/web:\${tag}
          args: [--slow] # kpt-set: \${args}
`
const HOSTS = `apiVersion: dev.example.com/v1
kind: Hosts
metadata:
  name: shop
hosts: # kpt-set: \${hosts}
# the first one answers
- test.example.com
- old.example.com
password: opensesame # kpt-set: \${db-password}
`
const CONFIG = `apiVersion: v1
kind: ConfigMap
metadata:
  name: setters
data:
  stage: live
  web-replicas: "5"
  tag: "1.5"
  args: |
    - --fast
    - --loud
  hosts: "[live.example.com]"
  db-password: shutsesame
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
      - message: set field value to "[live.example.com]"
        severity: info
        field:
          path: hosts
        file:
          path: sub/hosts.yaml
      - message: set field value to "<redacted>"
        severity: info
        field:
          path: password
        file:
          path: sub/hosts.yaml
      - message: set field value to "live"
        severity: info
        field:
          path: metadata.namespace
        file:
          path: web.yaml
      - message: set field value to "5"
        severity: info
        field:
          path: spec.replicas
        file:
          path: web.yaml
      - message: set field value to "- --fast\\n- --loud\\n"
        severity: info
        field:
          path: spec.template.spec.containers[0].args
        file:
          path: web.yaml
      - message: set field value to "reg.example/web:1.5"
        severity: info
        field:
          path: spec.template.spec.containers[0].image
        file:
          path: web.yaml
`

test('kpt runs it as a program, with the same files and results as the original', {
  skip: whyNoKpt(),
}, () => {
  const { files, results } = evalFunction(
    PROGRAM,
    { 'web.yaml': WEB, 'sub/hosts.yaml': HOSTS },
    CONFIG,
  )
  assert.equal(
    files['web.yaml'],
    WEB.replace('namespace: test', 'namespace: live')
      .replace('replicas: 2', 'replicas: 5')
      .replace('web:1.4', 'web:1.5')
      .replace(
        'args: [--slow] # kpt-set: ${args}',
        'args: # kpt-set: ${args}\n            - --fast\n            - --loud',
      ),
  )
  assert.equal(
    files['sub/hosts.yaml'],
    HOSTS.replace(
      '# the first one answers\n- test.example.com\n- old.example.com',
      '- live.example.com',
    ).replace('opensesame', 'shutsesame'),
  )
  assert.equal(results, RESULTS)
})
