/** ApplicationSets over the folders of one repository: what its generators and its template make of them. */
import type { JsonObject } from '@backporch/kyaml/json'
import fc from 'fast-check'
import { NAMESPACE, REPOSITORY } from '../argo-case.ts'

/** Texts by path, of the repository that every set reads. */
export const SET_FILES: { readonly [path: string]: string } = {
  'apps/web/deployment.yaml': '',
  'apps/Shop_API/deployment.yaml': '',
  'apps/web/overlays/prod/kustomization.yaml': '',
  'apps/web/overlays/dev/kustomization.yaml': '',
  'apps-old/a/b.yaml': '',
  '.hidden/apps/x.yaml': '',
  'apps/.cache/x.yaml': '',
  'clusters/a[1]/x.yaml': '',
  'README.md': '',
  'fleet/eu/config.json':
    '{"env": "eu", "tag": "1.27", "size": {"cpu": 2, "is": true, "zones": ["a", "b"]}, "none": {}}\n',
  'fleet/us/config.json':
    '{"env": "us", "tag": "1.26", "size": {"cpu": 4.5, "is": false, "zones": []}}\n',
  'fleet/us/Other_Config.yaml': 'env: us-other\ntag: "2"\nsize:\n  cpu: 1000000\n',
  'fleet/several.yaml': '- env: one\n  tag: "1"\n- env: two\n  tag: "2"\n',
  'fleet/null.yaml': 'env: none\ntag: null\n',
  'fleet/empty.yaml': '',
  'fleet/text.yaml': 'only a text\n',
  'fleet/deep/er/config.json': '{"env": "deep", "tag": "3"}\n',
  'root.json': '{"env": "root", "tag": "0"}\n',
}

interface SetSpec {
  readonly generators: readonly JsonObject[]
  readonly isGo?: boolean
  readonly name?: string
  readonly path?: string
  readonly more?: JsonObject
  readonly spec?: JsonObject
}

export function setOf({ generators, isGo = false, name, path, more, spec }: SetSpec): JsonObject {
  const tag = (text: string): string => (isGo ? `{{.${text}}}` : `{{${text}}}`)
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'ApplicationSet',
    metadata: { name: 'shops', namespace: NAMESPACE },
    spec: {
      ...(isGo ? { goTemplate: true, goTemplateOptions: ['missingkey=error'] } : {}),
      generators,
      template: {
        metadata: { name: name ?? tag('path.basename') },
        spec: {
          project: 'default',
          source: {
            repoURL: REPOSITORY,
            targetRevision: 'main',
            path: path ?? (isGo ? '{{.path.path}}' : '{{path}}'),
            ...more,
          },
          destination: { server: 'https://kubernetes.default.svc', namespace: 'shop' },
        },
      },
      ...spec,
    },
  }
}

const git = (directories: readonly (string | JsonObject)[], more: JsonObject = {}): JsonObject => ({
  git: {
    repoURL: REPOSITORY,
    revision: 'HEAD',
    directories: directories.map((each) => (typeof each === 'string' ? { path: each } : each)),
    ...more,
  },
})
const files = (patterns: readonly (string | JsonObject)[], more: JsonObject = {}): JsonObject => ({
  git: {
    repoURL: REPOSITORY,
    revision: 'HEAD',
    files: patterns.map((each) => (typeof each === 'string' ? { path: each } : each)),
    ...more,
  },
})
const list = (...elements: readonly JsonObject[]): JsonObject => ({ list: { elements } })

