import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { isSameRepository } from '../../syncers/sync-path.ts'
import type { SourcedRepository } from '../build/unit-source.ts'
import { FLUX } from './flux-source.ts'

const HERE = 'https://git.example.com/shop/deploy.git'

function resource(
  kind: string,
  name: string,
  spec: JsonObject,
  group = 'source.toolkit.fluxcd.io/v1',
): JsonObject {
  return { apiVersion: group, kind, metadata: { name, namespace: 'flux-system' }, spec }
}

function kustomization(spec: JsonObject, name = 'apps'): JsonObject {
  return resource(
    'Kustomization',
    name,
    { sourceRef: { kind: 'GitRepository', name: 'deploy' }, ...spec },
    'kustomize.toolkit.fluxcd.io/v1',
  )
}

function repositoryOf(spec: JsonObject = {}): JsonObject {
  return resource('GitRepository', 'deploy', {
    url: 'ssh://git@git.example.com:2222/shop/deploy',
    ref: { branch: 'main' },
    ...spec,
  })
}

/** Folders, and what is refused or pinned, as text. */
function read(objects: readonly JsonObject[], more: Partial<SourcedRepository> = {}): string[] {
  const of = (group: string, kind: string): readonly JsonObject[] =>
    objects.filter(
      (object) => object['kind'] === kind && String(object['apiVersion']).startsWith(`${group}/`),
    )
  const repository = {
    isHere: (address: string) => isSameRepository(address, HERE),
    baseBranch: 'main',
    declared: [],
    configMaps: [],
    folders: () => [],
    texts: new Map(),
    isFiles: false,
    isBranch: () => false,
    has: () => false,
    ...more,
  }
  assert.ok(FLUX.discover !== 'none')
  return FLUX.discover
    .read(of, repository)
    .map((source) =>
      'why' in source
        ? `refused: ${source.why}`
        : `${source.folder}${source.pinned === undefined ? '' : `: ${source.pinned}`}`,
    )
}

test('a Kustomization gives its folder only with a GitRepository of this address and branch', () => {
  assert.deepEqual(read([kustomization({ path: './apps/prod/' }), repositoryOf()]), ['apps/prod'])
  assert.deepEqual(read([kustomization({}), repositoryOf()]), [''])
  for (const other of [
    { url: 'https://git.example.com/shop/other' },
    { ref: { branch: 'next' } },
    { ref: {} },
  ] as const)
    assert.deepEqual(
      read([kustomization({ path: './apps' }), repositoryOf(other)]),
      [],
      JSON.stringify(other),
    )
  assert.deepEqual(read([kustomization({ path: './apps' })]), [], 'its source is not there')
  for (const kind of ['OCIRepository', 'Bucket'])
    assert.deepEqual(
      read([
        kustomization({ path: './apps', sourceRef: { kind, name: 'deploy' } }),
        repositoryOf(),
      ]),
      [],
      kind,
    )
})

test('rejects a folder into which spec.include copies files, and accepts one elsewhere', () => {
  const including = (toPath: string, path: string) =>
    read([
      kustomization({ path }),
      repositoryOf({
        include: [{ repository: { name: 'other' }, ...(toPath === '' ? {} : { toPath }) }],
      }),
    ])
  const refusal = (to: string) => [
    `refused: its folder has files of another repository: GitRepository other is copied to ${to} by spec.include of GitRepository flux-system/deploy`,
  ]
  for (const [toPath, path, to] of [
    ['apps/base', './apps', 'apps/base'],
    ['./apps/', './apps/prod', 'apps'],
    ['', './other', 'other'],
    ['', './', 'other'],
    ['.', './apps', 'the root'],
    ['../x/../apps', './apps', 'apps'],
  ] as const)
    assert.deepEqual(including(toPath, path), refusal(to), `${toPath} ${path}`)
  assert.deepEqual(including('apps-base', './apps'), ['apps'])
})

test('rejects a folder that spec.sparseCheckout omits, and accepts a partly included one', () => {
  const sparse = (...sparseCheckout: readonly string[]) =>
    read([kustomization({ path: './apps/prod' }), repositoryOf({ sparseCheckout })])
  for (const directory of ['apps', './apps/prod', 'apps/prod/web', 'apps/pr'])
    assert.deepEqual(sparse('docs', directory), ['apps/prod'])
  assert.deepEqual(sparse(), ['apps/prod'])
  assert.deepEqual(sparse('docs', 'apps/production'), [
    'refused: its folder is not in spec.sparseCheckout of GitRepository flux-system/deploy',
  ])
})

