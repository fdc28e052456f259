import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { filterTexts } from '@backporch/kyaml/json'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import type { BuiltSource } from '../build/built-source.ts'
import type { SharingUnit } from '../build/built-unit.ts'
import { FLUX_BUILDER } from '../flux/flux-kustomization.ts'
import { readKustomizationAt } from '../kustomize/files/kustomize-build.ts'
import { KUSTOMIZE_TOOL } from '../kustomize/kustomize-tool.ts'
import type { Build, BuildLibrary } from '../programs/package-builder.ts'
import { placeInBuild } from './place-in-build.ts'
import type { WholeChange } from './place-objects.ts'

function config(name: string, data = '{a: b}'): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata: ${data}\n`
}

function sourceOf(folder: string, texts: Readonly<Record<string, string>>): BuiltSource {
  const files = new Map(
    Object.entries(texts).map(([path, text]) => [
      path,
      { path, mode: '100644' as const, content: new TextEncoder().encode(text) },
    ]),
  )
  return { packagePath: folder, package: [], tool: KUSTOMIZE_TOOL, folder, files, command: [] }
}

/** Prints the resources of a kustomization and of the folders that it names, with its prefix. */
function print({ folder, files }: Pick<Build, 'folder' | 'files'>): string {
  const sources = new Map(files.map((file) => [file.path, file]))
  const root = readKustomizationAt(`${folder}/kustomization.yaml`, sources)
  const prefix = typeof root['namePrefix'] === 'string' ? root['namePrefix'] : ''
  const texts = filterTexts(root['resources']).flatMap((entry) => {
    const path = entry.startsWith('../')
      ? entry.slice(3)
      : `${folder}/${entry.replace(/^\.\//, '')}`
    const file = sources.get(path)
    if (file === undefined) return print({ folder: path, files })
    const text = new TextDecoder().decode(file.content).replace(/name: /, `name: ${prefix}`)
    return text.replace(
      /(metadata: \{[^}]*)\}/,
      `$1, annotations: {config.kubernetes.io/origin: "path: ${entry}\\n"}}`,
    )
  })
  return texts.join('---\n')
}

const LIBRARY: BuildLibrary = { built: (build) => ({ text: print(build) }) }

function change(name: string): WholeChange {
  const manifest = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'shop' },
    data: { e: 'f' },
  }
  const drift = {
    ...driftOf('', { change: 'unexpected', live: manifest }),
    id: { group: '', kind: 'ConfigMap', namespace: 'shop', name },
  }
  return { drift, desired: undefined, resolution: 'Adopt', whole: { manifest } }
}

function placed(
  kustomization: string,
  names: readonly string[],
  others: readonly SharingUnit[] = [],
): Record<string, string> {
  const source = sourceOf('prod', {
    'prod/kustomization.yaml': kustomization,
    'prod/configmap-a.yaml': config('a'),
  })
  const contents = placeInBuild(
    { source, library: LIBRARY, others },
    new Map(),
    names.map((name) => change(name)),
  )
  return Object.fromEntries(
    [...contents].map(([path, content]) => [
      path,
      new TextDecoder().decode(content ?? new Uint8Array()),
    ]),
  )
}

test('does not write an object with a value that Flux substitutes from a Secret', () => {
  const source = sourceOf('prod', {
    'prod/kustomization.yaml': 'resources: [configmap-a.yaml]\n',
    'prod/configmap-a.yaml': config('a'),
  })
  const object = { kind: 'Kustomization', metadata: { name: 'apps', namespace: 'flux-system' } }
  const variables = new Map([
    ['token', 'open sesame'],
    ['short', 'f'],
    ['plain', 'f'],
  ])
  const secret = { group: '', kind: 'Secret', namespace: 'flux-system', name: 'credentials' }
  const variableSources = new Map(['token', 'short'].map((name) => [name, secret]))
  const synced = {
    title: 'Flux',
    folder: 'prod',
    object,
    variables,
    variableSources,
    builder: FLUX_BUILDER,
  }
  const telling = change('b')
  const manifest = { ...telling.whole.manifest, data: { motto: 'say open sesame twice' } }
  const place = (one: WholeChange) =>
    placeInBuild({ source: { ...source, synced }, library: LIBRARY, others: [] }, new Map(), [one])
  assert.throws(() => place({ ...telling, whole: { manifest } }), { code: 'BP2002' })
  assert.doesNotThrow(() => place(telling))
})

