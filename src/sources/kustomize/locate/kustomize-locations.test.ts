import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { Json } from '@backporch/kyaml/json'
import { readResource } from '@backporch/kyaml/resource'
import { path } from '../../../../test/fakes/live-object.ts'
import { yaml } from '../../../../test/fakes/turn-world.ts'
import { applyCandidate, collectChangedFiles } from '../../build/adopt/source-edits.ts'
import type { SourceFiles } from '../files/kustomize-build.ts'
import { KustomizeLocations } from './kustomize-locations.ts'

function filesOf(texts: { readonly [path: string]: string }): SourceFiles {
  return new Map(
    Object.entries(texts).map(([file, text]) => [
      file,
      { path: file, mode: '100644' as const, content: new TextEncoder().encode(text) },
    ]),
  )
}

/** What each candidate of each round gives: its name, its place, and the lines that it changes. */
function candidatesOf(
  texts: { readonly [path: string]: string },
  desired: DesiredResource,
  at: string,
  wanted: Json | undefined,
): Json {
  const files = filesOf(texts)
  const locations = new KustomizeLocations(files)
  return locations
    .find({ desired, path: path(at), wanted, declaredName: locations.findDeclaredName(desired) })
    .map(({ candidates }) =>
      candidates.map((candidate) => {
        const changed = [...collectChangedFiles(files, applyCandidate(files, candidate))].map(
          ([file, content]) => {
            const [before, after] = [
              texts[file] ?? '',
              new TextDecoder().decode(content ?? new Uint8Array()),
            ].map((text) => text.split('\n'))
            return [file, ...(after ?? []).filter((line, index) => line !== before?.[index])]
          },
        )
        return [candidate.via, candidate.what, ...changed]
      }),
    )
}

function resource(text: string, file: string, line = 1): DesiredResource {
  const read = readResource(yaml(text))
  if ('problem' in read) throw new TypeError(read.problem)
  return { ...read, location: { path: file, document: 0, item: undefined, line } }
}

const MANIFEST = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: app
        image: nginx:1.0
`
const RENDERED = MANIFEST.replace('name: web', 'name: prod-web').replace(
  'replicas: 1',
  'replicas: 3',
)
const WEB = resource(RENDERED, 'base/web.yaml')
const BASE = { 'base/kustomization.yaml': 'resources: [web.yaml]\n', 'base/web.yaml': MANIFEST }

test('a replica count may be in the manifest, in a patch and in replicas of each folder', () => {
  const texts = {
    ...BASE,
    'prod/kustomization.yaml':
      'resources: [../base]\nnamePrefix: prod-\npatches:\n- path: more.yaml\nreplicas:\n- name: web # ours\n  count: 3\n- {name: api, count: 2}\n',
    'prod/more.yaml':
      'kind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n---\nkind: Deployment\nmetadata: {name: api}\nspec: {replicas: 2}\n',
  }
  assert.deepEqual(candidatesOf(texts, WEB, 'spec.replicas', 5), [
    [
      ['manifest', 'the manifest (base/web.yaml:6)', ['base/web.yaml', '  replicas: 5']],
      [
        'patch:more.yaml',
        'the patch (prod/more.yaml:3)',
        ['prod/more.yaml', 'spec: {replicas: 5}'],
      ],
      [
        'replicas:web',
        'the replicas of web (prod/kustomization.yaml:7)',
        ['prod/kustomization.yaml', '  count: 5'],
      ],
    ],
  ])
})

test('a JSON patch operation is a candidate when it sets the field or a parent of it', () => {
  const texts = {
    ...BASE,
    'prod/kustomization.yaml': `resources: [../base]
patches:
- target: {kind: Deployment}
  patch: |-
    - {op: replace, path: /spec/template/spec/containers/0/image, value: "nginx:1"} # ours
    - {op: test, path: /spec/template/spec/containers/0/image, value: "nginx:1"}
    - op: add
      path: /spec/template/spec/containers/0
      value: {name: app, image: nginx:2}
    - {op: replace, path: /spec/template/spec/containers/1/image, value: "nginx:1"}
