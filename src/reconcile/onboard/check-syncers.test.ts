import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { isSameRepository } from '../../syncers/sync-path.ts'
import type { SyncedRepository } from '../../syncers/syncer.ts'
import { judgeSyncers, type SyncerObjects } from './check-syncers.ts'

const REMOTE = 'https://git.example.com/acme/deploy.git'
const POLICY = { path: '.drift/policy.yaml', isRecord: false, marked: false, localConfig: false }
const RECORD = {
  path: '.drift/records/prod/apps--web/20261121-1a2b3c4d.yaml',
  isRecord: true,
  marked: true,
  localConfig: true,
}
const repository = (more: Partial<SyncedRepository> = {}): SyncedRepository => ({
  isHere: (address) => isSameRepository(address, REMOTE),
  folder: '.drift',
  retained: [POLICY, RECORD],
  ignoreFiles: new Map(),
  rootKustomization: false,
  ...more,
})
const root = (text: string): ReadonlyMap<string, string> => new Map([['.sourceignore', text]])
const NONE: SyncerObjects = { byKind: new Map(), complete: true }
const of = (byKind: { readonly [kind: string]: readonly JsonObject[] }): SyncerObjects => ({
  ...NONE,
  byKind: new Map(Object.entries(byKind)),
})
const meta = (name: string) => ({ name, namespace: 'flux-system' })
const flux = (path: string | undefined, source: JsonObject = {}): SyncerObjects =>
  of({
    Kustomization: [
      {
        metadata: meta('root'),
        spec: {
          ...(path === undefined ? {} : { path }),
          sourceRef: { kind: 'GitRepository', name: 'deploy' },
        },
      },
    ],
    GitRepository: [{ metadata: meta('deploy'), spec: { url: REMOTE, ...source } }],
  })
const argo = (source: JsonObject): SyncerObjects =>
  of({
    Application: [
      {
        metadata: { name: 'all', namespace: 'argocd' },
        spec: { source: { repoURL: REMOTE, ...source } },
      },
    ],
  })
const states = (objects: SyncerObjects, more: Partial<SyncedRepository> = {}): string[] =>
  judgeSyncers(objects, repository(more)).map(({ state, code }) => `${state} ${code ?? ''}`.trim())

it('fails for a Flux Kustomization of the root, in any spelling', () => {
  for (const path of [undefined, '', '.', './', '/', './.drift', '.drift/records'])
    assert.deepEqual(states(flux(path)), ['failed BP1007'], path)
  const [found] = judgeSyncers(flux('./'), repository())
  assert.match(
    found?.message ?? '',
    /Flux Kustomization flux-system\/root reads \.drift\/ and would apply \.drift\/policy\.yaml$/,
  )
  assert.match(
    found?.fix ?? '',
    /^git mv \.drift\/policy\.yaml \.drift\/default\.policy; the records move/,
  )
})

it('passes if no file of backporch has a name that syncers read', () => {
  for (const objects of [
    flux('./'),
    flux('.drift'),
    argo({ path: '.', directory: { recurse: true } }),
    argo({ path: '.drift' }),
  ])
    assert.deepEqual(states(objects, { retained: [] }), ['passed'], JSON.stringify(objects))
})

it('passes syncers that do not read the .drift folder', () => {
  for (const objects of [
    NONE,
    flux('./apps'),
    flux('./', { url: 'https://git.example.com/acme/other' }),
    flux('./', { ignore: '/*\n!/apps\n' }),
    argo({ path: 'apps', directory: { recurse: true } }),
    argo({ path: '.' }),
    argo({ path: '.', directory: { recurse: true, exclude: '{.drift/**,docs/**}' } }),
    argo({ chart: 'x', path: '', directory: { recurse: true } }),
  ]) {
    assert.deepEqual(states(objects), ['passed'], JSON.stringify(objects))
  }
  assert.deepEqual(states(flux('./'), { ignoreFiles: root('# ours\n/.drift/\n') }), ['passed'])
  assert.deepEqual(states(flux('./'), { ignoreFiles: root('.drift') }), ['passed'])
  assert.deepEqual(states(flux('./'), { rootKustomization: true }), ['passed'])
  assert.deepEqual(states(flux('./'), { ignoreFiles: root('/docs/\n') }), ['failed BP1007'])
  assert.deepEqual(
    states(argo({ path: '.', directory: { recurse: true } }), { rootKustomization: true }),
    ['passed'],
  )
  const rootSync = {
    kind: 'RootSync',
    metadata: meta('root-sync'),
    spec: { git: { repo: REMOTE, dir: 'apps' } },
  }
  assert.deepEqual(states(of({ RootSync: [rootSync] })), ['passed'])
})

