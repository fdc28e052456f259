import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import type { Json } from '@backporch/kyaml/json'
import {
  built,
  env,
  IMAGE,
  MANIFEST,
  MERGE,
  manifestWith,
  OVERLAY,
  originLinesIn,
} from '../../../../test/fakes/kustomize-origins.ts'
import * as fc from '../../../../test/seeds/fast-check.ts'

test('reports a field that only the manifest sets with its location', () => {
  assert.deepEqual(
    originLinesIn({ 'prod/kustomization.yaml': OVERLAY }, 'spec.replicas', built(MANIFEST)),
    ['base/web.yaml:7:13'],
  )
})

test('reports an absent field with the parent that it would be added to', () => {
  assert.deepEqual(
    originLinesIn({ 'prod/kustomization.yaml': OVERLAY }, 'spec.paused', built(MANIFEST)),
    ['not there; it would go into base/web.yaml:7'],
  )
})

test('lists several writers of a field in kustomize order, and the last one decides', () => {
  const texts = {
    'base/kustomization.yaml': 'replicas: [{name: web, count: 2}]\nresources: [web.yaml]\n',
    'prod/kustomization.yaml': `replicas:\n- name: web\n  count: 5\npatches: [{path: more.yaml}]\n${OVERLAY}`,
    'prod/more.yaml': `${MERGE}spec:\n  replicas: 3\n`,
  }
  assert.deepEqual(
    originLinesIn(texts, 'spec.replicas', manifestWith('replicas: 1', 'replicas: 5')),
    [
      'base/web.yaml:7:13',
      'written by replicas of base/kustomization.yaml:1:31',
      'written by the patch prod/more.yaml:5:13',
      'written by replicas of prod/kustomization.yaml:3:10, which decides',
    ],
  )
})

test('does not list patches, replicas and images of other objects', () => {
  const texts = {
    'prod/kustomization.yaml': `${OVERLAY}replicas: [{name: we, count: 1}]
images: [{name: ngin, newTag: "1.0"}]
patches:
- {path: other.yaml}
- target: {kind: Deployment, name: we}
  patch: '[{op: replace, path: /spec/replicas, value: 1}]'
`,
    'prod/other.yaml': `${MERGE.replace('web', 'api')}spec: {replicas: 1}\n---\n${MERGE.replace('shop', 'test')}spec: {replicas: 1}\n`,
  }
  assert.deepEqual(originLinesIn(texts, 'spec.replicas', built(MANIFEST)), ['base/web.yaml:7:13'])
  assert.deepEqual(originLinesIn(texts, IMAGE, built(MANIFEST)), ['base/web.yaml:12:16'])
})

test('lists images with the parts that they set, which are all they decide', () => {
  const image = (entry: string, to: string) =>
    originLinesIn(
      { 'prod/kustomization.yaml': `${OVERLAY}images:\n- ${entry}\n` },
      IMAGE,
      manifestWith('nginx:1.0', to),
    )
  assert.deepEqual(image('{name: nginx, newTag: "2"}', 'nginx:2'), [
    'base/web.yaml:12:16',
    'written by images of prod/kustomization.yaml:3:25 (newTag), which decides the tag',
  ])
  assert.deepEqual(
    image('{name: nginx, newName: acme/nginx, newTag: "2"}', 'acme/nginx:2').slice(1),
    [
      'written by images of prod/kustomization.yaml:3:26 (newName) and prod/kustomization.yaml:3:46 (newTag), which decides',
    ],
  )
  assert.deepEqual(image('{name: nginx, digest: "sha256:ab"}', 'nginx@sha256:ab').slice(1), [
    'written by images of prod/kustomization.yaml:3:25 (digest), which decides the digest',
  ])
})

test('reports an inline patch with its line and column in the kustomization', () => {
  const texts = {
    'prod/kustomization.yaml': `${OVERLAY}patches:
- target: {kind: Dep.*, labelSelector: "!old"}
  patch: |-
    # ours
    - op: replace
      path: /spec/replicas
      value: 4
`,
  }
  assert.deepEqual(
    originLinesIn(texts, 'spec.replicas', manifestWith('replicas: 1', 'replicas: 4')),
    ['base/web.yaml:7:13', 'written by the patch prod/kustomization.yaml:8:14, which decides'],
  )
})

