import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isLikelySecret } from '@backporch/kyaml/redaction'
import { APPLIER_KINDS, canMarkAs, findManagerNames, SYNCERS } from './registry.ts'

const SOURCES = dirname(dirname(fileURLToPath(import.meta.url)))

const CONFIG_SYNC =
  'what people write on objects of a source decides what its own builder makes of them'

/** Files that name a syncer's manager, label or annotation, and why they do not ask the registry. */
const EXCEPTIONS: {
  readonly [file: string]: { readonly names: readonly string[]; readonly why: string }
} = {
  'drift/noise/declared-noise.ts': {
    names: ['client.lifecycle.config.k8s.io/mutation', 'config.kubernetes.io/apply-time-mutation'],
    why: "the format of what people declare in these annotations, which is kpt's, whoever applies",
  },
  'kyaml/krm/redaction/looks-secret.ts': {
    names: ['kapp.k14s.io/original', 'objectset.rio.cattle.io/applied'],
    why: 'the room stands above; a test below holds that it hides each copy that the registry names',
  },
  'kyaml/krm/redaction/redacted.ts': {
    names: [
      'client.lifecycle.config.k8s.io/deletion',
      'config.k8s.io/owning-inventory',
      'meta.helm.sh/release-name',
    ],
    why: 'the room stands above; what is shown of a Secret is listed by hand, one annotation at a time',
  },
  'sources/kustomize/origins/kustomize-writes.ts': {
    names: ['app.kubernetes.io/managed-by'],
    why: 'a label that kustomize itself can write',
  },
  'sources/config-sync/config-sync-folder.ts': {
    names: ['configmanagement.gke.io/managed'],
    why: CONFIG_SYNC,
  },
  'sources/config-sync/selection.ts': {
    names: ['configmanagement.gke.io/cluster-selector', 'configsync.gke.io/cluster-name-selector'],
    why: CONFIG_SYNC,
  },
  'sources/config-sync/config-sync-source.ts': { names: ['configsync.gke.io'], why: CONFIG_SYNC },
  'sources/config-sync/source-object.ts': {
    names: ['configmanagement.gke.io/namespace-selector'],
    why: CONFIG_SYNC,
  },
  'kpt/function/item-annotations.ts': {
    names: [
      'config.kubernetes.io/index',
      'config.kubernetes.io/path',
      'internal.config.kubernetes.io/annotations-migration-resource-id',
      'internal.config.kubernetes.io/index',
      'internal.config.kubernetes.io/package-path',
      'internal.config.kubernetes.io/path',
    ],
    why: 'what kpt writes on the items of a pipeline, which is not what it applies',
  },
  'kpt/package/package-sources.ts': { names: ['config.kubernetes.io/path'], why: 'the same' },
}

/** Backporch renders with these programs and prints their command lines, or has a source of the name: the names are other things too. */
const PROGRAMS = ['kpt', 'helm', 'kubectl', 'flux']
const MANAGERS = new Set(
  SYNCERS.flatMap(({ managers }) => managers.flatMap(({ names }) => names)).filter(
    (name) => !name.includes('*') && !PROGRAMS.includes(name),
  ),
)

test('no other file contains a manager, label or annotation of a syncer', () => {
  const found = new Map<string, Set<string>>()
  for (const entry of readdirSync(SOURCES, { recursive: true, withFileTypes: true })) {
    const file = relative(SOURCES, join(entry.parentPath, entry.name))
    if (
      !entry.isFile() ||
      !file.endsWith('.ts') ||
      file.endsWith('.test.ts') ||
      file.startsWith('syncers/')
    )
      continue
    const names = namesIn(readFileSync(join(SOURCES, file), 'utf8'))
    if (names.size > 0) found.set(file, names)
  }
  const listed = Object.fromEntries(
    [...found].sort().map(([file, names]) => [file, [...names].sort()]),
  )
  const allowed = Object.fromEntries(
    Object.entries(EXCEPTIONS).map(([file, { names }]) => [file, [...names].sort()]),
  )
  assert.deepEqual(listed, allowed)
})