it('applies .sourceignore in any folder and sparse checkouts as Flux does', () => {
  const nested = (text: string, path = '.drift/.sourceignore') => ({
    ignoreFiles: new Map([[path, text]]),
  })
  assert.deepEqual(states(flux('./'), nested('*\n')), ['passed'])
  assert.deepEqual(states(flux('./'), nested('/policy.yaml\n')), ['warning'], 'records are marked')
  assert.deepEqual(states(flux('./'), nested('*\n', 'apps/.sourceignore')), ['failed BP1007'])
  assert.deepEqual(
    states(flux('./', { ignore: '!/.drift/policy.yaml\n' }), nested('*\n')),
    ['failed BP1007'],
    'spec.ignore comes last',
  )
  assert.deepEqual(states(flux('./', { sparseCheckout: ['apps', 'clusters'] })), ['passed'])
  assert.deepEqual(states(flux('./', { sparseCheckout: ['apps', '.drift'] })), ['failed BP1007'])
})

it('fails for an Application that reads the .drift folder, also in one of several sources', () => {
  assert.deepEqual(states(argo({ path: '.drift' })), ['failed BP1007'])
  assert.deepEqual(states(argo({ path: './.drift/records' }), { rootKustomization: true }), [
    'failed BP1007',
  ])
  const sources = [
    { repoURL: REMOTE, path: 'apps' },
    { repoURL: REMOTE, path: '.', directory: { recurse: true } },
  ]
  const several = of({ Application: [{ metadata: meta('all'), spec: { sources } }] })
  assert.deepEqual(states(several), ['failed BP1007'])
})

it('resolves the source that a Kustomization refers to', () => {
  const kustomization = (sourceRef: JsonObject): SyncerObjects => ({
    ...NONE,
    byKind: new Map([
      ...flux('./').byKind,
      [
        'Kustomization',
        [
          {
            metadata: { name: 'root', namespace: 'team' },
            spec: { path: './', sourceRef: { name: 'deploy', ...sourceRef } },
          },
        ],
      ],
    ]),
  })
  assert.deepEqual(states(kustomization({ kind: 'GitRepository', namespace: 'flux-system' })), [
    'failed BP1007',
  ])
  assert.deepEqual(
    states(kustomization({ kind: 'GitRepository' })),
    ['passed'],
    'of another namespace',
  )
  assert.deepEqual(states(kustomization({ kind: 'OCIRepository', namespace: 'flux-system' })), [
    'passed',
  ])
})

it('recognises the repository by each of its addresses', () => {
  for (const url of [
    'git@git.example.com:acme/deploy',
    'ssh://git@git.example.com:22/acme/deploy.git',
    'https://GIT.example.com/acme/deploy/',
  ]) {
    assert.deepEqual(states(flux('./', { url })), ['failed BP1007'], url)
  }
  assert.deepEqual(
    states(flux('./', { url: '' }), { isHere: (address) => isSameRepository(address, '') }),
    ['passed'],
    'two that are not known are not the same',
  )
})

it('judges by the file marks what each syncer would apply', () => {
  const all = argo({ path: '.', directory: { recurse: true } })
  assert.deepEqual(states(all), ['failed BP1007'])
  assert.deepEqual(states(all, { retained: [{ ...POLICY, marked: true }] }), ['warning'])
  assert.deepEqual(
    states(flux('./'), { retained: [{ ...POLICY, marked: true }] }),
    ['failed BP1007'],
    'Flux does not know the mark of Argo CD',
  )
  assert.deepEqual(states(flux('./'), { retained: [RECORD] }), ['warning'])
  const rootSync = {
    kind: 'RootSync',
    metadata: meta('root-sync'),
    spec: { git: { repo: REMOTE } },
  }
  assert.deepEqual(states(of({ RootSync: [rootSync] })), ['failed BP1007'])
})

it('draws no conclusion from a recording that may lack the syncers', () => {
  assert.deepEqual(states({ ...NONE, complete: false }), ['skipped'])
})
