import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { driftOf } from '../../../../test/fakes/drift-samples.ts'
import type { ResolvedChange } from '../../edits/resolution-edits.ts'
import { KUSTOMIZE_TOOL } from '../../kustomize/kustomize-tool.ts'
import { type Build, type BuildLibrary, buildKey } from '../../programs/package-builder.ts'
import { attempt, Unanswered } from '../../programs/questions.ts'
import type { BuiltSource } from '../built-source.ts'
import type { SharingUnit } from '../built-unit.ts'
import { parsePrintedResources } from '../read-built.ts'
import { adoptThroughBuild } from './build-adoption.ts'

const MANIFEST =
  'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 3}\n'
const KUSTOMIZATION = 'resources: [web.yaml]\nreplicas: [{name: web, count: 3}]\n'

function sourceOf(kustomization = KUSTOMIZATION): BuiltSource {
  const texts = { 'web/kustomization.yaml': kustomization, 'web/web.yaml': MANIFEST }
  const files = new Map(
    Object.entries(texts).map(([path, text]) => [
      path,
      { path, mode: '100644' as const, content: new TextEncoder().encode(text) },
    ]),
  )
  return {
    packagePath: 'web',
    package: [],
    tool: KUSTOMIZE_TOOL,
    folder: 'web',
    files,
    command: [],
  }
}

/** Prints the manifest with the count that is no longer 3, in the manifest or in `replicas`: each place will do. */
function print(build: Build): string {
  const textOf = (path: string): string =>
    new TextDecoder().decode(build.files.find((file) => file.path === path)?.content)
  const counts = [
    /replicas: (\d+)/.exec(textOf('web/web.yaml'))?.[1],
    /count: (\d+)/.exec(textOf('web/kustomization.yaml'))?.[1],
  ]
  const count = counts.find((each) => each !== '3') ?? '3'
  const origin = 'annotations: {config.kubernetes.io/origin: "path: web.yaml\\n"}'
  return `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop, ${origin}}\nspec: {replicas: ${count}}\n`
}

const AT_ONCE: BuildLibrary = { built: (build) => ({ text: print(build) }) }

function adopt(
  library: BuildLibrary,
  via?: string,
  others: readonly SharingUnit[] = [],
): Record<string, string> {
  const source = sourceOf()
  const [desired] = parsePrintedResources(
    source,
    print({ tool: 'kustomize', folder: 'web', command: [], files: [...source.files.values()] }),
  )
  assert.ok(desired !== undefined)
  const change: ResolvedChange = {
    drift: driftOf('spec.replicas'),
    desired,
    resolution: 'Adopt',
    ...(via === undefined ? {} : { via }),
  }
  const { files } = adoptThroughBuild({ source, library, others, changes: [change] })
  return Object.fromEntries(
    [...files].map(([path, content]) => [
      path,
      new TextDecoder().decode(content ?? new Uint8Array()),
    ]),
  )
}

function refusal(work: () => unknown): Failure {
  try {
    work()
  } catch (thrown) {
    assert.ok(thrown instanceof Failure, String(thrown))
    return thrown
  }
  assert.fail('not refused')
}

test('requests all builds of a field together, and reuses them in the repeated plan', () => {
  const known = new Set<string>()
  const requested: number[] = []
  const library: BuildLibrary = {
    built: (build) => {
      if (!known.has(buildKey(build))) throw new Unanswered({ kind: 'builds', builds: [build] })
      return { text: print(build) }
    },
  }
  const again = (): unknown => {
    const tried = attempt(() => adopt(library, 'manifest'))
    if ('value' in tried) return tried.value
    assert.ok(tried.question.kind === 'builds')
    requested.push(tried.question.builds.length)
    for (const build of tried.question.builds) known.add(buildKey(build))
    return again()
  }
  assert.deepEqual(again(), { 'web/web.yaml': MANIFEST.replace('replicas: 3', 'replicas: 5') })
  assert.deepEqual(requested, [1, 2])
})

