import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { getResourceKey, type Resource, readResource } from '@backporch/kyaml/resource'
import { listClaims } from '../syncers/claims.ts'
import { type AppliedPackage, type ImportedIgnores, importIgnores } from './import-ignores.ts'
import { parsePolicyFiles } from './parse-policy.ts'

function resource(
  apiVersion: string,
  kind: string,
  namespace: string,
  name: string,
  more: JsonObject = {},
  metadata: JsonObject = {},
): Resource {
  const read = readResource({
    apiVersion,
    kind,
    metadata: { name, ...(namespace === '' ? {} : { namespace }), ...metadata },
    ...more,
  })
  assert.ok('id' in read)
  return read
}

const argo = (...rules: Json[]): Resource =>
  resource('argoproj.io/v1alpha1', 'Application', 'argocd', 'shop', {
    spec: { ignoreDifferences: rules },
  })
const helm = (...ignore: Json[]): Resource =>
  resource('helm.toolkit.fluxcd.io/v2', 'HelmRelease', 'flux', 'shop', {
    spec: { driftDetection: { ignore } },
  })
const kustomization = (...ignore: Json[]): Resource =>
  resource('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'flux', 'shop', { spec: { ignore } })
const sveltos = (...driftExclusions: Json[]): Resource =>
  resource('config.projectsveltos.io/v1beta1', 'ClusterProfile', '', 'shop', {
    spec: { driftExclusions },
  })

const MARKS: { readonly [tool: string]: JsonObject } = {
  argo: { annotations: { 'argocd.argoproj.io/tracking-id': 'shop:apps/Deployment:shop/web' } },
  helm: {
    labels: { 'helm.toolkit.fluxcd.io/name': 'shop', 'helm.toolkit.fluxcd.io/namespace': 'flux' },
  },
  kustomization: {
    labels: {
      'kustomize.toolkit.fluxcd.io/name': 'shop',
      'kustomize.toolkit.fluxcd.io/namespace': 'flux',
    },
  },
  sveltos: {
    annotations: {
      'projectsveltos.io/owner-kind': 'ClusterProfile',
      'projectsveltos.io/owner-name': 'shop',
    },
  },
}

function packageOf(path: string, ...marks: readonly JsonObject[]): AppliedPackage {
  const objects = marks.map((mark, index) =>
    resource('apps/v1', 'Deployment', 'shop', index === 0 ? 'web' : `web-${index}`, {}, mark),
  )
  return {
    path,
    claims: listClaims(
      new Map(
        objects.map(({ id, object }) => [
          getResourceKey(id),
          { state: 'present', object, metadataOnly: false },
        ]),
      ),
    ),
    objects,
  }
}

function imports(
  tool: keyof typeof MARKS,
  source: Resource,
  paths = ['apps/web'],
): ImportedIgnores {
  return importIgnores(
    [source],
    paths.map((path) => packageOf(path, MARKS[tool] ?? {})),
  )
}

/** Rules without their reasons. */
function rules({ imported }: ImportedIgnores): unknown[] {
  return imported.map(({ rule: { reason: _reason, ...rest } }) => rest)
}

function whys({ notImported }: ImportedIgnores): string[] {
  return notImported.map(({ rule, why }) => `${rule}: ${why}`)
}

test('one Argo CD rule with paths and managers becomes two rules, since each hides on its own', () => {
  const found = imports(
    'argo',
    argo({
      group: 'apps',
      kind: 'Deployment',
      name: 'web',
      jsonPointers: ['/spec/replicas', '/metadata/annotations/example.com~1owner'],
      jqPathExpressions: [
        '.spec.template.spec.containers[] | select(.name == "app") | .image',
        '.metadata.labels["a.b/c"]',
      ],
      managedFieldsManagers: ['rollout-bot'],
    }),
  )
  const target = { group: 'apps', kind: 'Deployment', name: 'web' }
  assert.deepEqual(rules(found), [
    { target, managers: ['rollout-bot'] },
    {
      target,
      paths: [
        '/spec/replicas',
        '/metadata/annotations/example.com~1owner',
        'spec.template.spec.containers[name=app].image',
        'metadata.labels["a.b/c"]',
      ],
    },
  ])
  assert.equal(found.imported[0]?.rule.reason, 'Argo CD Application argocd/shop ignores it')
  assert.deepEqual(found.imported[0]?.packages, ['apps/web'])
  assert.deepEqual(found.notImported, [])
})

test('an Argo CD asterisk matches anything, and a missing group means the core group', () => {
  assert.deepEqual(rules(imports('argo', argo({ group: '*', kind: '*', jsonPointers: ['/a'] }))), [
    { paths: ['/a'] },
  ])
  assert.deepEqual(rules(imports('argo', argo({ kind: 'Service', jsonPointers: ['/a'] }))), [
    { target: { group: '', kind: 'Service' }, paths: ['/a'] },
  ])
})

const REFUSED: readonly (readonly [rule: JsonObject, why: RegExp])[] = [
  [{ kind: 'Deploy?', group: 'apps', jsonPointers: ['/a'] }, /pattern/],
  [{ kind: 'Deployment', group: '{apps,x}', jsonPointers: ['/a'] }, /pattern/],
  [
    { kind: 'Deployment', jsonPointers: ['/spec/template/spec/containers/0/image'] },
    /by its index/,
  ],
  [{ kind: 'Deployment', jsonPointers: ['/spec/containers/-'] }, /by its index/],
  [{ kind: 'Deployment', jsonPointers: [''] }, /whole object/],
  [{ kind: 'Deployment', jsonPointers: ['spec/replicas'] }, /does not begin with/],
  [{ kind: 'Deployment', jsonPointers: ['/a~2'] }, /must be written/],
  [{ kind: 'Deployment', jqPathExpressions: ['.[].spec'] }, /more than a path/],
  [
    { kind: 'Deployment', jqPathExpressions: ['.spec.template.spec.containers[0].image'] },
    /by its index/,
  ],
  [
    {
      kind: 'Deployment',
      jqPathExpressions: ['.spec.template.spec.containers[] | select(.image | test("x"))'],
    },
    /more than a path/,
  ],
  [{ kind: 'Deployment', jqPathExpressions: ['.spec | del(.replicas)'] }, /more than a path/],
  [
    { kind: 'Widget', jqPathExpressions: ['.spec.containers[] | select(.name == "app") | .image'] },
    /keyed by name/,
  ],
  [
    { kind: 'Deployment', jqPathExpressions: ['.spec.ports[] | select(.name == "http") | .port'] },
    /keyed by name/,
  ],
  [{ kind: 'Deployment', jqPathExpressions: ['.'] }, /more than a path|whole/],
]

for (const [rule, why] of REFUSED) {
  test(`not imported from Argo CD: ${JSON.stringify(rule)}`, () => {
    const found = imports('argo', argo(rule))
    assert.deepEqual(found.imported, [])
    assert.equal(found.notImported.length, 1)
    assert.match(found.notImported[0]?.why ?? '', why)
    assert.equal(found.notImported[0]?.source, 'Argo CD Application argocd/shop')
  })
}

test('one untranslatable path does not drop the other paths of its rule', () => {
  const found = imports(
    'argo',
    argo({ group: 'apps', kind: 'Deployment', jsonPointers: ['/spec/a/0', '/spec/replicas'] }),
  )
  assert.deepEqual(rules(found), [
    { target: { group: 'apps', kind: 'Deployment' }, paths: ['/spec/replicas'] },
  ])
  assert.equal(found.notImported.length, 1)
})

test('a Flux target is a whole regular expression: alternatives become rules, the rest is rejected', () => {
  assert.deepEqual(
    rules(
      imports(
        'helm',
        helm({
          paths: ['/spec/replicas'],
          target: { kind: '(Deployment|StatefulSet)', group: 'apps' },
        }),
      ),
    ),
    [
      { target: { group: 'apps', kind: 'Deployment' }, paths: ['/spec/replicas'] },
      { target: { group: 'apps', kind: 'StatefulSet' }, paths: ['/spec/replicas'] },
    ],
  )
  assert.deepEqual(
    rules(
      imports(
        'kustomization',
        kustomization({ paths: ['/data'], target: { name: '^a\\.b$', kind: '.*' } }),
      ),
    ),
    [{ target: { name: 'a.b' }, paths: ['/data'] }],
  )
  for (const target of [
    { name: 'web-.+' },
    { name: 'a.b' },
    { kind: 'D[ae]ployment' },
    { labelSelector: 'a=b=c' },
    { annotationSelector: 'a' },
    { version: 'v1' },
  ]) {
    const found = imports('kustomization', kustomization({ paths: ['/data'], target }))
    assert.deepEqual(rules(found), [], JSON.stringify(target))
    assert.equal(found.notImported.length, 1)
  }
})

test('imports stars, patterns, labels and list items where they mean the same here', () => {
  const mutating = {
    kind: 'MutatingWebhook*',
    group: '*',
    jqPathExpressions: ['.webhooks[]?.clientConfig.caBundle'],
  }
  assert.deepEqual(rules(imports('argo', argo(mutating))), [
    { target: { kind: 'MutatingWebhook*' }, paths: ['webhooks[*].clientConfig.caBundle'] },
  ])
  assert.deepEqual(
    rules(
      imports(
        'argo',
        argo({ kind: 'X', jsonPointers: ['/data/a*'], jqPathExpressions: ['.data["b*"]'] }),
      ),
    ),
    [{ target: { group: '', kind: 'X' }, paths: ['/data/a\\*', 'data["b\\\\*"]'] }],
  )
  const target = {
    kind: 'Deployment',
    group: 'apps',
    name: 'web-.*|.*-api',
    labelSelector: 'app in (a, b)',
  }
  assert.deepEqual(
    rules(imports('kustomization', kustomization({ paths: ['/spec/replicas'], target }))),
    [
      {
        target: { group: 'apps', kind: 'Deployment', name: '*-api', labels: 'app in (a, b)' },
        paths: ['/spec/replicas'],
      },
      {
        target: { group: 'apps', kind: 'Deployment', name: 'web-*', labels: 'app in (a, b)' },
        paths: ['/spec/replicas'],
      },
    ],
  )
  assert.deepEqual(
    rules(
      imports('sveltos', sveltos({ paths: ['/a'], target: { kind: 'X', labelSelector: 'a=b' } })),
    ),
    [],
  )
  const shared = packageOf('apps/web', MARKS['argo'] ?? {}, MARKS['helm'] ?? {})
  const wide = importIgnores([helm({ paths: ['/a'], target: { name: 'web.*' } })], [shared])
  assert.match(wide.notImported[0]?.why ?? '', /another syncer also applies/)
})

test('an empty Flux pointer hides the whole object, and is rejected without a target', () => {
  assert.deepEqual(
    rules(imports('helm', helm({ paths: ['', '/spec'], target: { kind: 'Secret', group: '' } }))),
    [{ target: { kind: 'Secret' } }],
  )
  const all = imports('helm', helm({ paths: [''] }))
  assert.deepEqual([rules(all), whys(all)], [[], ['every kind: it hides everything']])
})

test('imports Sveltos profile exclusions and objects marked as ignored', () => {
  assert.deepEqual(
    rules(
      imports(
        'sveltos',
        sveltos({
          paths: ['/spec/replicas'],
          target: { kind: 'Deployment', group: 'apps', version: '' },
        }),
      ),
    ),
    [{ target: { group: 'apps', kind: 'Deployment' }, paths: ['/spec/replicas'] }],
  )
  assert.equal(
    rules(imports('sveltos', sveltos({ paths: ['/spec'], target: { kind: 'A|B' } }))).length,
    0,
  )
  const marked = importIgnores(
    [],
    [packageOf('apps/web', { annotations: { 'projectsveltos.io/driftDetectionIgnore': 'ok' } })],
  )
  assert.deepEqual(rules(marked), [
    { target: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' } },
  ])
})

test('k0rdent rules are reported as not imported, since its Sveltos profile holds them', () => {
  const service = resource('k0rdent.mirantis.com/v1beta1', 'MultiClusterService', '', 'x', {
    spec: {
      serviceSpec: {
        driftExclusions: [{ paths: ['/a'] }],
        driftIgnore: [{ kind: 'Deployment', name: 'web' }],
      },
    },
  })
  const found = importIgnores([service], [packageOf('apps/web')])
  assert.equal(found.notImported.length, 2)
  assert.match(found.notImported[0]?.why ?? '', /Sveltos profile/)
})

test('a rule applies only to the packages of its syncer', () => {
  const source = argo({ group: 'apps', kind: 'Deployment', jsonPointers: ['/spec/replicas'] })
  const packages = [
    packageOf('apps/b', MARKS['argo'] ?? {}),
    packageOf('apps/a', MARKS['argo'] ?? {}),
    packageOf('apps/other', MARKS['helm'] ?? {}),
  ]
  assert.deepEqual(importIgnores([source], packages).imported[0]?.packages, ['apps/a', 'apps/b'])
  const none = importIgnores([source], [packageOf('apps/other', MARKS['helm'] ?? {})])
  assert.deepEqual([none.imported, none.notImported.length], [[], 1])
  assert.match(none.notImported[0]?.why ?? '', /applies no package/)
})

test('does not import a rule without an object name when another applier shares the package', () => {
  const shared = packageOf('apps/web', MARKS['argo'] ?? {}, MARKS['helm'] ?? {})
  assert.equal(shared.claims.length, 2)
  const wide = importIgnores(
    [argo({ group: 'apps', kind: 'Deployment', jsonPointers: ['/a'] })],
    [shared],
  )
  assert.deepEqual(wide.imported, [])
  assert.match(wide.notImported[0]?.why ?? '', /another syncer also applies/)
  assert.equal(
    importIgnores(
      [argo({ group: 'apps', kind: 'Deployment', name: 'web', jsonPointers: ['/a'] })],
      [shared],
    ).imported.length,
    1,
  )
})

test('every imported rule is a valid policy rule, and input order does not matter', () => {
  const sources = [
    argo({
      group: 'apps',
      kind: 'Deployment',
      jsonPointers: ['/spec/replicas'],
      managedFieldsManagers: ['x'],
    }),
    helm({ paths: ['/a'], target: { kind: 'A|B|C' } }),
  ]
  const packages = [
    packageOf('apps/web', MARKS['argo'] ?? {}),
    packageOf('apps/b', MARKS['helm'] ?? {}),
  ]
  const found = importIgnores(sources, packages)
  const text = JSON.stringify({
    apiVersion: 'backporch.dev/v1alpha1',
    kind: 'DriftPolicy',
    metadata: { name: 'x' },
    spec: { ignore: found.imported.map(({ rule }) => rule) },
  })
  assert.equal(parsePolicyFiles([{ path: 'p.yaml', text }]).policies[0]?.ignore.length, 5)
  assert.deepEqual(importIgnores([...sources].reverse(), [...packages].reverse()), found)
})

test('a name from the cluster stays on one line', () => {
  const found = imports('argo', argo({ kind: 'A\u001b[31m\nB', jsonPointers: ['/0/\n'] }))
  for (const text of [...found.notImported.flatMap(({ source, rule, why }) => [source, rule, why])])
    assert.doesNotMatch(text, /\p{Cc}/u)
})
