import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import { adopted, changeIn } from '../../../test/fakes/adoption-samples.ts'
import { APPLY_SETTERS, settersConfig, webKptfile } from '../../../test/fakes/pipeline-files.ts'
import type { Drift } from '../../drift/compare/drift.ts'

const WEB = {
  Kptfile: webKptfile(APPLY_SETTERS),
  'setters.yaml': settersConfig('  port: "80"\n'),
  'service.yaml': `apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  ports:
    - name: http # the shop
      port: 80 # kpt-set: \${port}
      targetPort: 8080
    - name: tls
      port: 443
      targetPort: 8443
`,
}

const removed = (port: number) =>
  changeIn(WEB, 'Service', `spec.ports[port=${port},protocol=TCP]`, undefined)
const added = (port: number, item: { readonly [key: string]: Json }) =>
  changeIn(WEB, 'Service', `spec.ports[port=${port},protocol=TCP]`, {
    ...item,
    port,
    protocol: 'TCP',
  })
const HTTP = { name: 'http', targetPort: 8080 }

const SETTER = {
  'apps/web/service.yaml': [
    '-      port: 80 # kpt-set: ${port}',
    '+      port: 81 # kpt-set: ${port}',
  ],
  'apps/web/setters.yaml': ['-  port: "80"', '+  port: "81"'],
}

test('a changed key of an item edits the key in place and keeps the item', () => {
  assert.deepEqual(adopted(WEB, removed(80), added(81, HTTP)), SETTER)
  assert.deepEqual(adopted(WEB, added(81, HTTP), removed(80)), SETTER)
})

test('matches several items by name, and other fields move with the key', () => {
  const changes = [
    removed(80),
    removed(443),
    added(444, { name: 'tls', targetPort: 9443 }),
    added(81, HTTP),
  ]
  assert.deepEqual(adopted(WEB, ...changes), {
    ...SETTER,
    'apps/web/service.yaml': [
      '-      port: 80 # kpt-set: ${port}',
      '-      port: 443',
      '-      targetPort: 8443',
      '+      port: 81 # kpt-set: ${port}',
      '+      port: 444',
      '+      targetPort: 9443',
    ],
  })
})

test('does not write allocated or defaulted fields of the server into git', () => {
  const [was, is] = [
    { ...WEB, 'service.yaml': WEB['service.yaml'].replace('      targetPort: 8080\n', '') },
    { name: 'http', targetPort: 81, nodePort: 30080 },
  ]
  const gone = changeIn(was, 'Service', 'spec.ports[port=80,protocol=TCP]', undefined)
  const come = (more: Partial<Drift>) =>
    changeIn(
      was,
      'Service',
      'spec.ports[port=81,protocol=TCP]',
      { ...is, port: 81, protocol: 'TCP' },
      more,
    )
  assert.deepEqual(adopted(was, gone, come({ forEdit: { allocated: ['nodePort'] } })), SETTER)
  assert.deepEqual(adopted(was, gone, come({}))['apps/web/service.yaml'], [
    ...SETTER['apps/web/service.yaml'],
    '+      nodePort: 30080',
  ])
})

test('adds or removes an item without a counterpart', () => {
  assert.deepEqual(adopted(WEB, added(90, { name: 'metrics', targetPort: 9090 })), {
    'apps/web/service.yaml': ['+    - name: metrics', '+      targetPort: 9090', '+      port: 90'],
  })
  assert.deepEqual(adopted(WEB, removed(443)), {
    'apps/web/service.yaml': ['-    - name: tls', '-      port: 443', '-      targetPort: 8443'],
  })
})
