import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FileMode } from '@backporch/kyaml/files'
import * as fc from '../../../../test/seeds/fast-check.ts'
import { type KustomizationSource, resolvePath, walkKustomization } from './kustomization-walk.ts'

type Files = { readonly [path: string]: string | { readonly mode: FileMode } }

function walk(
  files: Files,
  folder = 'apps/prod',
): KustomizationSource & { readonly requested: readonly string[] } {
  const process = walkKustomization(folder)
  const requested: string[] = []
  let state = process.next()
  while (state.done !== true) {
    const path = state.value
    requested.push(path)
    const file = files[path]
    const isFolder = Object.keys(files).some((other) => path === '' || other.startsWith(`${path}/`))
    const content = new TextEncoder().encode(typeof file === 'string' ? file : '')
    const mode = typeof file === 'object' ? file.mode : '100644'
    state = process.next(
      file === undefined ? (isFolder ? 'folder' : 'absent') : { path, mode, content },
    )
  }
  return { ...state.value, requested }
}

function pathsOf(files: Files): readonly string[] {
  return [...walk(files).files.keys()].sort()
}

test('the files of a build are those that the kustomization, its bases and components name', () => {
  const files = {
    'apps/prod/kustomization.yaml': `resources:
- ../base
- ./web.yaml
components: [../../parts/tls]
configurations: [names.yaml]
crds: [crd.json]
openapi: {path: schema.json}
patches:
- path: cpu.yaml
- patch: |-
    kind: Deployment
  target: {kind: Deployment}
patchesStrategicMerge:
- old.yaml
- |-
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
patchesJson6902: [{target: {kind: Deployment}, path: json.yaml}]
replacements: [{path: copy.yaml}, {source: {kind: Service}, targets: []}]
configMapGenerator:
- name: conf
  files: [app.conf, key=dir/other.conf]
  envs: [all.env]
  env: one.env
secretGenerator: [{name: keys, files: [key.pem]}]
transformers:
- |-
  apiVersion: builtin
  kind: PrefixTransformer
  metadata: {name: any}
  prefix: a-
`,
    'apps/prod/web.yaml': 'kind: Deployment\n',
    'apps/prod/not-named.yaml': 'kind: Deployment\n',
    'apps/base/kustomization.yml': 'bases: [../root]\n',
    'apps/root/Kustomization': 'resources: [x.yaml]\n',
    'apps/root/x.yaml': 'kind: X\n',
    'parts/tls/kustomization.yaml': 'kind: Component\n',
    ...Object.fromEntries(
      [
        'names.yaml',
        'crd.json',
        'schema.json',
        'cpu.yaml',
        'old.yaml',
        'json.yaml',
        'copy.yaml',
        'app.conf',
        'dir/other.conf',
        'all.env',
        'one.env',
        'key.pem',
      ].map((name) => [`apps/prod/${name}`, '']),
    ),
  }
  assert.deepEqual(walk(files).failures, [])
  assert.deepEqual(
    pathsOf(files),
    Object.keys(files)
      .filter((path) => !path.endsWith('not-named.yaml'))
      .sort(),
  )
})

