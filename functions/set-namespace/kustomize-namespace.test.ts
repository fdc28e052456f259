import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KrmFunction } from '@backporch/kpt/function'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import type { YamlMap } from '@backporch/kyaml/yaml'
import { setNamespaceOfAccounts, setNamespaceOfKustomize } from './kustomize-namespace.ts'

function nodes(text: string): YamlMap[] {
  return readYamlNodes(text, 'test.yaml').filter((node) => node.kind === 'map')
}

function run(
  of: KrmFunction,
  text: string,
  config = 'apiVersion: v1\nkind: ConfigMap\ndata: {namespace: prod}\n',
) {
  const { items, results, exitCode } = of({ items: nodes(text), config: nodes(config)[0] })
  return {
    exitCode,
    text: items.map((item) => writeYamlNode(item)).join('---\n'),
    messages: results.map(({ message }) => message),
  }
}

const ACCOUNT = `apiVersion: v1
kind: ServiceAccount
metadata: {name: 'web'}
`
const BINDING = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: a}
subjects:
- {kind: ServiceAccount, name: web, namespace: "on"}
- {kind: ServiceAccount, name: default}
- {kind: ServiceAccount, name: other, namespace: dev}
- {kind: User, name: web}
- ~
`

test('v0.1 sets the namespace of subjects named default, v0.2 also of accounts of the package', () => {
  const written = (web: string): string => `apiVersion: v1
kind: ServiceAccount
metadata:
  name: web
  namespace: prod
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: a
subjects:
- kind: ServiceAccount
  name: web
  namespace: ${web}
- kind: ServiceAccount
  name: default
  namespace: prod
- kind: ServiceAccount
  name: other
  namespace: dev
- kind: User
  name: web
- null
`
  assert.equal(run(setNamespaceOfKustomize, `${ACCOUNT}---\n${BINDING}`).text, written('"on"'))
  assert.equal(run(setNamespaceOfAccounts, `${ACCOUNT}---\n${BINDING}`).text, written('"prod"'))
})

test('objects of unknown kinds and local-config objects get the namespace, cluster-scoped objects do not', () => {
  const objects = `apiVersion: x.io/v1
kind: Any
metadata: {annotations: {config.kubernetes.io/local-config: "true"}, name: a, namespace: ~}
---
apiVersion: v1
kind: Namespace
metadata: {name: dev}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: b}
`
  assert.equal(
    run(setNamespaceOfKustomize, objects).text,
    `apiVersion: x.io/v1
kind: Any
metadata:
  annotations:
    config.kubernetes.io/local-config: "true"
  name: a
  namespace: prod
---
apiVersion: v1
kind: Namespace
metadata:
  name: prod
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: b
`,
  )
})

test('additional fields come from the config', () => {
  const config = `apiVersion: fn.kpt.dev/v1alpha1
kind: SetNamespace
namespace: prod
additionalNamespaceFields: [{kind: Any, path: spec/home, create: true}]
`
  assert.match(
    run(setNamespaceOfKustomize, 'apiVersion: x.io/v1\nkind: Any\nmetadata: {name: a}\n', config)
      .text,
    /spec:\n {2}home: prod\n/,
  )
})

test('a config without a namespace, two equal objects and a wrong type are errors', () => {
  const account = (more: string): string =>
    `apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, ${more}}\n`
  for (const [objects, config, why] of [
    [
      ACCOUNT,
      'apiVersion: v1\nkind: ConfigMap\ndata: {name: prod}\n',
      /input namespace cannot be empty/,
    ],
    [ACCOUNT, 'apiVersion: v1\nkind: Secret\n', /must be a `ConfigMap` or `SetNamespace`/],
    [`${account('')}---\n${account('')}`, undefined, /already registered id/],
    [account('namespace: [x]'), undefined, /expected: ScalarNode/],
    [BINDING.replace('- ~', '- x'), undefined, /expected: MappingNode/],
    [BINDING.replace('name: other', 'name: [other]'), undefined, /expected: ScalarNode/],
  ] as const) {
    const { exitCode, messages } = run(setNamespaceOfKustomize, objects, config)
    assert.equal(exitCode, 1)
    assert.match(messages[0] ?? '', why)
  }
})
