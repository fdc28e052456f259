import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import type { YamlMap } from '@backporch/kyaml/yaml'
import { setLabelsOfKustomize } from './kustomize-labels.ts'

function nodes(text: string): YamlMap[] {
  return readYamlNodes(text, 'test.yaml').filter((node) => node.kind === 'map')
}

function run(
  text: string,
  config = 'apiVersion: v1\nkind: ConfigMap\ndata: {app: web, on: "1"}\n',
) {
  const { items, results, exitCode } = setLabelsOfKustomize({
    items: nodes(text),
    config: nodes(config)[0],
  })
  return {
    exitCode,
    text: items.map((item) => writeYamlNode(item)).join('---\n'),
    messages: results.map(({ message }) => message),
  }
}

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: 'a', annotations: {config.kubernetes.io/local-config: "true"}}
spec:
  template:
    spec:
      affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {x: y}}}]}}
`

test('v0.1 also labels affinity and local-config objects, and rewrites objects', () => {
  assert.equal(
    run(DEPLOYMENT).text,
    `apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    config.kubernetes.io/local-config: "true"
  labels:
    app: web
    "on": "1"
  name: a
spec:
  selector:
    matchLabels:
      app: web
      "on": "1"
  template:
    metadata:
      labels:
        app: web
        "on": "1"
    spec:
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - labelSelector:
              matchLabels:
                app: web
                "on": "1"
                x: "y"
`,
  )
})

test('v0.1 takes additional fields from its config, under either name', () => {
  for (const name of ['additionalLabelFields', 'fieldSpecs']) {
    const config = `apiVersion: fn.kpt.dev/v1alpha1\nkind: SetLabels\nlabels: {a: b}\n${name}: [{kind: Foo, path: spec/own, create: true}]\n`
    assert.match(
      run('apiVersion: v1\nkind: Foo\nmetadata: {name: a}\n', config).text,
      /^spec:\n {2}own:\n {4}a: b\n$/m,
    )
  }
})

test('v0.1 fails without labels, for another config, and for two equal objects', () => {
  const object = 'apiVersion: v1\nkind: Foo\nmetadata: {name: a}\n'
  assert.deepEqual(run(object, 'apiVersion: v1\nkind: ConfigMap\n').messages, [
    'failed to configure function: input label list cannot be empty',
  ])
  assert.deepEqual(run(object, 'apiVersion: v1\nkind: Secret\n').messages, [
    'failed to configure function: `functionConfig` must be either a `ConfigMap` or `SetLabels`',
  ])
  assert.match(
    run(`${object}---\n${object}`).messages[0] ?? '',
    /^failed to run function: may not add resource with an already registered id: Foo/,
  )
  assert.equal(run(`${object}---\n${object}`).exitCode, 1)
})

test('labels an object without kind and name too', () => {
  assert.equal(
    run('resources: [a.yaml]\n').text,
    'metadata:\n  labels:\n    app: web\n    "on": "1"\nresources:\n- a.yaml\n',
  )
})
