/** A Flux Kustomization does not apply files that the artifact of its GitRepository leaves out. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import { InProcessRenderer } from '../../../../test/fakes/in-process-renderer.ts'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { refused, TurnWorld, WEB_CONFIG, yaml } from '../../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../../test/kpt/find-kubectl.ts'
import { addPackageBuilds, PackageBuilds } from '../../../adapters/functions/package-builds.ts'

const RENDERER = addPackageBuilds(
  new InProcessRenderer(),
  new PackageBuilds({ allowed: ['kubectl'], environment: process.env }),
)

const SYNC = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: shop, namespace: flux-system}
spec:
  ref: {branch: main}
  url: ssh://git@/deploy
`
const APPS = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  sourceRef: {kind: GitRepository, name: shop}
  path: ./deploy
  targetNamespace: shop
  commonMetadata:
    labels: {tier: front}
`
/** It has applied an earlier commit: otherwise nothing of it would be missing. */
const APPLIED = `status: {lastAppliedRevision: main@sha1:${'f'.repeat(40)}}\n`
const WEB = `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {color: blue}
`
const OTHER = WEB.replace('name: web', 'name: other')

class ArtifactWorld extends TurnWorld {
  constructor(files: { readonly [path: string]: string }, ignore?: string, more = '') {
    super('{mode: Propose}', {
      ...{ 'apps/web/Kptfile': '', 'apps/web/deployment.yaml': '', 'apps/web/config.yaml': '' },
      'clusters/apps.yaml': APPS,
      'deploy/web.yaml': WEB,
      ...files,
    })
    this.repository.commitByHand('main', {
      'apps/web/Kptfile': null,
      'apps/web/deployment.yaml': null,
      'apps/web/config.yaml': null,
    })
    const spec = ignore === undefined ? more : `  ignore: ${JSON.stringify(ignore)}\n${more}`
    for (const object of [SYNC + spec, APPS + APPLIED]) this.cluster.put(yaml(object))
    const live = WEB.replace('name: web', 'name: web, namespace: shop, labels: {tier: front}')
    this.cluster.put(appliedBy(this.syncer, yaml(live)))
  }

  override sync(): void {}

  override request(more = {}) {
    return super.request({ renderer: RENDERER, ...more })
  }

  /** Names of the objects that are compared. */
  async names(): Promise<readonly string[]> {
    const { report } = await this.plan()
    const missing = report.spec.changes.map(({ ref }) => ref.name)
    return [...missing, report.status.state].sort()
  }

  /** Paths of the files that Adopt edits. */
  async adopted(
    key: string,
    field: string,
    value: Json,
    selectors: readonly string[] = [],
  ): Promise<readonly string[]> {
    this.edit(key, field, value)
    const { branch } = await this.plan({
      resolutionRequest: { resolution: 'Adopt', selectors, message: undefined },
    })
    const { repository } = this
    return repository
      .paths(branch)
      .filter(
        (path) =>
          !path.startsWith('.drift/') &&
          repository.text(branch, path) !== repository.text('main', path),
      )
  }
}