test('rejects files outside the commit, and fields that could read local files, with their line', () => {
  const refusals: readonly (readonly [string, RegExp])[] = [
    ['resources: [https://example.com/a.yaml]', /is elsewhere/],
    ['resources: ["github.com/acme/base?ref=v1"]', /is elsewhere/],
    ['resources: ["git@example.com:acme/base.git"]', /is elsewhere/],
    ['resources: ["git::base"]', /is elsewhere/],
    ['resources: [example.com/acme/base]', /is elsewhere/],
    ['resources: [gone.yaml]', /apps\/prod\/gone\.yaml is not in the commit/],
    ['resources: [/etc/passwd]', /leaves the repository/],
    ['resources: [../../../etc/passwd]', /leaves the repository/],
    ['resources: [link.yaml]', /symbolic link/],
    ['resources: [module]', /submodule/],
    ['resources: [../empty]', /has no kustomization\.yaml/],
    ['configMapGenerator: [{name: a, files: [/etc/passwd]}]', /leaves the repository/],
    ['configMapGenerator: [{name: a, Files: [/etc/passwd]}]', /Files is not known/],
    ['Resources: [/etc/passwd]', /Resources is not a known field/],
    ['patches: [{path: /etc/passwd}]', /leaves the repository/],
    ['patches: [/etc/passwd]', /not a map/],
    // What kustomize takes for a path, because it reads as no object.
    [
      'patchesStrategicMerge: ["a: /../../../../etc/passwd"]',
      /leaves the repository|is not in the commit/,
    ],
    ['patchesStrategicMerge: ["a\\n/../../../../etc/passwd"]', /leaves the repository/],
    ['transformers: [t.yaml]', /may read files/],
    [
      'transformers: ["apiVersion: builtin\\nkind: PatchTransformer\\nmetadata: {name: a}\\npath: /etc/passwd"]',
      /may read files/,
    ],
    ['generators: [g.yaml]', /runs programs/],
    ['validators: [v.yaml]', /runs programs/],
    ['helmCharts: [{name: web}]', /has no releaseName/],
    ['helmCharts: [{name: web, releaseName: web}]', /nothing is fetched/],
    [
      'helmCharts: [{name: web, releaseName: web, configHome: /etc}]',
      /configHome of a chart is not known/,
    ],
    ['helmCharts: [{name: ../../../../etc, releaseName: web}]', /leaves the repository/],
    ['helmCharts: [{name: web, releaseName: web, valuesFile: /etc/passwd}]', /nothing is fetched/],
    ['helmGlobals: {configHome: /etc}', /configHome is not known/],
    ['resources: []\n---\nresources: []', /one document/],
  ]
  for (const [text, why] of refusals) {
    const { failures } = walk({
      'apps/prod/kustomization.yaml': `namespace: shop\n${text}\n`,
      'apps/prod/link.yaml': { mode: '120000' },
      'apps/prod/module': { mode: '160000' },
      'apps/prod/t.yaml':
        'apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\npath: /etc/passwd\n',
      'apps/empty/x.yaml': '',
    })
    assert.match(failures[0]?.why ?? '', why, text)
    assert.equal(failures[0]?.code, 'BP1210')
    assert.match(failures[0]?.where ?? '', /^apps\/prod\/kustomization\.yaml:[24]$/, text)
  }
})

test('rejects a folder without a kustomization, and a kustomization that is not YAML', () => {
  assert.deepEqual(
    walk({ 'apps/other/kustomization.yaml': '' }).failures.map(({ where, why }) => [where, why]),
    [['apps/prod', 'apps/prod has no kustomization.yaml']],
  )
  assert.deepEqual(
    walk({ 'apps/prod/kustomization.yaml': 'resources: [' }).failures.map(({ code }) => code),
    ['BP1110'],
  )
})

test('visits circular bases once', () => {
  const files = {
    'apps/prod/kustomization.yaml': 'resources: [../base]\n',
    'apps/base/kustomization.yaml': 'resources: [../prod, ../base]\n',
  }
  assert.deepEqual(walk(files).failures, [])
  assert.equal(
    walk(files).requested.filter((path) => path.endsWith('kustomization.yaml')).length,
    2,
  )
})

test('requests nothing outside the repository, for any paths', () => {
  const word = fc.constantFrom(
    '..',
    '.',
    '',
    'a',
    'b.yaml',
    'a: ',
    '\n',
    '\\',
    '//',
    '~',
    '{a',
    'kind: X\nmetadata: {name: a}\n',
  )
  const path = fc.array(word, { maxLength: 8 }).map((words) => words.join('/'))
  const fields = fc.constantFrom(
    'resources',
    'components',
    'bases',
    'patchesStrategicMerge',
    'crds',
    'transformers',
  )
  fc.assert(
    fc.property(fields, fc.array(path, { maxLength: 4 }), (name, paths) => {
      const { requested } = walk({ 'a/kustomization.yaml': JSON.stringify({ [name]: paths }) }, 'a')
      for (const each of requested)
        assert.ok(!each.startsWith('/') && !each.split('/').includes('..'), each)
    }),
    { numRuns: 300 },
  )
  assert.equal(resolvePath('apps/prod', '../../..'), undefined)
  assert.equal(resolvePath('apps/prod', '../..'), '')
})