- target: {kind: Service}
  patch: '[{op: replace, path: /spec/template/spec/containers/0/image, value: x}]'
`,
  }
  const found = candidatesOf(texts, WEB, 'spec.template.spec.containers[name=app].image', 'nginx:9')
  assert.deepEqual(found, [
    [
      ['manifest', 'the manifest (base/web.yaml:11)', ['base/web.yaml', '        image: nginx:9']],
      [
        'patch:1',
        'the patch (prod/kustomization.yaml:4)',
        [
          'prod/kustomization.yaml',
          '    - {op: replace, path: /spec/template/spec/containers/0/image, value: "nginx:9"} # ours',
        ],
      ],
      [
        'patch:1',
        'the patch (prod/kustomization.yaml:4)',
        ['prod/kustomization.yaml', '      value: {name: app, image: nginx:9}'],
      ],
    ],
  ])
})

test('edits an appended list item at its operation, and no other item', () => {
  const patch =
    '- op: add\n  path: /spec/template/spec/containers/0/env/-\n  value: {name: LEVEL, value: info}\n'
  const texts = {
    ...BASE,
    'prod/kustomization.yaml': 'patches:\n- path: env.yaml\n  target: {kind: Deployment}\n',
    'prod/env.yaml': patch,
  }
  const env =
    '        env:\n        - {name: COLOR, value: blue}\n        - {name: LEVEL, value: info}\n'
  const web = resource(`${RENDERED}${env}`, 'base/web.yaml')
  const of = (name: string): Json =>
    candidatesOf(texts, web, `spec.template.spec.containers[name=app].env[name=${name}].value`, 'x')
  assert.deepEqual((of('LEVEL') as Json[][])[0], [
    [
      'patch:env.yaml',
      'the patch (prod/env.yaml:3)',
      ['prod/env.yaml', '  value: {name: LEVEL, value: x}'],
    ],
  ])
  assert.deepEqual((of('COLOR') as Json[][])[0], [])
})

test('edits an image in the parts that images sets, and in the manifest under the matched name', () => {
  const image = 'spec.template.spec.containers[name=app].image'
  const rendered = (text: string) => resource(RENDERED.replace('nginx:1.0', text), 'base/web.yaml')
  const viaImages = (entry: string, now: string, wanted: string): Json => {
    const found = candidatesOf(
      { ...BASE, 'prod/kustomization.yaml': `images:\n- ${entry}\n` },
      rendered(now),
      image,
      wanted,
    ) as Json[][][]
    return (found[0] ?? []).map((candidate) => [candidate[0], ...candidate.slice(2)] as Json)
  }
  const [manifest, kustomization] = ['base/web.yaml', 'prod/kustomization.yaml']
  assert.deepEqual(viaImages('{name: nginx, newTag: "1.1"}', 'nginx:1.1', 'nginx:1.2'), [
    ['manifest', [manifest, '        image: nginx:1.2']],
    ['image:nginx', [kustomization, '- {name: nginx, newTag: "1.2"}']],
  ])
  assert.deepEqual(
    viaImages('{name: nginx, newName: acme/nginx}', 'acme/nginx:1.0', 'acme/nginx:1.2'),
    [['manifest', [manifest, '        image: nginx:1.2']]],
  )
  assert.deepEqual(viaImages('{name: nginx, newTag: "1.1"}', 'nginx:1.1', 'acme/nginx:1.1'), [
    ['manifest', [manifest, '        image: acme/nginx:1.1']],
    ['image:nginx', [kustomization, '- {name: nginx, newTag: "1.1", newName: acme/nginx}']],
  ])
  assert.deepEqual(viaImages('{name: redis, newTag: "1.1"}', 'nginx:1.0', 'nginx:1.2'), [
    ['manifest', [manifest, '        image: nginx:1.2']],
  ])
})

test('adds a field that nothing sets to the manifest, or else to a patch of the object', () => {
  const texts = {
    ...BASE,
    'prod/kustomization.yaml': 'resources: [../base]\npatches: [{path: more.yaml}]\n',
    'prod/more.yaml': 'kind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n',
  }
  const found = candidatesOf(texts, WEB, 'spec.minReadySeconds', 5) as Json[][][]
  assert.deepEqual(
    found.map((round) => round.map(([via, what]) => [via ?? '', what ?? ''])),
    [
      [],
      [['manifest', 'the manifest (base/web.yaml:6)']],
      [['patch:more.yaml', 'the patch (prod/more.yaml:4)']],
    ],
  )
  assert.deepEqual(found[2]?.[0]?.[2], ['prod/more.yaml', '  minReadySeconds: 5', ''])
})

test('may edit labels and annotations that the kustomization sets on all objects', () => {
  const texts = {
    ...BASE,
    'prod/kustomization.yaml':
      'labels:\n- pairs: {team: a}\n- pairs: {other: b}\ncommonLabels: {team: c}\ncommonAnnotations: {note: d}\n',
  }
  const names = (found: Json): Json => (found as Json[][][])[0]?.map(([, what]) => what ?? '') ?? []
  assert.deepEqual(names(candidatesOf(texts, WEB, 'metadata.labels.team', 'x')), [
    'the label team (prod/kustomization.yaml:4)',
    'the label team (prod/kustomization.yaml:2)',
  ])
  assert.deepEqual(names(candidatesOf(texts, WEB, 'metadata.annotations.note', 'x')), [
    'the annotation note (prod/kustomization.yaml:5)',
  ])
})

const TRANSFORMERS = `apiVersion: builtin
kind: LabelTransformer
metadata: {name: labels}
labels:
  team: a # who is asked
  other: a
