/** Random folders with random Flux Kustomizations: the objects are those that Flux's own code builds, or neither builds them. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { formatJson, type Json, type JsonObject, parseJson } from '@backporch/kyaml/json'
import { openFluxOracle } from '../../../test/appliers/flux-oracle.ts'
import { type FluxCase, FluxSides } from '../../../test/appliers/flux-sides.ts'
import { whyNoKubectl } from '../../../test/kpt/find-kubectl.ts'
import * as fc from '../../../test/seeds/fast-check.ts'

const NAMES = ['a', 'b', 'web', 'settings']
const name = fc.constantFrom(...NAMES)
const sometimes = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined })
const PLAIN_WORDS = [
  'x',
  'true',
  '5',
  '1.50',
  'on',
  '',
  'a b',
  'é',
  'x: y',
  '# z',
  '010',
  'null',
  '2001-01-01',
  '"q"',
  'a\nb\n',
  '\tx',
  '[1]',
  '~',
]
const VARIABLE_WORDS = [
  '${word}',
  'pre-${word}-post',
  '${gone}',
  '${gone:=7}',
  '$${word}',
  '$$',
  '${word^^}',
  '${n}',
  '${n}\n${word}\n',
  '${lines}',
]
const word = fc.oneof(fc.constantFrom(...PLAIN_WORDS), fc.constantFrom(...VARIABLE_WORDS))
const simple = fc.constantFrom('x', 'y', 'shop', 'team-1')
const bad = fc.constantFrom('${', '${wo-rd}', '${word:1:-3}')
const texts = (value: fc.Arbitrary<string>): fc.Arbitrary<JsonObject> =>
  fc.dictionary(fc.constantFrom('app', 'team', 'x', 'k.io/y'), value, { maxKeys: 3 })

const metadata = (): fc.Arbitrary<JsonObject> =>
  fc
    .record({
      name,
      namespace: sometimes(fc.constantFrom('one', 'two')),
      labels: sometimes(texts(fc.oneof(simple, word))),
      annotations: sometimes(texts(word)),
      off: fc.nat({ max: 9 }),
    })
    .map(
      ({ off, annotations, ...own }) =>
        ({
          ...own,
          ...(annotations === undefined && off > 0
            ? {}
            : {
                annotations: {
                  ...annotations,
                  ...(off === 0 ? { 'kustomize.toolkit.fluxcd.io/substitute': 'disabled' } : {}),
                },
              }),
        }) as JsonObject,
    )
const object = fc.oneof(
  fc.record({
    apiVersion: fc.constant('v1'),
    kind: fc.constant('ConfigMap'),
    metadata: metadata(),
    data: fc.dictionary(fc.constantFrom('k', 'l', '${word}'), word, { maxKeys: 3 }),
  }),
  fc.record({
    apiVersion: fc.constant('apps/v1'),
    kind: fc.constant('Deployment'),
    metadata: metadata(),
    spec: fc.record({
      replicas: fc.constantFrom(1, 2, '${n}'),
      selector: fc.constant({ matchLabels: { app: 'web' } }),
      template: fc
        .array(
          fc.record({
            name: fc.constantFrom('app', 'log'),
            image: fc.constantFrom(
              'nginx',
              'nginx:1',
              'example.com/log:2',
              'example.com/log@sha256:11',
              '${word}/nginx:1',
            ),
          }),
          { maxLength: 2 },
        )
        .map((containers) => ({ metadata: { labels: { app: 'web' } }, spec: { containers } })),
    }),
  }),
  fc.record({
    apiVersion: fc.constant('v1'),
    kind: fc.constant('Service'),
    metadata: metadata(),
    spec: fc.constant({ selector: { app: 'web' }, ports: [{ name: 'http', port: 80 }] }),
  }),
  fc.record({
    apiVersion: fc.constant('example.com/v1'),
    kind: fc.constant('Widget'),
    metadata: metadata(),
    spec: fc.record({
      size: fc.constantFrom(1, 1.5, true, null, '1'),
      text: word,
      list: fc.array(word, { maxLength: 2 }),
    }),
  }),
  fc.record({
    apiVersion: fc.constant('rbac.authorization.k8s.io/v1'),
    kind: fc.constant('ClusterRole'),
    metadata: metadata(),
    rules: fc.constant([]),
  }),
)
const file = fc.array(object, { minLength: 1, maxLength: 2 })
const image = fc.record({
  name: fc.constantFrom('nginx', 'example.com/log'),
  newName: sometimes(fc.constantFrom('mirror/x')),
  newTag: sometimes(fc.constantFrom('3', '1.27', '${word}')),
  digest: sometimes(fc.constantFrom('sha256:22')),
})
const patch = fc.oneof(
  fc.record({
    target: fc.record({
      kind: fc.constantFrom('ConfigMap', 'Deployment', 'Widget'),
      name: sometimes(fc.constantFrom(...NAMES, '.*')),
    }),
    patch: fc.constantFrom(
      '- {op: add, path: /metadata/annotations, value: {p: "1"}}',
      '[{"op":"remove","path":"/metadata/labels"}]',
    ),
  }),
  fc.record({
    target: fc.record({
      kind: fc.constantFrom('ConfigMap', 'Deployment'),
      labelSelector: sometimes(fc.constant('app=web')),
    }),
    patch: fc.constantFrom(
      'kind: x\nmetadata: {name: x, labels: {patched: "yes"}}\n',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: null, patched: "${word}"}\n',
    ),
  }),
)
/** Fields of both a kustomization and, by nearly the same names, of the resource. */
const kustomizationFields = fc.record(
  {
    namePrefix: fc.constantFrom('p-', 'q-'),
    nameSuffix: fc.constantFrom('-s', 5),
    namespace: fc.constantFrom('mine', 'shop'),
    images: fc.array(image, { maxLength: 2 }),
    patches: fc.array(patch, { maxLength: 1 }),
    commonLabels: fc.constantFrom({ common: 'yes' }, { common: 5 }),
    commonAnnotations: fc.constantFrom({ note: '${word}' }),
    labels: fc.constantFrom([{ pairs: { l: 'm' } }], [{ pairs: { l: 1 }, includeSelectors: true }]),
    configMapGenerator: fc.constantFrom(
      [{ name: 'settings', literals: ['a=${word}'] }],
      [{ name: 'g', literals: ['a=b'], options: { disableNameSuffixHash: true } }],
    ),
    buildMetadata: fc.constantFrom(['originAnnotations'], ['managedByLabel']),
    components: fc.constantFrom(['../c']),
    hello: fc.constant('world'),
  },
  { requiredKeys: [] },
)
const spec = fc.record(
  {
    targetNamespace: fc.constantFrom('target', ''),
    namePrefix: fc.constantFrom('x-', ''),
    nameSuffix: fc.constantFrom('-z'),
    images: fc.array(image, { maxLength: 2 }),
    patches: fc.array(patch, { maxLength: 2 }),
    components: fc.oneof(fc.constant(['../c']), fc.subarray(['../c', 'gone', '../base'])),
    ignoreMissingComponents: fc.constant(true),
    commonMetadata: fc.record(
      { labels: texts(word), annotations: texts(word) },
      { requiredKeys: [] },
    ),
    postBuild: fc.record(
      {
        substitute: fc.dictionary(
          fc.constantFrom('word', 'n', 'lines'),
          fc.constantFrom('hello', '5', 'true', 'a\nb', '', 'é', 'x: y'),
          {
            maxKeys: 3,
          },
        ),
      },
      { requiredKeys: [] },
    ),
    path: fc.constantFrom('./app', './app/n', 'base'),
  },
  { requiredKeys: [] },
)
const FOLDERS = ['app', 'app/n', 'base', 'c']
const PATHS = [
  'app/a.yaml',
  'app/b.yml',
  'app/n/c.yaml',
  'app/n/m/d.yaml',
  'app/x.txt',
  'base/e.yaml',
  'app/.f.yaml',
  'c/g.yaml',
]