const FIXED: { readonly [name: string]: JsonObject } = {
  'folders of git': setOf({ generators: [git(['apps/*'])] }),
  'folders of git, with a Go template': setOf({ generators: [git(['apps/*'])], isGo: true }),
  'folders of git, but for some': setOf({
    generators: [git(['apps/*', { path: 'apps/web', exclude: true }])],
  }),
  'normalized names': setOf({
    generators: [git(['apps/*'])],
    name: '{{ path.basenameNormalized }}-{{path[0]}}',
  }),
  'normalized names, with a Go template': setOf({
    generators: [git(['apps/*'])],
    isGo: true,
    name: '{{ .path.basenameNormalized }}-{{index .path.segments 0}}',
  }),
  'a prefix of the parameters': setOf({
    generators: [git(['apps/*'], { pathParamPrefix: 'app' })],
    name: 'x-{{app.path.basename}}',
    path: '{{app.path}}',
  }),
  'values of the generator': setOf({
    generators: [git(['apps/*'], { values: { of: 'x-{{path.basename}}' } })],
    name: '{{values.of}}',
  }),
  'values of the generator, with a Go template': setOf({
    generators: [git(['apps/*'], { values: { of: 'x-{{.path.basename}}' } })],
    isGo: true,
    name: '{{.values.of}}',
  }),
  'a value that nothing gives': setOf({
    generators: [git(['apps/*'])],
    name: '{{path.basename}}-{{other}}',
  }),
  'a value that nothing gives, with a Go template': setOf({
    generators: [git(['apps/*'])],
    isGo: true,
    name: '{{.other}}',
  }),
  'a list': setOf({
    generators: [
      list({ env: 'prod', values: { size: 'l' } }, { env: 'dev', values: { size: 's' } }),
    ],
    name: 'shop-{{env}}-{{values.size}}',
    path: 'apps/web/overlays/{{env}}',
  }),
  'a list, with a Go template': setOf({
    generators: [list({ env: 'prod', n: 3, on: true, deep: { a: 'b' } })],
    isGo: true,
    name: '{{.env}}-{{.n}}-{{.on}}-{{.deep.a}}',
    path: 'apps/web',
  }),
  'a list with a number': setOf({
    generators: [list({ env: 'prod', n: 3 })],
    name: '{{env}}',
    path: 'apps/web',
  }),
  'a list without elements': setOf({ generators: [list()], name: 'x', path: 'apps/web' }),
  'an element without values': setOf({ generators: [list({})], name: 'shop', path: 'apps/web' }),
  'two generators': setOf({
    generators: [list({ path: 'apps/web', 'path.basename': 'web' }), git(['apps-old/*'])],
  }),
  'a matrix': setOf({
    generators: [
      {
        matrix: {
          generators: [git(['apps/web/overlays/*']), list({ region: 'eu' }, { region: 'us' })],
        },
      },
    ],
    name: '{{path.basename}}-{{region}}',
  }),
  'a matrix, with a Go template': setOf({
    generators: [
      { matrix: { generators: [git(['apps/web/overlays/*']), list({ region: 'eu' })] } },
    ],
    isGo: true,
    name: '{{.path.basename}}-{{.region}}',
  }),
  'a matrix whose second generator reads the first one': setOf({
    generators: [
      { matrix: { generators: [list({ app: 'web' }), git(['apps/{{app}}/overlays/*'])] } },
    ],
    name: '{{app}}-{{path.basename}}',
  }),
  'a matrix with a value twice': setOf({
    generators: [{ matrix: { generators: [list({ a: '1' }), list({ a: '2' })] } }],
    name: '{{a}}',
    path: 'apps/web',
  }),
  'a matrix with a value twice, with a Go template': setOf({
    generators: [
      {
        matrix: {
          generators: [list({ a: '1', m: { x: '1' } }), list({ a: '2', m: { x: '2', y: '3' } })],
        },
      },
    ],
    isGo: true,
    name: '{{.a}}-{{.m.x}}-{{.m.y}}',
    path: 'apps/web',
  }),
  'keys and lists of the template': setOf({
    generators: [git(['apps/web'])],
    more: {
      helm: { parameters: [{ name: '{{path.basename}}.x', value: '{{path}}' }] },
      kustomize: { commonLabels: { '{{path.basename}}': 'y' } },
    },
  }),
  'values of files': setOf({
    generators: [files(['fleet/*/config.json'])],
    name: '{{env}}-{{tag}}-{{size.cpu}}-{{size.is}}-{{size.zones.1}}',
  }),
  'values of files, with a Go template': setOf({
    generators: [files(['fleet/*/config.json'])],
    isGo: true,
    name: '{{.env}}-{{.tag}}-{{.path.filename}}-{{index .path.segments 1}}',
  }),
  'a number of a file, with a Go template': setOf({
    generators: [files(['fleet/eu/*'])],
    isGo: true,
    name: '{{.env}}-{{.size.cpu}}-{{.size.is}}',
  }),
  'a large number of a file': setOf({
    generators: [files(['fleet/us/Other*'])],
    name: '{{env}}-{{size.cpu}}',
  }),
  'a large number of a file, with a Go template': setOf({
    generators: [files(['fleet/us/Other*'])],
    isGo: true,
    name: '{{.env}}-{{.size.cpu}}',
  }),
  'a large number of a list, with a Go template': setOf({
    generators: [list({ n: 1_000_000 })],
    isGo: true,
    name: 'x-{{.n}}',
    path: 'apps/web',
  }),
  'small numbers of a list, with a Go template': setOf({
    generators: [list({ n: 0.0001, m: 0.000012, k: 999_999.5, l: 12_345_678 })],
    isGo: true,
    name: 'x-{{.n}}-{{.m}}-{{.k}}-{{.l}}',
    path: 'apps/web',
  }),
  'paths of files': setOf({
    generators: [files(['fleet/us/*'])],
    name: '{{path.basename}}-{{path.filename}}-{{path.filenameNormalized}}-{{path[0]}}',
  }),
  'paths of files, with a Go template': setOf({
    generators: [files(['fleet/us/*'])],
    isGo: true,
    name: '{{.path.basename}}-{{.path.filename}}-{{.path.filenameNormalized}}-{{.path.path}}',
  }),
  'a file of the root': setOf({
    generators: [files(['root.json'])],
    name: '{{env}}-{{path}}-{{path.basename}}-{{path[0]}}',
  }),
  'several elements of a file': setOf({
    generators: [files(['fleet/several.yaml'])],
    name: '{{env}}-{{tag}}',
  }),
  'several elements of a file, with a Go template': setOf({
    generators: [files(['fleet/several.yaml'])],
    isGo: true,
    name: '{{.env}}',
  }),
  'a null of a file': setOf({ generators: [files(['fleet/null.yaml'])], name: '{{env}}-{{tag}}' }),
  'an empty file': setOf({
    generators: [files(['fleet/empty.yaml'])],
    name: 'x-{{path.filename}}',
  }),
  'a file that is a text': setOf({ generators: [files(['fleet/text.yaml'])], name: 'x' }),
  'files, but for some': setOf({
    generators: [files(['fleet/*.json', { path: 'fleet/us/*', exclude: true }])],
    name: '{{env}}',
  }),
  'a folder of files': setOf({ generators: [files(['fleet/deep'])], name: '{{env}}' }),
  'no file': setOf({ generators: [files(['fleet/nowhere/*'])], name: '{{env}}' }),
  'files with a prefix and values': setOf({
    generators: [
      files(['fleet/eu/*'], { pathParamPrefix: 'of', values: { all: '{{env}}-{{of.path}}' } }),
    ],
    name: '{{values.all}}',
  }),
  'a matrix of files and folders': setOf({
    generators: [{ matrix: { generators: [files(['fleet/*/config.json']), git(['apps/w*'])] } }],
    name: '{{env}}',
    path: 'apps/web',
  }),
  'a matrix of a list and files': setOf({
    generators: [
      {
        matrix: {
          generators: [
            list({ region: 'eu' }, { region: 'us' }),
            files(['fleet/{{region}}/config.json']),
          ],
        },
      },
    ],
    name: '{{region}}-{{tag}}',
  }),
  'a pattern with a class': setOf({
    generators: [git(['apps/[w-z]eb', 'clusters/a\\[1\\]', 'apps/web/*/[^d]*', 'apps/???'])],
  }),
  'a pattern that is not valid': setOf({ generators: [git(['apps/[', 'apps-old/*'])] }),
  'a Go template that calls a function': setOf({
    generators: [git(['apps/*'])],
    isGo: true,
    name: '{{ .path.basename | upper }}',
  }),
  'a patch of the template': setOf({
    generators: [git(['apps/*'])],
    spec: { templatePatch: 'spec: {project: other}\n' },
  }),
  'a template of the generator': setOf({
    generators: [
      git(['apps/*'], {
        template: {
          metadata: { name: 'own-{{path.basename}}' },
          spec: { project: 'x', destination: {} },
        },
      }),
    ],
  }),
  'a selector': setOf({
    generators: [{ ...git(['apps/*']), selector: { matchLabels: { 'path.basename': 'web' } } }],
  }),
}

