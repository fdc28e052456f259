/** Many changes of a base that three overlays share, adopted for one of them: which files are edited, and how many builds that takes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catchFailure, Failure } from '@backporch/kyaml/failure'
import type { PackageFile } from '@backporch/kyaml/files'
import type { Json } from '@backporch/kyaml/json'
import { driftOf } from '../../../../test/fakes/drift-samples.ts'
import { CountedBuilds, toyKustomize } from '../../../../test/fakes/toy-kustomize.ts'
import * as fc from '../../../../test/seeds/fast-check.ts'
import { findPossible } from '../../edits/possible-changes.ts'
import type { ResolvedChange } from '../../edits/resolution-edits.ts'
import type { SourceFiles } from '../../kustomize/files/kustomize-build.ts'
import { KUSTOMIZE_TOOL } from '../../kustomize/kustomize-tool.ts'
import type { BuiltSource } from '../built-source.ts'
import type { SharingUnit } from '../built-unit.ts'
import { parsePrintedResources } from '../read-built.ts'
import { adoptThroughBuild, listBuiltAdoptionProblems } from './build-adoption.ts'

const ENVIRONMENTS = ['prod', 'staging', 'dev']
const ORIGINS = 'buildMetadata: [originAnnotations]\n'
const KUSTOMIZATION = 'overlays/prod/kustomization.yaml'
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at)

type Texts = ReadonlyMap<string, string>

/** @param own replicas that the other overlays set themselves, by Deployment @param top more of the kustomization that is adopted in */
function textsOf(count: number, own: readonly number[] = [], top = ''): Texts {
  const names = numbers(count).map((at) => `web-${at}.yaml`)
  const manifest = (at: number): string =>
    `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web-${at}}\nspec:\n  replicas: 1\n  template:\n    spec:\n      containers:\n      - name: app\n        image: app-${at}:1.0\n        env:\n        - {name: LEVEL, value: info}\n`
  const entries = own.map((at) => `- {name: web-${at}, count: 1}\n`).join('')
  const overlay = (env: string): string =>
    `${ORIGINS}resources: [../../base]\n${env === 'prod' ? top : entries === '' ? '' : `replicas:\n${entries}`}`
  return new Map([
    ['base/kustomization.yaml', `resources: [${names.join(', ')}]\n`],
    ...names.map((name, at): [string, string] => [`base/${name}`, manifest(at)]),
    ...ENVIRONMENTS.map((env): [string, string] => [
      `overlays/${env}/kustomization.yaml`,
      overlay(env),
    ]),
  ])
}

/** Files keep their identity, by which edits are found. */
function filesOf(texts: Texts): SourceFiles {
  return new Map(
    [...texts].map(([path, text]): [string, PackageFile] => [
      path,
      { path, mode: '100644', content: new TextEncoder().encode(text) },
    ]),
  )
}

function sourceOf(env: string, files: SourceFiles): BuiltSource {
  const folder = `overlays/${env}`
  const own = [...files].filter(([path]) => path.startsWith('base/') || path.startsWith(folder))
  return {
    packagePath: folder,
    package: [],
    tool: KUSTOMIZE_TOOL,
    folder,
    files: new Map(own),
    command: [],
  }
}

interface Edit {
  readonly at: number
  readonly field: 'image' | 'replicas' | 'env'
  readonly value: number
  readonly via?: string
}

const FIELDS = {
  image: ['spec.template.spec.containers[name=app].image', (at, value) => `app-${at}:1.${value}`],
  replicas: ['spec.replicas', (_at, value) => value + 1],
  env: [
    'spec.template.spec.containers[name=app].env[name=LEVEL].value',
    (_at, value) => `debug-${value}`,
  ],
} as const satisfies { [name: string]: readonly [string, (at: number, value: number) => Json] }

class Overlay {
  readonly counted = new CountedBuilds()
  told: readonly string[] = []
  private readonly files: SourceFiles

  constructor(texts: Texts) {
    this.files = filesOf(texts)
  }

  /** The whole of the files that change. */
  adopt(edits: readonly Edit[]): Texts {
    const { files, notes } = this.counted.run(() => adoptThroughBuild(this.inputOf(edits)))
    this.told = notes.map(({ text }) => text)
    return new Map(
      [...files].map(([path, content]) => [path, new TextDecoder().decode(content ?? undefined)]),
    )
  }

  problems(edits: readonly Edit[]): readonly (string | undefined)[] {
    return this.counted.run(() => listBuiltAdoptionProblems(this.inputOf(edits)))
  }

  /** Numbers of the Deployments whose edits are left out where not all are possible, with the reasons. */
  leftOut(edits: readonly Edit[]): readonly (readonly [number | undefined, string])[] {
    const { changes, ...input } = this.inputOf(edits)
    const attempt = (some: readonly ResolvedChange[]): Failure | undefined => {
      const result = catchFailure(() => adoptThroughBuild({ ...input, changes: some }))
      return result instanceof Failure ? result : undefined
    }
    const { refused, possible } = this.counted.run(() =>
      findPossible(changes, attempt(changes), attempt),
    )
    assert.equal(possible.length, changes.length - refused.size)
    return [...refused].map(([change, { why }]) => [edits[changes.indexOf(change)]?.at, why])
  }