const cases: fc.Arbitrary<FluxCase> = fc
  .record({
    objects: fc.dictionary(fc.constantFrom(...PATHS), file, { minKeys: 1, maxKeys: 5 }),
    clash: fc.nat({ max: 5 }),
    kustomizations: fc.dictionary(fc.constantFrom(...FOLDERS), kustomizationFields, { maxKeys: 3 }),
    last: fc.constantFrom('kustomization.yaml', 'kustomization.yml', 'Kustomization'),
    spec,
    broken: fc.oneof(
      { arbitrary: bad, weight: 1 },
      { arbitrary: fc.constant(undefined), weight: 12 },
    ),
    from: fc.boolean(),
  })
  .map(({ objects, clash, kustomizations, last, spec: given, broken, from }) => {
    const files = Object.fromEntries(
      Object.entries(objects).map(([path, list]) => [
        path,
        list
          .map((each, at) =>
            formatJson(named(each as JsonObject, clash === 0 ? '' : `${PATHS.indexOf(path)}${at}`)),
          )
          .join('\n---\n'),
      ]),
    )
    const top =
      FOLDERS.find((folder) => given.path === `./${folder}` || given.path === folder) ?? 'app'
    const written = Object.entries({
      ...kustomizations,
      c: { commonAnnotations: { c: 'x' }, ...kustomizations['c'] },
    }).map(([folder, fields]) => {
      const resources = Object.keys(files).flatMap((path) =>
        path.startsWith(`${folder}/`) && !path.endsWith('.txt')
          ? [path.slice(folder.length + 1)]
          : [],
      )
      const kind =
        folder === 'c' ? { apiVersion: 'kustomize.config.k8s.io/v1alpha1', kind: 'Component' } : {}
      // Only what Flux reads itself may have other types.
      const own = Object.entries(fields).filter(
        ([name, value]) =>
          folder === top || (!LENIENT.has(name) && !formatJson(value as Json).includes('5')),
      )
      return [
        `${folder}/${last}`,
        formatJson({
          ...kind,
          ...(resources.length === 0 ? {} : { resources }),
          ...Object.fromEntries(own),
        } as JsonObject),
      ] as const
    })
    const more =
      broken === undefined
        ? {}
        : {
            'app/z.yaml': formatJson({
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name: 'z' },
              data: { a: broken },
            }),
          }
    const postBuild =
      given.postBuild === undefined || !from
        ? {}
        : { postBuild: { ...given.postBuild, substituteFrom: [{ kind: 'ConfigMap', name: 'v' }] } }
    const all = { 'app/README.md': 'x', ...files, ...more, ...Object.fromEntries(written) }
    const isThere = Object.keys(all).some((path) => path.startsWith(`${top}/`))
    return {
      files: all,
      spec: parseJson(
        formatJson({
          ...given,
          ...postBuild,
          path: isThere && given.path !== undefined ? given.path : './app',
        } as JsonObject),
      ) as JsonObject,
      variables: from && given.postBuild !== undefined ? { word: 'given', n: '7' } : {},
    }
  })

const LENIENT = new Set(['hello', 'components', 'labels'])

function named(object: JsonObject, suffix: string): JsonObject {
  const own = object['metadata'] as JsonObject
  return { ...object, metadata: { ...own, name: `${own['name']}${suffix}` } }
}

const flux = await openFluxOracle()
if (flux.state === 'unavailable') test('appliers', { skip: flux.why }, () => undefined)
else {
  after(() => flux.close())
  const sides = new FluxSides(flux)
  const RUNS = 150

  test('builds any folder like Flux', { skip: whyNoKubectl() }, async () => {
    let built = 0
    await fc.assert(
      fc.asyncProperty(cases, async (each) => {
        const [ours, theirs] = await Promise.all([sides.ours(each), sides.theirs(each)])
        if ('error' in theirs)
          assert.ok('error' in ours, `${JSON.stringify(ours)} although Flux says: ${theirs.error}`)
        else {
          assert.deepEqual(ours, theirs)
          built += 1
        }
      }),
      { numRuns: RUNS },
    )
    assert.ok(built > RUNS / 4, `only ${built} of ${RUNS} were built: the cases say too little`)
  })
}