fieldSpecs: [{path: metadata/labels, create: true}]
---
apiVersion: builtin
kind: ReplicaCountTransformer
metadata: {name: count}
replica: {name: web, count: 3}
fieldSpecs: [{path: spec/replicas, kind: Deployment}]
`
const INLINE = `transformers:
- all.yaml
- |
  apiVersion: builtin
  kind: AnnotationsTransformer
  metadata: {name: notes}
  annotations: {note: d}
- |-
  apiVersion: builtin
  kind: ImageTagTransformer
  metadata: {name: image}
  imageTag: {name: nginx, newName: acme/nginx, newTag: "1.0"}
- |-
  apiVersion: builtin
  kind: NamespaceTransformer
  metadata: {name: space, namespace: shop}
`

test('edits labels, annotations, counts and images of transformers in their file or in the list', () => {
  const texts = {
    ...BASE,
    'prod/kustomization.yaml': `resources: [../base]\n${INLINE}`,
    'prod/all.yaml': TRANSFORMERS,
  }
  const web = resource(
    RENDERED.replace(
      'metadata:\n',
      'metadata:\n  labels: {team: a, other: b}\n  annotations: {note: d}\n',
    ).replace('nginx:1.0', 'acme/nginx:1.0'),
    'base/web.yaml',
  )
  const first = (at: string, wanted: Json | undefined): Json =>
    (candidatesOf(texts, web, at, wanted) as Json[][])[0]?.at(-1) ?? null
  const file = 'prod/kustomization.yaml'
  assert.deepEqual(first('metadata.labels.team', 'x'), [
    'transformer:all.yaml',
    'the label team of the LabelTransformer (prod/all.yaml:5)',
    ['prod/all.yaml', '  team: x # who is asked'],
  ])
  assert.deepEqual(first('metadata.labels.other', 'x'), null)
  assert.deepEqual(first('metadata.annotations.note', 'x'), [
    'transformer:2',
    'the annotation note of the AnnotationsTransformer (prod/kustomization.yaml:8)',
    [file, '  annotations: {note: x}'],
  ])
  assert.deepEqual(first('spec.replicas', 5), [
    'transformer:all.yaml',
    'the replicas of web of the ReplicaCountTransformer (prod/all.yaml:12)',
    ['prod/all.yaml', 'replica: {name: web, count: 5}'],
  ])
  assert.deepEqual(
    candidatesOf(texts, web, 'spec.template.spec.containers[name=app].image', 'acme/nginx:2.0'),
    [
      [
        [
          'manifest',
          'the manifest (base/web.yaml:11)',
          ['base/web.yaml', '        image: nginx:2.0'],
        ],
        [
          'transformer:3',
          'the image nginx of the ImageTagTransformer (prod/kustomization.yaml:13)',
          [file, '  imageTag: {name: nginx, newName: acme/nginx, newTag: "2.0"}'],
        ],
      ],
    ],
  )
})

test('a rejection names the transformer whose field cannot be edited', () => {
  const texts = { ...BASE, 'prod/kustomization.yaml': INLINE.replace('- all.yaml\n', '') }
  const web = resource(
    RENDERED.replace('metadata:\n', 'metadata:\n  namespace: shop\n  labels: {a: b}\n'),
    'base/web.yaml',
  )
  const locations = new KustomizeLocations(filesOf(texts))
  const told = (at: string): Json =>
    (
      locations.find({ desired: web, path: path(at), wanted: 'x', declaredName: 'web' })[0]
        ?.obstacles ?? []
    ).map(({ where, why }) => [where ?? null, why])
  assert.deepEqual(told('metadata.namespace'), [
    [
      'prod/kustomization.yaml:13',
      'no authored place was found whose edit gives the live value; the NamespaceTransformer may write the field',
    ],
  ])
  assert.deepEqual(told('metadata.labels.a'), [])
})

test('edits a generated ConfigMap entry as a literal, file or line of a file; rejects a hashed name', () => {
  const texts = {
    'prod/kustomization.yaml':
      'configMapGenerator:\n- name: conf\n  literals:\n  - "a=1"\n  - ab=2\n  files: [whole.txt, key=other.txt]\n  envs: [all.env]\n',
    'prod/whole.txt': 'x\n',
    'prod/other.txt': 'y\n',
    'prod/all.env': '# all\nLEVEL=info\n',
  }
  const created = resource(
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf-h7k2}\ndata: {a: "1", whole.txt: x, key: y, LEVEL: info}\n',
    'prod/kustomization.yaml',
  )
  const desired = { ...created, location: { ...created.location, step: 'configMapGenerator' } }
  const first = (at: string): Json =>
    ((candidatesOf(texts, desired, at, '5') as Json[][])[0] ?? []) as Json
  assert.deepEqual(first('data.a'), [
    [
      'literal:a',
      'the literal a (prod/kustomization.yaml:4)',
      ['prod/kustomization.yaml', '  - "a=5"'],
    ],
  ])
  assert.deepEqual(first('data["whole.txt"]'), [
    ['file:whole.txt', 'the file prod/whole.txt', ['prod/whole.txt', '5']],
  ])
  assert.deepEqual(first('data.key'), [
    ['file:other.txt', 'the file prod/other.txt', ['prod/other.txt', '5']],
  ])
  assert.deepEqual(first('data.LEVEL'), [
    ['env:LEVEL', 'the line of LEVEL (prod/all.env:2)', ['prod/all.env', 'LEVEL=5']],
  ])
  const locations = new KustomizeLocations(filesOf(texts))
  const [found] = locations.find({ desired, path: path('data.a'), wanted: '5', declaredName: '' })
  assert.deepEqual(
    found?.obstacles.map(({ where, why }) => [where, /hash/.test(why)]),
    [['prod/kustomization.yaml:2', true]],
  )
})

test('tries a value at an anchor for all its uses first', () => {
  const text =
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  first: &color blue\n  second: *color\n'
  const texts = { 'kustomization.yaml': 'resources: [config.yaml]\n', 'config.yaml': text }
  const [all, own] = candidatesOf(
    texts,
    resource(text.replace('&color ', '').replace('*color', 'blue'), 'config.yaml'),
    'data.second',
    'red',
  ) as Json[]
  assert.deepEqual(all, [
    ['anchor:color', 'the anchor &color (config.yaml:6)', ['config.yaml', '  first: &color red']],
  ])
  assert.deepEqual(own, [
    ['manifest', 'the manifest (config.yaml:7)', ['config.yaml', '  second: red']],
  ])
})
