/** Flux Kustomizations that another Kustomization of the repository builds, where the recording has no resource of Flux. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { SyncedWorld } from '../../../../test/fakes/synced-world.ts'
import { yaml } from '../../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../../test/kpt/find-kubectl.ts'

function kustomization(name: string, path: string, more = ''): string {
  return `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${name}
spec:
  sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}
  path: ${path}
${more}`
}

const ROOT = kustomization('flux-system', './cluster').replace(
  'name: flux-system\nspec',
  'name: flux-system\n  namespace: flux-system\nspec',
)
const SHOP = kustomization(
  'shop',
  './apps/shop',
  '  postBuild:\n    substituteFrom:\n    - {kind: ConfigMap, name: settings}\n    substitute:\n      color: red\n',
)
const FILES = {
  'cluster/kustomization.yaml': `resources:
- flux-system.yaml
- settings.yaml
- shop.yaml
namespace: flux-system
patches:
- target: {kind: Kustomization, name: shop}
  patch: |
    - op: replace
      path: /spec/postBuild/substitute/color
      value: blue
`,
  'cluster/flux-system.yaml': ROOT,
  'cluster/settings.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  tier: front\n',
  'cluster/shop.yaml': SHOP,
  'apps/shop/colors.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: colors\n  namespace: shop\ndata:\n  color: ${color}\n  tier: ${tier}\n  size: large # agreed\n',
  'apps/shop/below.yaml': kustomization('below', './tiers/${tier}').replace(
    'name: below\n',
    'name: below\n  namespace: flux-system\n',
  ),
  'tiers/front/limits.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: limits\n  namespace: shop\ndata:\n  cpu: "4"\n',
}
const COLORS = '/ConfigMap/shop/colors'

class BuiltWorld extends SyncedWorld {
  constructor(files: { readonly [path: string]: string } = {}) {
    super({ ...FILES, ...files }, ['kubectl'])
    const identify = this.cluster.identify.bind(this.cluster)
    this.cluster.identify = async () => ({ ...(await identify()), recorded: true })
    // The recording has nothing of Flux.
    this.cluster.unreadable.add('kustomize.toolkit.fluxcd.io/Kustomization/flux-system/below')
    const live = (name: string, data: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata: ${data}\n`
    for (const text of [
      live('colors', '{color: blue, tier: front, size: large}'),
      live('limits', '{cpu: "4"}'),
    ])
      this.cluster.put(appliedBy('kustomize-controller', yaml(text)))
  }

  /** Of the units that these tests are about. */
  async statesBelow(
    ...folders: readonly string[]
  ): Promise<readonly (readonly [string, string])[]> {
    return Object.entries(await this.states()).filter(([unit]) =>
      folders.some((folder) => unit.startsWith(folder)),
    )
  }
}

describe('Kustomizations that a Kustomization builds, in a recording without any', {
  skip: whyNoKubectl(),
}, () => {
  test('are units with the namespace, the patches and the variables of the build, level by level', async () => {
    assert.deepEqual(await new BuiltWorld().statesBelow('apps', 'tiers'), [
      ['apps/shop', 'Flux Kustomization flux-system/shop: Unknown'],
      ['tiers/front', 'Flux Kustomization flux-system/below: InSync'],
    ])
    const { report } = await new BuiltWorld().plan({ packages: ['apps/shop'] })
    assert.deepEqual(report.spec.changes, [])
  })

  test('show drift against the build, not against the bare files', async () => {
    const world = new BuiltWorld()
    world.edit(COLORS, 'data.color', 'red')
    world.edit(COLORS, 'data.tier', 'back')
    const { report } = await world.plan({ packages: ['apps/shop'] })
    assert.deepEqual(
      report.spec.changes.map(({ path, git, live }) => [path, git, live]),
      [
        ['data.color', 'blue', 'red'],
        ['data.tier', 'front', 'back'],
      ],
    )
  })

  test('have a manual edit adopted where it is written', async () => {
    const changed = await new BuiltWorld().adopted(
      { key: COLORS, unit: 'apps/shop' },
      'data.size',
      'small',
    )
    const path = 'apps/shop/colors.yaml'
    assert.deepEqual(changed, { [path]: FILES[path].replace('large #', 'small #') })
  })

  test('replace the units of the bare files when the build renames them', async () => {
    const world = new BuiltWorld({
      'cluster/kustomization.yaml':
        'resources:\n- flux-system.yaml\n- shop.yaml\nnamespace: flux-system\nnamePrefix: prod-\n',
      'cluster/shop.yaml': kustomization(
        'shop',
        './apps/shop',
        '  postBuild:\n    substitute: {color: blue, tier: front}\n',
      ),
    })
    assert.deepEqual(await world.statesBelow('apps', 'tiers'), [
      ['apps/shop', 'Flux Kustomization flux-system/prod-shop: Unknown'],
      ['tiers/front', 'Flux Kustomization flux-system/below: InSync'],
    ])
  })

  test('fall back to the bare files when the build fails', async () => {
    const world = new BuiltWorld({ 'cluster/kustomization.yaml': 'resources:\n- away.yaml\n' })
    const [shop] = await world.statesBelow('apps/shop')
    assert.match(shop?.[1] ?? '', /^BP1210 .*settings/)
  })
})