  private inputOf(edits: readonly Edit[]) {
    const source = sourceOf('prod', this.files)
    const built = { tool: 'kustomize', folder: source.folder, command: [] } as const
    const text = toyKustomize({ ...built, files: [...source.files.values()] })
    const resources = parsePrintedResources(source, text)
    const changes = edits.map(({ at, field, value, via }): ResolvedChange => {
      const desired = resources.find(({ id }) => id.name === `web-${at}`)
      assert.ok(desired !== undefined)
      const [path, live] = FIELDS[field]
      return {
        drift: driftOf(path, { id: desired.id, live: live(at, value) }),
        desired,
        resolution: 'Adopt',
        via,
      }
    })
    const others = ENVIRONMENTS.slice(1).map((env): SharingUnit => {
      const other = sourceOf(env, this.files)
      return { name: other.folder, files: new Set(other.files.keys()), source: other }
    })
    return { source, library: this.counted.library, others, changes }
  }
}

const KINDS = ['image', 'replicas', 'env'] as const
const thirds = (count: number): readonly Edit[] =>
  numbers(count).map((at) => ({ at, field: KINDS[at % 3] ?? 'env', value: at + 1 }))

for (const count of [25, 60])
  test(`adopts ${count} changes with the builds of a few`, () => {
    const overlay = new Overlay(textsOf(count))
    const files = overlay.adopt(thirds(count))
    const { builds, rounds } = overlay.counted
    assert.deepEqual([builds <= 8, rounds <= 6], [true, true], `${builds} in ${rounds} rounds`)
    assert.equal(files.size, 1 + Math.floor(count / 3), 'the kustomization, and the patches of env')
    assert.match(files.get(KUSTOMIZATION) ?? '', /name: app-0\n {2}newTag: "1\.1"\n- name: app-3\n/)
  })

/** One change after the other, each over the files that the one before gives. */
function oneByOne(texts: Texts, edits: readonly Edit[]): Texts {
  let files: Texts = new Map()
  for (const edit of edits)
    files = new Map([...files, ...new Overlay(new Map([...texts, ...files])).adopt([edit])])
  return files
}

test('edits values that others override in the base, and the rest in the overlay', () => {
  const texts = textsOf(9, [1, 4])
  const overlay = new Overlay(texts)
  const files = overlay.adopt(thirds(9))
  assert.deepEqual(
    [...files.keys()].filter((path) => path.startsWith('base/')),
    ['base/web-1.yaml', 'base/web-4.yaml'],
  )
  assert.deepEqual(files, oneByOne(texts, thirds(9)))
  assert.ok(overlay.counted.rounds <= 7, String(overlay.counted.rounds))
})

test('joint adoption gives the same files as adopting the changes one by one', () => {
  const edit = fc.record({
    at: fc.nat({ max: 3 }),
    field: fc.constantFrom(...KINDS),
    value: fc.integer({ min: 1, max: 3 }),
  })
  const edits = fc.uniqueArray(edit, {
    minLength: 2,
    maxLength: 4,
    selector: ({ at, field }) => `${at} ${field}`,
  })
  const own = fc.uniqueArray(fc.nat({ max: 3 }))
  fc.assert(
    fc.property(edits, own, (some, replicas) => {
      const texts = textsOf(4, replicas)
      assert.deepEqual(new Overlay(texts).adopt(some), oneByOne(texts, some))
    }),
    { numRuns: 8 },
  )
})

test('finds impossible changes among many with a few more rounds', () => {
  const overlay = new Overlay(textsOf(8, [], 'pinned: [web-1, web-4]\n'))
  const why = 'no authored place was found whose edit gives the live value'
  assert.deepEqual(overlay.leftOut(thirds(8)), [
    [1, why],
    [4, why],
  ])
  const { rounds } = overlay.counted
  assert.ok(rounds <= 20, String(rounds))
})

test('adopts many values everywhere in few rounds, and each reports what it moves', () => {
  const overlay = new Overlay(textsOf(12))
  const files = overlay.adopt(thirds(12).map((edit) => ({ ...edit, via: 'everywhere' })))
  assert.ok([...files.keys()].every((path) => path.startsWith('base/')))
  assert.equal(files.size, 12)
  assert.equal(overlay.told.length, 12)
  assert.match(
    overlay.told[1] ?? '',
    /^the edit of the manifest \(base\/web-1\.yaml:5\) also changes spec\.replicas of Deployment web-1 in overlays\/staging and spec\.replicas of Deployment web-1 in overlays\/dev$/,
  )
  assert.ok(overlay.counted.rounds <= 6, String(overlay.counted.rounds))
})

test('finds the problems of many changes in as many rounds as those of one', () => {
  const [one, many] = [new Overlay(textsOf(10)), new Overlay(textsOf(10))]
  assert.deepEqual(one.problems(thirds(1)), [undefined])
  assert.deepEqual(new Set(many.problems(thirds(10))), new Set([undefined]))
  assert.ok(many.counted.rounds <= one.counted.rounds + 1, String(many.counted.rounds))
})