describe('a file excluded from the artifact', { skip: whyNoKubectl() }, () => {
  const FILES = { 'deploy/other.yaml': OTHER }

  for (const [what, files, ignore] of [
    [
      '.sourceignore of the root',
      { '.sourceignore': '# no drafts\n/deploy/other.yaml\n' },
      undefined,
    ],
    ['.sourceignore of its folder', { 'deploy/.sourceignore': 'other.yaml\n' }, undefined],
    ['spec.ignore', {}, '/*\n!/deploy/web.yaml'],
    [
      'spec.ignore that overrides a .sourceignore',
      { '.sourceignore': '!other.yaml\n' },
      'other.yaml',
    ],
  ] as const)
    test(`is not part of a generated kustomization: ${what}`, async () => {
      assert.deepEqual(await new ArtifactWorld({ ...FILES, ...files }, ignore).names(), ['InSync'])
    })

  test('is included again when a later pattern brings it back', async () => {
    assert.deepEqual(await new ArtifactWorld(FILES).names(), ['Drifted', 'other'])
    assert.deepEqual(
      await new ArtifactWorld({ ...FILES, '.sourceignore': 'other.yaml\n' }, '!other.yaml').names(),
      ['Drifted', 'other'],
    )
  })

  test('is excluded by default only if no pattern is given', async () => {
    const files = { 'deploy/cloudbuild.yaml': OTHER }
    assert.deepEqual(await new ArtifactWorld(files).names(), ['InSync'])
    assert.deepEqual(await new ArtifactWorld(files, '# a comment').names(), ['InSync'])
    assert.deepEqual(await new ArtifactWorld(files, '*.md').names(), ['Drifted', 'other'])
    assert.deepEqual(
      await new ArtifactWorld({ ...files, 'docs/.sourceignore': '*.md\n' }).names(),
      ['Drifted', 'other'],
    )
  })

  test('is not read, whatever it contains', async () => {
    assert.deepEqual(
      await new ArtifactWorld({
        'deploy/other.yaml': 'a: [b\n',
        '.sourceignore': 'other.yaml\n',
      }).names(),
      ['InSync'],
    )
  })

  test('does not decide what is applied even if it is a kustomization', async () => {
    const files = {
      'deploy/kustomization.yaml': 'resources: []\n',
      '.sourceignore': 'kustomization.yaml\n',
    }
    assert.deepEqual(await new ArtifactWorld(files).names(), ['InSync'])
  })

  test('fails the unit with place, pattern and remedy when a kustomization names it', async () => {
    const files = {
      ...FILES,
      'deploy/kustomization.yaml': 'resources:\n- web.yaml\n- other.yaml\n',
      '.sourceignore': '*.md\nother.yaml\n',
    }
    const { where, why, remedy } = await refused(new ArtifactWorld(files).plan(), 'BP1210')
    assert.deepEqual(
      [where, why, remedy],
      [
        'deploy/kustomization.yaml:3',
        'deploy/other.yaml is not in the artifact of GitRepository flux-system/shop: "other.yaml" in line 2 of .sourceignore',
        'take it out of the kustomization, or add the line "!/deploy/other.yaml" to .sourceignore or spec.ignore',
      ],
    )
    assert.match(
      (await refused(new ArtifactWorld(files, '/deploy/o*').plan(), 'BP1210')).why,
      /"\/deploy\/o\*" in line 1 of spec.ignore/,
    )
  })

  test('fails the unit with the place when it is the kustomization of a base', async () => {
    const files = {
      'deploy/kustomization.yaml': 'resources: [../base]\n',
      'base/kustomization.yaml': 'resources: []\n',
      '.sourceignore': '/base/\n',
    }
    const { where, why } = await refused(new ArtifactWorld(files).plan(), 'BP1210')
    assert.equal(where, 'deploy/kustomization.yaml:1')
    assert.match(why, /^base\/kustomization.yaml is not in the artifact/)
  })

  test('is not edited: a file that declares the Kustomization must be in some artifact', async () => {
    const adopted = (world: ArtifactWorld): Promise<readonly string[]> =>
      world.adopted(WEB_CONFIG, 'metadata.labels.tier', 'back')
    assert.deepEqual(await adopted(new ArtifactWorld({})), ['clusters/apps.yaml'])
    await refused(adopted(new ArtifactWorld({}, '/clusters/')), 'BP2001')
    const world = new ArtifactWorld({}, '/clusters/')
    world.cluster.put(yaml(SYNC.replace('name: shop', 'name: flux-system')))
    assert.deepEqual(await adopted(world), ['clusters/apps.yaml'])
  })

  describe('by spec.sparseCheckout', () => {
    const sparse = (files: { readonly [path: string]: string }, ...folders: readonly string[]) =>
      new ArtifactWorld(files, undefined, `  sparseCheckout: [${folders.join(', ')}]\n`)

    test('is not part of the folder, and a path prefix is enough to include', async () => {
      assert.deepEqual(await sparse(FILES, 'deploy/web').names(), ['InSync'])
      assert.deepEqual(await sparse(FILES, './deploy').names(), ['Drifted', 'other'])
    })

    test('has no effect as a .sourceignore', async () => {
      assert.deepEqual(
        await sparse({ ...FILES, '.sourceignore': 'other.yaml\n' }, 'deploy').names(),
        ['Drifted', 'other'],
      )
      assert.deepEqual(
        await sparse({ ...FILES, 'deploy/.sourceignore': 'other.yaml\n' }, 'deploy').names(),
        ['InSync'],
      )
    })

    test('fails the unit with place and reason when a kustomization names it', async () => {
      const files = {
        'deploy/kustomization.yaml': 'resources:\n- web.yaml\n- ../base\n',
        'base/kustomization.yaml': 'resources: []\n',
      }
      const { where, why, remedy } = await refused(sparse(files, 'deploy').plan(), 'BP1210')
      assert.equal(where, 'deploy/kustomization.yaml:3')
      assert.match(
        why,
        /^base\/kustomization\.yaml is not in the artifact of GitRepository flux-system\/shop: spec\.sparseCheckout names no folder of it$/,
      )
      assert.match(remedy, /add its folder to spec\.sparseCheckout$/)
    })

    test('is not edited when it declares the Kustomization', async () => {
      const adopted = (world: ArtifactWorld): Promise<readonly string[]> =>
        world.adopted(WEB_CONFIG, 'metadata.labels.tier', 'back')
      assert.deepEqual(await adopted(sparse({}, 'deploy', 'clusters')), ['clusters/apps.yaml'])
      await refused(adopted(sparse({}, 'deploy')), 'BP2001')
    })
  })

  test('replaced by files of another repository (spec.include) fails the unit that names it', async () => {
    const include = '  include: [{repository: {name: other}, toPath: base}]\n'
    for (const base of [{}, { 'base/kustomization.yaml': 'resources: []\n' }]) {
      const world = new ArtifactWorld(
        { ...base, 'deploy/kustomization.yaml': 'resources: [web.yaml, ../base]\n' },
        undefined,
        include,
      )
      const { why } = await refused(world.plan(), 'BP1210')
      assert.match(
        why,
        /^base is not in the artifact .*: base has the files of GitRepository other \(spec\.include\), which are not in this repository$/,
      )
    }
    assert.deepEqual(await new ArtifactWorld({}, undefined, include).names(), ['InSync'])
  })

  test('is not added for a new object', async () => {
    const adopted = async (
      ignore?: string,
      selectors?: readonly string[],
    ): Promise<readonly string[]> => {
      const world = new ArtifactWorld({}, ignore)
      const marks =
        '{kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system, tier: front}'
      for (const name of ['web', 'extra']) {
        const live = WEB.replace('name: web', `name: ${name}, namespace: shop, labels: ${marks}`)
        world.cluster.put(appliedBy(world.syncer, yaml(live)))
      }
      return world.adopted(WEB_CONFIG, 'data.color', 'green', selectors)
    }
    assert.deepEqual(await adopted(), ['deploy/extra.yaml', 'deploy/web.yaml'])
    assert.deepEqual(await adopted('*extra*'), ['deploy/web.yaml'])
    assert.match(
      (await refused(adopted('*extra*', ['configmap/extra']), 'BP2001')).why,
      /would not get the new file deploy\/extra.yaml/,
    )
  })
})
