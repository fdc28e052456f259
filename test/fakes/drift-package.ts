/** A package with a pipeline, and drift in it, for the tests of the functions about drift. */
import { INDEX, LEGACY_INDEX, LEGACY_PATH, PATH, setAnnotation } from '@backporch/kpt/function'
import { emptyObject, type Json, setKey } from '@backporch/kyaml/json'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { convertJsonToYaml, type YamlMap } from '@backporch/kyaml/yaml'
import type { Change } from '../../src/record/documents/change.ts'
import { API_VERSION, LOCAL_CONFIG } from '../../src/record/documents/document.ts'
import type { DriftRecord } from '../../src/record/documents/drift-record.ts'
import type { DriftReport } from '../../src/record/documents/drift-report.ts'
import { CATALOG, settersConfig, webKptfile } from './pipeline-files.ts'

export const WEB: { readonly [path: string]: string } = {
  Kptfile: webKptfile(`  - image: ${CATALOG}/apply-setters:v0.2.0
    configPath: setters.yaml
  - image: ${CATALOG}/set-labels:v0.2.0
    configMap:
      team: store # who is called at night
`),
  'deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels:
    team: store
spec:
  replicas: 3 # kpt-set: \${replicas}
  paused: false
  selector:
    matchLabels:
      app: web
      team: store
  template:
    metadata:
      labels:
        app: web
        team: store
    spec:
      containers:
      - name: app
        image: shop/web:1.4
        env:
        - {name: LEVEL, value: info} # how much it says
`,
  'more.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: first
  namespace: shop
  labels:
    team: store
data:
  color: 'blue'
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: second
  namespace: shop
  labels:
    team: store
data:
  size: "3" # in litres
`,
  'setters.yaml': settersConfig(`  # how many at night
  replicas: "3"
`),
}

/** As kpt gives them to a function that is run on the package alone. */
export function itemsOf(texts: { readonly [path: string]: string }): YamlMap[] {
  return Object.entries(texts).flatMap(([path, text]) =>
    readYamlNodes(text, path).flatMap((node, index) => {
      if (node.kind !== 'map') return []
      for (const name of [PATH, LEGACY_PATH]) setAnnotation(node, name, path)
      for (const name of [INDEX, LEGACY_INDEX]) setAnnotation(node, name, String(index))
      return [node]
    }),
  )
}

/** @param path keyed; empty for a whole object */
export function changeOf(path: string, more: Partial<Change> = {}): Change {
  return {
    ref: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
    change: 'modified',
    ...(path === '' ? {} : { path }),
    actor: {
      manager: 'kubectl-edit',
      operation: 'Update',
      class: 'human-tool',
      at: '2026-11-21T09:30:00Z',
      confidence: 'field-manager',
    },
    risk: 'medium',
    reason: 'AVAIL-REPLICAS',
    resolution: 'Adopt',
    fingerprint: '0123456789abcdef',
    ...more,
  }
}

const FINGERPRINT = `sha256:9f2c1a7b${'0'.repeat(56)}`

function specOf(changes: readonly Change[]): DriftReport['spec'] {
  return {
    unit: {
      cluster: 'prod-eu-1',
      package: 'apps/web',
      branch: 'main',
      commit: 'a'.repeat(40),
      tree: '00112233aabbccdd',
    },
    fingerprint: changes.length === 0 ? '' : FINGERPRINT,
    observed: { at: '2026-11-21T10:00:00Z', syncer: 'argocd-controller', objects: 3 },
    changes: [...changes],
  }
}

export function reportOf(
  changes: readonly Change[],
  status: Partial<DriftReport['status']> = {},
): DriftReport {
  return {
    apiVersion: API_VERSION,
    kind: 'DriftReport',
    // sha256 of `prod-eu-1`, a zero byte and `apps/web`, as reports are named.
    metadata: { name: '505b0d56568e4263', annotations: LOCAL_CONFIG },
    spec: specOf(changes),
    status: {
      state: 'Drifted',
      since: '2026-11-21T10:00:00Z',
      episode: '',
      lifecycle: '',
      plan: 'Adopt',
      ...status,
    },
  }
}

export function recordOf(
  changes: readonly Change[],
  more: Partial<DriftRecord['spec']> = {},
): DriftRecord {
  return {
    apiVersion: API_VERSION,
    kind: 'DriftRecord',
    metadata: { name: 'drift-9f2c1a7b', annotations: LOCAL_CONFIG },
    spec: {
      ...specOf(changes),
      episode: '9f2c1a7b',
      began: '2026-11-21T09:45:00Z',
      lifecycle: 'Proposed',
      plan: 'Adopt',
      policy: { name: 'default', mode: 'Propose' },
      settle: 'syncer',
      keyId: '01234567',
      ...more,
    },
  }
}

/** The document as the tree that a function gets. */
export function treeOf(document: object): YamlMap {
  const json = emptyObject()
  for (const [key, value] of Object.entries(structuredClone(document)))
    setKey(json, key, value as Json)
  const tree = convertJsonToYaml(json)
  if (tree.kind !== 'map') throw new TypeError('a document is a map')
  return tree
}