test('edits one of several suitable locations only when it is named', () => {
  const failure = refusal(() => adopt(AT_ONCE))
  assert.equal(failure.code, 'BP2014')
  assert.match(failure.why, /the manifest \(web\/web\.yaml:4\) as "manifest".* as "replicas:web"/)
  const unknown = refusal(() => adopt(AT_ONCE, 'images:web'))
  assert.equal(
    unknown.what,
    'cannot adopt spec.replicas of Deployment shop/web by way of "images:web"',
  )
  assert.match(
    unknown.why,
    /^no place of that name gives the live value; these do: the manifest .* as "replicas:web"$/,
  )
  const left = [{ name: 'base', files: new Set(['web/web.yaml']), source: undefined }]
  assert.match(
    refusal(() => adopt(AT_ONCE, 'manifest', left)).why,
    /these do: [^,]* as "replicas:web"$/,
  )
  assert.deepEqual(adopt(AT_ONCE, 'replicas:web'), {
    'web/kustomization.yaml': KUSTOMIZATION.replace('count: 3', 'count: 5'),
  })
})

test('does not edit a location that would change another unit, and edits the remaining one', () => {
  const others = [{ name: 'base', files: new Set(['web/web.yaml']), source: undefined }]
  assert.deepEqual(adopt(AT_ONCE, undefined, others), {
    'web/kustomization.yaml': KUSTOMIZATION.replace('count: 3', 'count: 5'),
  })
  const all = [
    { name: 'base', files: new Set(['web/web.yaml', 'web/kustomization.yaml']), source: undefined },
  ]
  assert.match(
    refusal(() => adopt(AT_ONCE, undefined, all)).why,
    /which base is built from too: an edit there would also change it/,
  )
})

test('rejects an edit that breaks the build, with the message of the program', () => {
  const failure = {
    code: 'BP1209',
    what: 'it failed',
    why: 'exit code 1: too many',
    remedy: 'have fewer',
  } as const
  const library: BuildLibrary = {
    built: (build) => (/: 5/.test(print(build)) ? { failure } : { text: print(build) }),
  }
  assert.match(
    refusal(() => adopt(library)).why,
    /^with the edit of the manifest .* the package does not render: exit code 1: too many$/,
  )
})

test('objects of one file are removed from its end, because a removed document shifts those after it', () => {
  const documentOf = (name: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata: {size: ${name === 'one' ? 'L' : 'S'}}\n`
  const names = ['zero', 'one', 'two', 'three']
  const texts = {
    'web/kustomization.yaml': 'resources: [web.yaml]\n',
    'web/web.yaml': names.map((name) => documentOf(name)).join('---\n'),
  }
  const files = new Map(
    Object.entries(texts).map(([path, text]) => [
      path,
      { path, mode: '100644' as const, content: new TextEncoder().encode(text) },
    ]),
  )
  const origin = ', annotations: {config.kubernetes.io/origin: "path: web.yaml\\n"}'
  const printAll = (build: Build): string => {
    const content = build.files.find(({ path }) => path === 'web/web.yaml')?.content
    return new TextDecoder()
      .decode(content)
      .replaceAll(', namespace: shop', `, namespace: shop${origin}`)
  }
  const source: BuiltSource = { ...sourceOf(), files }
  const all = parsePrintedResources(
    source,
    printAll({ tool: 'kustomize', folder: 'web', command: [], files: [...files.values()] }),
  )
  const changes = ['zero', 'two', 'three'].map((name): ResolvedChange => {
    const desired = all.find(({ id }) => id.name === name)
    assert.ok(desired !== undefined)
    const part =
      name === 'three'
        ? driftOf('data.size', { git: 'S', live: 'M' })
        : driftOf('', { change: 'missing', git: undefined, live: undefined })
    return {
      drift: { ...part, id: desired.id, apiVersion: 'v1' },
      desired,
      resolution: 'Adopt',
    }
  })
  const library: BuildLibrary = { built: (build) => ({ text: printAll(build) }) }
  for (const ordered of [changes, changes.toReversed()]) {
    const edit = adoptThroughBuild({ source, library, others: [], changes: ordered })
    assert.deepEqual([...edit.files.keys()], ['web/web.yaml'])
    assert.equal(
      new TextDecoder().decode(edit.files.get('web/web.yaml') ?? new Uint8Array()),
      ['one', 'three']
        .map((name) => documentOf(name))
        .join('---\n')
        .replace(/size: S(?=\}\n$)/, 'size: M'),
    )
  }
})
