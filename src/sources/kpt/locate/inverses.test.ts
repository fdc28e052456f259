import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adopted, changeIn, refused } from '../../../../test/fakes/adoption-samples.ts'
import {
  APPLY_SETTERS,
  CATALOG,
  settersConfig,
  webKptfile,
} from '../../../../test/fakes/pipeline-files.ts'

const PATTERN: { readonly [path: string]: string } = {
  Kptfile: webKptfile(`    - image: ${CATALOG}/apply-setters:v0.2.0
      configMap: {left: x, right: y}
`),
  'config.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
data:
  both: x-y # kpt-set: \${left}-\${right}
`,
}

test('does not guess between several setter values for a live value, and --via selects one', () => {
  const ambiguous = refused(PATTERN, changeIn(PATTERN, 'ConfigMap', 'data.both', 'p-q-r'))
  assert.equal(ambiguous.code, 'BP2014')
  assert.match(
    ambiguous.why,
    /^2 places give the live value and change nothing else: the setter left .* as "setter:left\+setter:right"/,
  )
  const named = refused(
    PATTERN,
    changeIn(PATTERN, 'ConfigMap', 'data.both', 'p-q-r', { via: 'setter:nope' }),
  )
  assert.equal(named.what, 'cannot adopt data.both of ConfigMap web by way of "setter:nope"')
  assert.match(
    named.why,
    /^no place of that name gives the live value; these do: the setter left .* as "setter:left\+setter:right"/,
  )
})

test('edits the last of two functions that write one field', () => {
  const fight = {
    ...PATTERN,
    Kptfile: webKptfile(`    - image: ${CATALOG}/set-labels:v0.2.0
      configMap: {team: first}
    - image: ${CATALOG}/set-labels:v0.2.0
      configMap: {team: last}
`),
  }
  assert.deepEqual(adopted(fight, changeIn(fight, 'ConfigMap', 'metadata.labels.team', 'live')), {
    'apps/web/Kptfile': ['-      configMap: {team: last}', '+      configMap: {team: live}'],
  })
})

test('edits a label of set-label in its config', () => {
  const labelled = {
    ...PATTERN,
    Kptfile: webKptfile(
      `    - image: gcr.io/kpt-fn/set-label:v0.1\n      configMap: {team: shop}\n`,
    ),
  }
  assert.deepEqual(
    adopted(labelled, changeIn(labelled, 'ConfigMap', 'metadata.labels.team', 'live')),
    {
      'apps/web/Kptfile': ['-      configMap: {team: shop}', '+      configMap: {team: live}'],
    },
  )
})

test('rejects a package with an unstable render, and names the field', () => {
  const grows = {
    ...PATTERN,
    Kptfile: webKptfile(`    - image: ${CATALOG}/search-replace:v0.2.0
      configMap: {by-path: data.both, by-value-regex: "(.*)", put-value: "\${1}x"}
`),
  }
  const failure = refused(grows, changeIn(grows, 'ConfigMap', 'data.both', 'live'))
  assert.equal(failure.code, 'BP1207')
  assert.match(
    failure.why,
    /^data\.both of ConfigMap web changes with each render, so that no edit can be proven$/,
  )
})

test('edits a value copied by apply-replacements at its source', () => {
  const copied = {
    Kptfile: webKptfile(`    - image: ${CATALOG}/apply-replacements:v0.1.1
      configPath: replacements.yaml
`),
    'replacements.yaml': `apiVersion: fn.kpt.dev/v1alpha1
kind: ApplyReplacements
metadata:
  name: replacements
  annotations:
    config.kubernetes.io/local-config: "true"
replacements:
  - source:
      kind: ConfigMap
      name: source
      fieldPath: data.host
    targets:
      - select: {kind: Service}
        fieldPaths: [spec.externalName]
`,
    'source.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: source
  annotations:
    config.kubernetes.io/local-config: "true"
data:
  host: db.example.com # ours
`,
    'service.yaml':
      'apiVersion: v1\nkind: Service\nmetadata:\n  name: db\nspec:\n  type: ExternalName\n  externalName: db.example.com\n',
  }
  assert.deepEqual(
    adopted(copied, changeIn(copied, 'Service', 'spec.externalName', 'other.example.com')),
    {
      'apps/web/source.yaml': [
        '-  host: db.example.com # ours',
        '+  host: other.example.com # ours',
      ],
      'apps/web/service.yaml': [
        '-  externalName: db.example.com',
        '+  externalName: other.example.com',
      ],
    },
  )
})