const PATTERN = fc.constantFrom(
  'apps/*',
  'apps/*/*',
  'apps/*/*/*',
  '*',
  '*/*',
  'apps-*/?',
  'apps/[A-Z]*',
  'apps/[^A-Z]*',
  'clusters/*',
  '**',
  'apps/w*b',
)
const NAME = fc.constantFrom(
  '{{path.basename}}',
  '{{ path }}',
  '{{path.basenameNormalized}}-{{path[1]}}',
  '{{path[0]}}{{path[3]}}',
  '{{}}',
  '{{ region }}-{{path}}',
  'x',
)
const RANDOM = fc
  .tuple(
    fc.array(fc.tuple(PATTERN, fc.boolean()), { minLength: 1, maxLength: 3 }),
    NAME,
    fc.boolean(),
  )
  .map(([patterns, name, isMatrix]) => {
    const folders = git(
      patterns.map(([path, exclude], index) => ({
        path,
        ...(exclude && index > 0 ? { exclude } : {}),
      })),
    )
    const generators = isMatrix
      ? [{ matrix: { generators: [folders, list({ region: 'eu' }, { region: 'us' })] } }]
      : [folders]
    return setOf({ generators, name })
  })

const FILES_PATTERN = fc.constantFrom(
  'fleet/*',
  'fleet/*.json',
  'fleet/**/config.json',
  '**/config.json',
  'fleet/?s/*',
  'fleet/[e-u]*/config.json',
  'fleet/[!e]*/*.json',
  '*.json',
  'fleet',
  'fleet/',
  './root.json',
  'fleet/e',
  'fleet/us/Other\\_Config.yaml',
  'fleet/us/OTHER_CONFIG.YAML',
)
const RANDOM_FILES = fc
  .tuple(
    fc.array(fc.tuple(FILES_PATTERN, fc.boolean()), { minLength: 1, maxLength: 3 }),
    fc.boolean(),
  )
  .map(([patterns, isGo]) =>
    setOf({
      generators: [
        files([
          ...patterns.map(([path, exclude], index) => ({
            path,
            ...(exclude && index > 0 ? { exclude } : {}),
          })),
          { path: 'fleet/text.yaml', exclude: true },
          { path: 'fleet/null.yaml', exclude: true },
        ]),
      ],
      isGo,
      name: isGo ? '{{.path.filename}}-{{.path.path}}' : '{{path.filename}}-{{path}}-{{env}}',
      path: 'apps/web',
    }),
  )

export const SETS: { readonly [name: string]: JsonObject } = {
  ...FIXED,
  ...Object.fromEntries(
    fc
      .sample(RANDOM, { seed: 20_261_126, numRuns: 100 })
      .map((each, index) => [`random ${index + 1}`, each]),
  ),
  ...Object.fromEntries(
    fc
      .sample(RANDOM_FILES, { seed: 20_261_127, numRuns: 60 })
      .map((each, index) => [`random files ${index + 1}`, each]),
  ),
}
