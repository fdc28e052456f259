/** Variables of Flux Kustomizations from a ConfigMap that the repository declares: adopted at their one definition, or for one unit only. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { SyncedWorld } from '../../../../test/fakes/synced-world.ts'
import { yaml } from '../../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../../test/kpt/find-kubectl.ts'

const GIT = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {ref: {branch: main}, url: "ssh://git@/deploy"}
`
const SETTINGS = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: flux-system
data:
  domain: example.com # of the company
  size: "5"
`
const kustomization = (name: string, path: string, postBuild = ''): string =>
  `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${name}
  namespace: flux-system
spec:
  path: ./${path}
  sourceRef: {kind: GitRepository, name: flux-system}
${postBuild}`
const FROM = '  postBuild:\n    substituteFrom:\n    - {kind: ConfigMap, name: settings}\n'
const SYSTEM = kustomization('flux-system', 'clusters/prod')
const SHOP = kustomization('shop', 'shop', FROM)
const BLOG = kustomization('blog', 'blog', FROM)
const config = (name: string, value: string, field = 'host'): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: web}\ndata:\n  ${field}: ${value}\n`
const FILES = {
  'clusters/prod/flux-system.yaml': `${GIT}---\n${SYSTEM}`,
  'clusters/prod/settings.yaml': SETTINGS,
  'clusters/prod/shop.yaml': SHOP,
  'shop/config.yaml': config('shop', 'shop.${domain}'),
}
const WITH_BLOG = {
  ...FILES,
  'clusters/prod/blog.yaml': BLOG,
  'blog/config.yaml': config('blog', 'blog.${domain}'),
}
const LITERAL = { 'shop/config.yaml': config('shop', 'shop.example.org') }
const HOST = { key: '/ConfigMap/web/shop', unit: 'shop' }

/** @param resources of the cluster */
function worldOf(
  files: { readonly [path: string]: string },
  resources: readonly string[] = [SYSTEM, SHOP],
): SyncedWorld {
  const world = new SyncedWorld(files, ['kubectl'])
  for (const text of [GIT, ...resources]) world.cluster.put(yaml(text))
  for (const text of [
    SETTINGS,
    config('shop', 'shop.example.com'),
    config('blog', 'blog.example.com'),
  ])
    world.cluster.put(appliedBy('kustomize-controller', yaml(text)))
  return world
}

describe('a variable of a ConfigMap that the repository declares', { skip: whyNoKubectl() }, () => {
  test('is adopted in the ConfigMap, which its own unit applies', async () => {
    const world = worldOf(FILES)
    assert.deepEqual(await world.adopted(HOST, 'data.host', 'shop.example.org'), {
      'clusters/prod/settings.yaml': SETTINGS.replace('example.com', 'example.org'),
    })
    assert.deepEqual(world.told, [])
  })

  for (const [what, resources] of [
    ['in the cluster', [SYSTEM, SHOP, BLOG]],
    ['declared only in files', [SYSTEM, SHOP]],
  ] as const) {
    test(`is set in its own Kustomization when another one ${what} uses the value`, async () => {
      const world = worldOf(WITH_BLOG, resources)
      assert.deepEqual(await world.adopted(HOST, 'data.host', 'shop.example.org'), {
        'clusters/prod/shop.yaml': `${SHOP}    substitute:\n      domain: example.org\n`,
      })
      assert.match(
        String(world.told),
        /shared-source: data\.host comes from the variable domain \(clusters\/prod\/settings\.yaml:7\), which .*\bblog\b.* are built from too: the variable domain in spec\.postBuild\.substitute \(clusters\/prod\/shop\.yaml\) changes it here only/,
      )
    })

    test(`is adopted for all on request, naming what changes in another one ${what}`, async () => {
      const world = worldOf(WITH_BLOG, resources)
      assert.deepEqual(await world.adopted(HOST, 'data.host', 'shop.example.org', 'everywhere'), {
        'clusters/prod/settings.yaml': SETTINGS.replace('example.com', 'example.org'),
      })
      assert.match(String(world.told), /also changes data\.host of ConfigMap web\/blog in blog\b/)
    })
  }

  test('is adopted in the ConfigMap when another Kustomization reads but does not use it', async () => {
    const files = { ...WITH_BLOG, 'blog/config.yaml': config('blog', 'blog.example.com') }
    const world = worldOf(files, [SYSTEM, SHOP, BLOG])
    assert.deepEqual(Object.keys(await world.adopted(HOST, 'data.host', 'shop.example.org')), [
      'clusters/prod/settings.yaml',
    ])
  })

  test("is edited in its own cluster's files when another cluster has a ConfigMap of the same name", async () => {
    const dev = {
      'clusters/dev/settings.yaml': SETTINGS,
      'clusters/dev/shop.yaml': SHOP,
      'clusters/dev/flux-system.yaml': `${GIT}---\n${SYSTEM.replace('clusters/prod', 'clusters/dev')}`,
    }
    const world = worldOf({ ...FILES, ...dev })
    assert.deepEqual(Object.keys(await world.adopted(HOST, 'data.host', 'shop.example.org')), [
      'clusters/prod/settings.yaml',
    ])
  })

  for (const [what, text] of [
    ['has another value in the cluster', SETTINGS.replace('example.com', 'example.net')],
    ['is encrypted', SETTINGS.replace('example.com', 'ENC[AES256_GCM,data:aGVsbG8=,type:str]')],
  ] as const)
    test(`is replaced in the manifest when the file of its ConfigMap ${what}`, async () => {
      const world = worldOf({ ...FILES, 'clusters/prod/settings.yaml': text })
      assert.deepEqual(await world.adopted(HOST, 'data.host', 'shop.example.org'), LITERAL)
    })

  test('is replaced in the manifest when its ConfigMap is in no folder of the cluster', async () => {
    const { 'clusters/prod/settings.yaml': moved, ...rest } = FILES
    const world = worldOf({ ...rest, 'examples/settings.yaml': moved })
    assert.deepEqual(await world.adopted(HOST, 'data.host', 'shop.example.org'), LITERAL)
  })

  test("is adopted in the ConfigMap itself by the ConfigMap's unit, whatever reads it", async () => {
    const world = worldOf(WITH_BLOG)
    const edit = { key: '/ConfigMap/flux-system/settings', unit: 'clusters/prod' }
    assert.deepEqual(await world.adopted(edit, 'data.domain', 'example.org'), {
      'clusters/prod/settings.yaml': SETTINGS.replace('example.com', 'example.org'),
    })
  })
})