test('an operation refers to the item at its index when it was applied', () => {
  const texts = {
    'base/kustomization.yaml': `resources: [web.yaml]
patches:
- target: {kind: Deployment}
  patch: |-
    - {op: add, path: /spec/template/spec/containers/0/env/0, value: {name: Z, value: z}}
    - {op: replace, path: /spec/template/spec/containers/0/env/1/value, value: one}
    - {op: remove, path: /spec/template/spec/containers/0/env/2}
`,
    'prod/kustomization.yaml': `${OVERLAY}patches: [{path: side.yaml}]\n`,
    'prod/side.yaml': `${MERGE}spec: {template: {spec: {containers: [{name: side, image: busybox}]}}}\n`,
  }
  const object = built(
    MANIFEST.replace('      - name: app', '      - {name: side, image: busybox}\n      - name: app')
      .replace('- {name: A, value: "1"}', '- {name: Z, value: z}\n        - {name: A, value: one}')
      .replace('        - {name: B, value: "2"}\n', ''),
  )
  assert.deepEqual(originLinesIn(texts, env('Z'), object), [
    'written by the patch base/kustomization.yaml:5:87',
  ])
  assert.deepEqual(originLinesIn(texts, env('A'), object), [
    'base/web.yaml:14:28',
    'written by the patch base/kustomization.yaml:6:80, which decides',
  ])
  assert.deepEqual(originLinesIn(texts, env('B'), object), [
    'base/web.yaml:15:28',
    'removed by the patch base/kustomization.yaml:7:7',
  ])
  assert.deepEqual(originLinesIn(texts, 'spec.template.spec.containers[name=side].image', object), [
    'written by the patch prod/side.yaml:4:59',
  ])
})

test('reports a field that a patch removes with the location of the removal', () => {
  const taken = (patch: string) =>
    originLinesIn(
      {
        'prod/kustomization.yaml': `${OVERLAY}patches: [{path: less.yaml}]\n`,
        'prod/less.yaml': `${MERGE}${patch}`,
      },
      'spec.replicas',
      manifestWith('  replicas: 1\n', ''),
    )
  const manifest = 'base/web.yaml:7:13'
  assert.deepEqual(taken('spec:\n  replicas: null\n'), [
    manifest,
    'removed by the patch prod/less.yaml:5:13',
  ])
  assert.deepEqual(taken('spec:\n  $patch: replace\n  paused: true\n'), [
    manifest,
    'removed by the patch prod/less.yaml:5:3',
  ])
})

test('labels reach only the fields that kustomize labels', () => {
  const texts = {
    'prod/kustomization.yaml': `${OVERLAY}labels:
- pairs: {team: a}
- pairs: {team: b}
  includeTemplates: true
commonLabels: {app: web}
commonAnnotations: {note: x}
`,
  }
  const labels = 'metadata: {labels: {team: b, app: web}, annotations: {note: x}}'
  const object = built(
    MANIFEST.replace(
      '  name: web\n',
      '  name: web\n  labels: {team: b, app: web}\n  annotations: {note: x}\n',
    ).replace(
      '  template:\n',
      `  selector: {matchLabels: {app: web}}\n  template:\n    ${labels}\n`,
    ),
  )
  const [first, second] = [
    'written by labels of prod/kustomization.yaml:3:17',
    'written by labels of prod/kustomization.yaml:4:17',
  ]
  assert.deepEqual(originLinesIn(texts, 'metadata.labels.team', object), [
    first,
    `${second}, which decides`,
  ])
  assert.deepEqual(originLinesIn(texts, 'spec.template.metadata.labels.team', object), [second])
  assert.deepEqual(originLinesIn(texts, 'spec.selector.matchLabels.app', object), [
    'written by commonLabels of prod/kustomization.yaml:6:21',
  ])
  assert.deepEqual(originLinesIn(texts, 'spec.template.metadata.annotations.note', object), [
    'written by commonAnnotations of prod/kustomization.yaml:7:27',
  ])
})

test('for a base reached twice, reports the path that gives the rendered name', () => {
  const texts = {
    'prod/kustomization.yaml': 'resources: [../a, ../b]\n',
    'a/kustomization.yaml': `${OVERLAY}namePrefix: a-\nreplicas: [{name: web, count: 2}]\n`,
    'b/kustomization.yaml': `${OVERLAY}namePrefix: b-\nreplicas: [{name: web, count: 3}]\n`,
  }
  const object = built(
    MANIFEST.replace('name: web', 'name: b-web').replace('replicas: 1', 'replicas: 3'),
  )
  assert.deepEqual(originLinesIn(texts, 'spec.replicas', object), [
    'base/web.yaml:7:13',
    'written by replicas of b/kustomization.yaml:3:31, which decides',
  ])
  assert.deepEqual(originLinesIn(texts, 'metadata.name', object), [
    'base/web.yaml:4:9',
    'written by namePrefix of b/kustomization.yaml:2:13, which decides the prefix',
  ])
})