test('reports a Kustomization of an artifact or a bucket when this repository declares it', () => {
  for (const kind of ['OCIRepository', 'Bucket']) {
    const own = kustomization({ path: './apps', sourceRef: { kind, name: 'deploy' } })
    assert.deepEqual(
      read([own], { declared: [{ object: own, path: 'a.yaml', document: 0, line: 1 }] }),
      [
        `refused: it applies the ${kind} deploy, which is not compared: a merge is applied once its content is packed again`,
      ],
    )
  }
})

test('compares a source pinned to a tag or commit, and reports which reference has to move', () => {
  assert.deepEqual(
    read([kustomization({ path: './apps' }), repositoryOf({ ref: { tag: 'v1.2' } })]),
    [
      'apps: it applies the tag v1.2 of GitRepository flux-system/deploy: a merge is applied once spec.ref of it moves',
    ],
  )
  assert.match(
    read([
      kustomization({ path: './apps' }),
      repositoryOf({ ref: { branch: 'main', commit: 'abc' } }),
    ])[0] ?? '',
    /the commit abc of/,
  )
})

test('resolves refs/heads/ names as branches, with precedence commit, then name, then version, tag and branch', () => {
  const of = (ref: JsonObject) => read([kustomization({ path: './apps' }), repositoryOf({ ref })])
  assert.deepEqual(of({ name: 'refs/heads/main' }), ['apps'])
  assert.deepEqual(of({ name: 'refs/heads/main', semver: '>=1.0.0', tag: 'v1', branch: 'next' }), [
    'apps',
  ])
  assert.deepEqual(of({ name: 'refs/heads/next', branch: 'main' }), [])
  assert.match(of({ name: 'refs/heads/main', commit: 'abc' })[0] ?? '', /the commit abc of/)
  for (const name of ['refs/tags/v1', 'refs/pull/1/head'])
    assert.ok(of({ name })[0]?.includes(`the name ${name} of`))
})

test('rejects a path outside the repository and another cluster, with the reason', () => {
  assert.deepEqual(read([kustomization({ path: '../apps' }), repositoryOf()]), [
    'refused: its path leaves the repository',
  ])
  assert.deepEqual(
    read([
      kustomization({ path: './apps', kubeConfig: { secretRef: { name: 'edge' } } }),
      repositoryOf(),
    ]),
    ['refused: it applies to another cluster (spec.kubeConfig)'],
  )
})

test('follows an artifact that copies folders of the repository unchanged, and rejects any other one', () => {
  const copied = (...copy: readonly JsonObject[]): readonly JsonObject[] => [
    kustomization({ path: './production', sourceRef: { kind: 'ExternalArtifact', name: 'apps' } }),
    resource(
      'ArtifactGenerator',
      'deploy',
      {
        sources: [{ alias: 'repo', kind: 'GitRepository', name: 'deploy' }],
        artifacts: [{ name: 'apps', copy: [...copy] }],
      },
      'source.extensions.fluxcd.io/v1beta1',
    ),
    repositoryOf(),
  ]
  const [base, production] = ['base', 'production'].map((name) => ({
    from: `@repo/apps/${name}/**`,
    to: `@artifact/${name}/`,
  }))
  assert.ok(base && production)
  assert.deepEqual(read(copied(base, production)), ['apps/production'])
  assert.deepEqual(read(copied({ from: '@repo/apps/**', to: '@artifact/' })), ['apps/production'])
  assert.deepEqual(read(copied({ from: '@repo/**', to: '@artifact/' })), ['production'])
  const refused = [
    'refused: its artifact apps is composed of more than one folder with everything below it',
  ]
  assert.deepEqual(
    read(copied(base, { from: '@repo/other/production/**', to: '@artifact/production/' })),
    refused,
  )
  assert.deepEqual(read(copied({ ...base, exclude: ['*.md'] })), refused)
  assert.deepEqual(
    read(copied({ from: '@repo/apps/production/app.yaml', to: '@artifact/production/' })),
    refused,
  )
  assert.deepEqual(read(copied({ from: '@other/apps/**', to: '@artifact/' })), [
    'refused: its artifact apps does not come from a GitRepository',
  ])
})

test('an undeclared source counts as this repository, since a bootstrap writes it to no file', () => {
  assert.deepEqual(read([kustomization({ path: './apps' })], { isFiles: true }), ['apps'])
  assert.deepEqual(
    read(
      [
        kustomization({ path: './apps' }),
        repositoryOf({ url: 'https://git.example.com/shop/other' }),
      ],
      { isFiles: true },
    ),
    [],
  )
})