test('handles a copy with a delimiter for one target and of the whole value for another', () => {
  const config = (name: string, data: string, local = '') =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${local}data:\n  ${data}\n`
  const local = '  annotations:\n    config.kubernetes.io/local-config: "true"\n'
  const copied = {
    Kptfile: webKptfile(`    - image: ${CATALOG}/apply-replacements:v0.1.1
      configPath: replacements.yaml
`),
    'replacements.yaml': `apiVersion: fn.kpt.dev/v1alpha1
kind: ApplyReplacements
metadata:
  name: replacements
${local}replacements:
  - source: {kind: ConfigMap, name: source, fieldPath: data.cluster}
    targets:
      - select: {kind: ConfigMap, name: other}
        fieldPaths: [data.host]
        options: {delimiter: '-', index: 0}
      - select: {kind: Service}
        fieldPaths: [spec.externalName]
`,
    'source.yaml': config('source', 'cluster: edge', local),
    'service.yaml':
      'apiVersion: v1\nkind: Service\nmetadata:\n  name: db\nspec:\n  type: ExternalName\n  externalName: edge\n',
  }
  assert.deepEqual(adopted(copied, changeIn(copied, 'Service', 'spec.externalName', 'edge-two')), {
    'apps/web/source.yaml': ['-  cluster: edge', '+  cluster: edge-two'],
    'apps/web/service.yaml': ['-  externalName: edge', '+  externalName: edge-two'],
  })
})

test('a rejection names metadata.name when the edit would rename an object', () => {
  const named = {
    Kptfile: webKptfile(APPLY_SETTERS),
    'setters.yaml': settersConfig('  name: web\n'),
    'config.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web # kpt-set: ${name}\ndata:\n  title: web # kpt-set: ${name}\n',
  }
  const { why } = refused(named, changeIn(named, 'ConfigMap', 'data.title', 'shop'))
  assert.match(
    why,
    /^its value comes from the setter name of apply-setters .* an edit there would also change metadata\.name of ConfigMap web$/,
  )
})

test('edits an object that a function adds in the config of the function', () => {
  const upserted = {
    Kptfile: webKptfile(`    - image: ${CATALOG}/upsert-resource:v0.2.0
      configPath: put.yaml
`),
    'put.yaml': `apiVersion: v1
kind: List
metadata:
  name: put
  annotations:
    config.kubernetes.io/local-config: "true"
items:
  - apiVersion: v1
    kind: ConfigMap
    metadata:
      name: made
    data:
      a: b # as decided
`,
  }
  assert.deepEqual(adopted(upserted, changeIn(upserted, 'ConfigMap', 'data.a', 'live')), {
    'apps/web/put.yaml': ['-      a: b # as decided', '+      a: live # as decided'],
  })
})

test('edits an init container image in the set-image config, and a number that set-image rewrites in its manifest', () => {
  const files = {
    Kptfile: webKptfile(`    - image: ${CATALOG}/set-image:v0.1.1
      configMap:
        name: shop/wait
        newTag: "1.4"
`),
    'job.yaml': `apiVersion: batch/v1
kind: Job
metadata: {name: web}
spec:
  activeDeadlineSeconds: 1000000
  template:
    spec:
      initContainers: [{name: wait, image: 'shop/wait:1.4'}]
`,
  }
  assert.deepEqual(
    adopted(
      files,
      changeIn(files, 'Job', 'spec.template.spec.initContainers[name=wait].image', 'shop/wait:1.5'),
    ),
    {
      'apps/web/Kptfile': ['-        newTag: "1.4"', '+        newTag: "1.5"'],
      'apps/web/job.yaml': [
        "-      initContainers: [{name: wait, image: 'shop/wait:1.4'}]",
        "+      initContainers: [{name: wait, image: 'shop/wait:1.5'}]",
      ],
    },
  )
  assert.deepEqual(adopted(files, changeIn(files, 'Job', 'spec.activeDeadlineSeconds', 2000000)), {
    'apps/web/job.yaml': ['-  activeDeadlineSeconds: 1000000', '+  activeDeadlineSeconds: 2000000'],
  })
})