test('a component applies after the base and before the overlay that uses it', () => {
  const count = (value: number) => `replicas: [{name: web, count: ${value}}]\n`
  const texts = {
    'base/kustomization.yaml': `resources: [web.yaml]\n${count(2)}`,
    'part/kustomization.yaml': `kind: Component\n${count(3)}`,
    'prod/kustomization.yaml': `components: [../part]\n${OVERLAY}${count(4)}`,
  }
  assert.deepEqual(
    originLinesIn(texts, 'spec.replicas', manifestWith('replicas: 1', 'replicas: 4')),
    [
      'base/web.yaml:7:13',
      'written by replicas of base/kustomization.yaml:2:31',
      'written by replicas of part/kustomization.yaml:2:31',
      'written by replicas of prod/kustomization.yaml:3:31, which decides',
    ],
  )
})

test('finds items of a list merged by other keys than a name in a patch', () => {
  const texts = {
    'base/web.yaml': `${MANIFEST}        ports: [{containerPort: 80}, {containerPort: 80, protocol: UDP}]\n`,
    'prod/kustomization.yaml': `${OVERLAY}patches: [{path: port.yaml}]\n`,
    'prod/port.yaml': `${MERGE}spec: {template: {spec: {containers: [{name: app, ports: [{containerPort: 80, protocol: UDP, name: dns}]}]}}}\n`,
  }
  const object = built(
    `${MANIFEST}        ports: [{containerPort: 80}, {containerPort: 80, protocol: UDP, name: dns}]\n`,
  )
  const ports = 'spec.template.spec.containers[0].ports'
  assert.deepEqual(originLinesIn(texts, `${ports}[1].name`, object), [
    'written by the patch prod/port.yaml:4:100',
  ])
  assert.deepEqual(originLinesIn(texts, `${ports}[0].containerPort`, object), [
    'base/web.yaml:16:33',
  ])
})

test('fails only for an unreadable file, for all kustomizations', () => {
  const names = fc.constantFrom(
    ...[
      'name',
      'target',
      'patch',
      'path',
      'literals',
      'pairs',
      'fields',
      'count',
      'newTag',
      'behavior',
      'options',
      'select',
    ],
    ...[
      'targets',
      'fieldPaths',
      'kind',
      'labelSelector',
      'files',
      'envs',
      'app',
      'op',
      'value',
      'metadata',
      '$patch',
    ],
  )
  const texts = fc.constantFrom(
    'web',
    'nginx',
    '(',
    '[{op: add, path: /spec, value: 1}]',
    'kind: [',
    '../base',
    'a=b',
    '*',
    '/a/~2',
    '',
  )
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      texts,
      fc.constantFrom<Json>(null, true, 3, 'merge', 'spec.replicas'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(names, tie('value'), { maxKeys: 4 }),
    ),
  }))
  const fieldNames = fc.constantFrom(
    ...[
      'resources',
      'components',
      'patches',
      'patchesJson6902',
      'patchesStrategicMerge',
      'images',
      'replicas',
      'labels',
      'vars',
    ],
    ...[
      'commonLabels',
      'commonAnnotations',
      'namespace',
      'namePrefix',
      'replacements',
      'configMapGenerator',
      'transformers',
    ],
  )
  fc.assert(
    fc.property(
      fc.dictionary(fieldNames, value),
      fc.constantFrom('spec.replicas', 'spec', IMAGE, 'metadata.labels.app'),
      (created, at) => {
        const kustomization = JSON.stringify({
          ...created,
          resources: [
            '../base',
            ...(Array.isArray(created['resources']) ? created['resources'] : []),
          ],
        })
        try {
          originLinesIn({ 'prod/kustomization.yaml': kustomization }, at, built(MANIFEST))
        } catch (thrown) {
          assert.ok(thrown instanceof Failure, String(thrown))
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('reports each written part of a map or a list', () => {
  const texts = { 'prod/kustomization.yaml': `${OVERLAY}images: [{name: nginx, newTag: "2"}]\n` }
  assert.deepEqual(
    originLinesIn(
      texts,
      'spec.template.spec.containers[name=app]',
      manifestWith('nginx:1.0', 'nginx:2'),
    ),
    ['base/web.yaml:11:9', 'image written by images of prod/kustomization.yaml:2:32 (newTag)'],
  )
})
