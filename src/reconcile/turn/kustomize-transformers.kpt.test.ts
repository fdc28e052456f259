/** A field that a transformer in a separate file writes is adopted in that file, proven by `kubectl kustomize`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { getMetadataText } from '@backporch/kyaml/resource'
import { BASE, KustomizeWorld, PROD, WEB } from '../../../test/fakes/kustomize-world.ts'
import { appliedBy } from '../../../test/fakes/live-object.ts'
import { refused } from '../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../test/kpt/find-kubectl.ts'

const LABELS = `apiVersion: builtin
kind: LabelTransformer
metadata: {name: labels}
labels:
  team: shop # who is asked
fieldSpecs:
- {path: metadata/labels, create: true, kind: Deployment}
`
const TEAM = 'metadata.labels.team'

async function labelled(labels: string, of: readonly string[]): Promise<KustomizeWorld> {
  const files = {
    'units/prod/kustomization.yaml': `${PROD}transformers:\n- labels.yaml\n`,
    'units/prod/labels.yaml': labels,
  }
  const world = await new KustomizeWorld({ files: { ...BASE, ...files } }).apply()
  for (const name of of)
    world.cluster.change(name, (live) =>
      appliedBy(world.syncer, {
        ...live,
        metadata: {
          name: getMetadataText(live, 'name'),
          namespace: 'shop',
          labels: { team: 'shop' },
        },
      }),
    )
  world.edit(WEB, TEAM, 'sales')
  return world
}

describe('a unit with a transformer in a file of its own', { skip: whyNoKubectl() }, () => {
  test('adopts a label in that file', async () => {
    const world = await labelled(LABELS, [WEB])
    assert.deepEqual(await world.adopted(), {
      'units/prod/labels.yaml': LABELS.replace('team: shop', 'team: sales'),
    })
  })

  test('rejects the Adopt with that file when other objects share the label', async () => {
    const all = LABELS.replace(', kind: Deployment', '')
    const world = await labelled(all, [WEB, '/ConfigMap/shop/settings'])
    const { why } = await refused(world.adopted(), 'BP2001')
    assert.match(
      why,
      /the label team of the LabelTransformer \(units\/prod\/labels\.yaml:5\), and an edit there would also change metadata\.labels\.team of ConfigMap (shop\/)?settings/,
    )
  })
})
