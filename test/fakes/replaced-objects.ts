/** Objects whose fields apply-replacements copies, and what it makes of them. */
import assert from 'node:assert/strict'
import type { KrmFunction } from '@backporch/kpt/function'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import type { YamlMap } from '@backporch/kyaml/yaml'

const CONFIG =
  'apiVersion: fn.kpt.dev/v1alpha1\nkind: ApplyReplacements\nmetadata:\n  name: c\nreplacements: '

export const PORTS = `apiVersion: v1
kind: ConfigMap
metadata:
  name: ports
data:
  image: ghcr.io/shop/web:1.2 # pinned
  number: "8080"
  word: 'no'
  plain: 9090
  nothing:
block:
  a: 1 # one
`

export const WEB = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels:
    app: web
  annotations:
    example.com/a.b: old
spec:
  replicas: 3
  none: null # c
  template:
    spec:
      containers:
      - name: web # first
        image: nginx:1.0
        args: [--port, '80']
      - name: web-proxy
        image: "envoy:2"
`

export function nodes(text: string): YamlMap[] {
  return readYamlNodes(text, 'test.yaml').filter((node) => node.kind === 'map')
}

export interface Answer {
  readonly texts: readonly string[]
  readonly message: string | undefined
}

export function runWith(
  replace: KrmFunction,
  replacements: string,
  texts: readonly string[],
): Answer {
  const [config] = nodes(CONFIG + replacements)
  const { items, results, exitCode } = replace({ items: texts.flatMap(nodes), config })
  assert.equal(exitCode, results.length === 0 ? 0 : 1)
  return { texts: items.map((item) => writeYamlNode(item)), message: results[0]?.message }
}