test('does not overwrite a file of the commit that no kustomization lists', () => {
  const source = sourceOf('prod', {
    'prod/kustomization.yaml': 'resources: [configmap-a.yaml]\n',
    'prod/configmap-a.yaml': config('a'),
  })
  const isTaken = (path: string): boolean => path === 'prod/configmap-b.yaml'
  const built = placeInBuild(
    { source: { ...source, isTaken }, library: LIBRARY, others: [] },
    new Map(),
    [change('b')],
  )
  const created = [...built.keys()].filter((path) => path !== 'prod/kustomization.yaml')
  assert.equal(created.length, 1)
  assert.notEqual(created[0], 'prod/configmap-b.yaml')
})

test('adds an entry to the kustomization in its own order and form', () => {
  const entriesOf = (text: string): string | undefined =>
    placed(text, ['b'])['prod/kustomization.yaml']
  assert.equal(
    entriesOf('# ours\nresources: # all\n  - configmap-a.yaml # first\nnamespace: shop\n'),
    '# ours\nresources: # all\n  - configmap-a.yaml # first\n  - configmap-b.yaml\nnamespace: shop\n',
  )
  assert.equal(
    entriesOf('resources: [./configmap-a.yaml]\n'),
    'resources: [./configmap-a.yaml, ./configmap-b.yaml]\n',
  )
  const source = 'resources:\n- configmap-a.yaml\n- configmap-z.yaml # last\n'
  const built = placeInBuild(
    {
      source: sourceOf('prod', {
        'prod/kustomization.yaml': source,
        'prod/configmap-a.yaml': config('a'),
        'prod/configmap-z.yaml': config('z'),
      }),
      library: LIBRARY,
      others: [],
    },
    new Map(),
    [change('b')],
  )
  assert.equal(
    new TextDecoder().decode(built.get('prod/kustomization.yaml') ?? new Uint8Array()),
    'resources:\n- configmap-a.yaml\n- configmap-b.yaml\n- configmap-z.yaml # last\n',
  )
})

test('strips a name prefix, and the build gives the live name', () => {
  const files = placed('namePrefix: prod-\nresources:\n- configmap-a.yaml\n', ['prod-b'])
  assert.match(files['prod/configmap-b.yaml'] ?? '', /\n {2}name: b\n/)
  assert.throws(
    () => placed('namePrefix: prod-\nresources:\n- configmap-a.yaml\n', ['other']),
    (thrown) =>
      thrown instanceof Failure &&
      thrown.code === 'BP2001' &&
      /it becomes ConfigMap shop\/prod-other/.test(thrown.why),
  )
})

test('rejects a folder that another unit builds on, with the name of that unit', () => {
  const kustomization = 'resources:\n- configmap-a.yaml\n'
  const texts = { 'prod/kustomization.yaml': kustomization, 'prod/configmap-a.yaml': config('a') }
  const other = sourceOf('staging', {
    ...texts,
    'staging/kustomization.yaml': 'resources:\n- ../prod\n',
  })
  const library: BuildLibrary = {
    built: (build) => ({
      text:
        build.folder === 'staging' ? print({ folder: 'prod', files: build.files }) : print(build),
    }),
  }
  const source = sourceOf('prod', texts)
  const unit = {
    source,
    library,
    others: [{ name: 'staging', files: new Set(Object.keys(texts)), source: other }],
  }
  assert.throws(
    () => placeInBuild(unit, new Map(), [change('b')]),
    (thrown) =>
      thrown instanceof Failure &&
      /which staging is built from too: an edit there would also change ConfigMap shop\/b there/.test(
        thrown.why,
      ),
  )
  assert.doesNotThrow(() => placeInBuild({ ...unit, others: [] }, new Map(), [change('b')]))
})