test('the search finds a manager, a mark in a pattern and a directive, but no word of a comment', () => {
  assert.deepEqual([...namesIn("const a = 'kustomize-controller'")], ['kustomize-controller'])
  assert.deepEqual([...namesIn('const a = /^kapp\\.k14s\\.io\\/app$/')], ['kapp.k14s.io/app'])
  assert.deepEqual(
    [...namesIn("get('client.lifecycle.config.k8s.io/deletion')")],
    ['client.lifecycle.config.k8s.io/deletion'],
  )
  assert.deepEqual([...namesIn("/** 'kapp' and kapp.k14s.io/app */\n// 'kluctl'\n")], [])
})

/** Managers as whole texts, and keys of labels and annotations, in texts and in patterns. */
function namesIn(source: string): Set<string> {
  const code = source.replace(/\/\*\*?[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
  const managers = [...code.matchAll(/'([^'\n]+)'/g)]
    .map(([, text = '']) => text)
    .filter((text) => MANAGERS.has(text))
  const keys = [
    ...code
      .replaceAll('\\', '')
      .matchAll(/[a-z0-9][a-z0-9.-]*\.[a-z0-9.-]+\/[A-Za-z][A-Za-z0-9._-]*/g),
  ].map(([key]) => key)
  return new Set([...managers, ...keys.filter(isKey)])
}

function isKey(key: string): boolean {
  return (
    APPLIER_KINDS.some(({ sourcePath }) => sourcePath === key) ||
    SYNCERS.some(({ marks, directives, requests, ignoreMark }) => {
      const patterns = [
        marks.labels,
        marks.annotations,
        requests === 'none' ? 'none' : requests.annotations,
      ]
      return (
        patterns.some((pattern) => pattern instanceof RegExp && pattern.test(key)) ||
        marks.shared.some(({ label }) => label === key) ||
        marks.copies.includes(key) ||
        directives.has(key) ||
        (ignoreMark !== 'none' && ignoreMark.annotation === key)
      )
    })
  )
}

test('each applier kind belongs to one syncer, and what it wraps is another applier kind', () => {
  const tools = APPLIER_KINDS.map(({ tool }) => tool)
  assert.equal(new Set(tools).size, tools.length)
  for (const { tool, wraps } of APPLIER_KINDS)
    for (const other of wraps) assert.ok(tools.includes(other) && other !== tool, tool)
})

test('no exclusive manager belongs to two programs, and a person leaves no marks', () => {
  const alone = SYNCERS.flatMap(({ managers }) =>
    managers.filter((one) => one.alone).flatMap(({ names }) => names),
  )
  assert.equal(new Set(alone).size, alone.length)
  for (const name of alone) assert.equal(findManagerNames(name)?.alone, true, name)
  for (const syncer of SYNCERS) assert.equal(canMarkAs(syncer, 'argocd-server'), false, syncer.name)
})

test('an annotation with a copy of the whole object counts as a credential', () => {
  for (const { marks } of SYNCERS)
    for (const name of marks.copies) {
      const path = ['metadata', 'annotations', name].map((each) => ({
        kind: 'field' as const,
        name: each,
      }))
      assert.equal(isLikelySecret(path, '{}'), true, name)
    }
})

test('only a RepoSync is limited to its own namespace, and not a KluctlDeployment', () => {
  const kinds = [
    'RepoSync',
    'RootSync',
    'KluctlDeployment',
    'Kustomization',
    'HelmRelease',
    'Application',
    'Profile',
    'Bundle',
    '',
  ]
  const bound = APPLIER_KINDS.flatMap(({ tool, ownNamespaceOnly }) =>
    kinds.flatMap((kind) => (ownNamespaceOnly({ kind }) ? [`${tool} ${kind}`] : [])),
  )
  assert.deepEqual(bound, ['config-sync RepoSync'])
})

test('the registry contains every file that declares a syncer', async () => {
  const folder = join(SOURCES, 'syncers')
  const declared = readdirSync(folder).flatMap((file) => {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) return []
    return [
      ...readFileSync(join(folder, file), 'utf8').matchAll(/^export const (\w+): Syncer = /gm),
    ].map(([, name = '']) => ({
      file,
      name,
    }))
  })
  assert.ok(declared.length >= 10)
  for (const { file, name } of declared) {
    const values: Readonly<Record<string, unknown>> = await import(
      pathToFileURL(join(folder, file)).href
    )
    assert.ok(
      SYNCERS.some((syncer) => syncer === values[name]),
      `${file} declares ${name}, which registry.ts does not name`,
    )
  }
})
