/** Encrypted files in a kustomization: of a package, and of a Flux Kustomization that decrypts them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { runInWorld } from '../fakes/cli-world.ts'
import { appliedBy, withMetadata } from '../fakes/live-object.ts'
import { policyText, TurnWorld, yaml } from '../fakes/turn-world.ts'
import { whyNoKubectl } from '../kpt/find-kubectl.ts'
import { assertSilent, documents, rendererOf, type SopsTools } from './decrypted-suite.ts'

const SYNC = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, ref: {branch: main}, url: "ssh://git@/deploy"}
`
const APPS = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  interval: 10m
  sourceRef: {kind: GitRepository, name: flux-system}
  path: ./apps/production
  prune: true
  namePrefix: prod-
  decryption: {provider: sops, secretRef: {name: sops-age}}
  postBuild: {substitute: {color: blue}}
`
const POLICY = {
  '.drift/render.yaml': policyText(
    '{priority: 9, match: {packages: [apps/web]}, render: {tool: kustomize}}',
  ).replace('test', 'render'),
}

/** The objects as a syncer applies them, decrypted and renamed. */
function applied(world: TurnWorld): void {
  for (const { value } of parseGoYaml(documents(undefined, 'data'), 'test').documents) {
    const object = value as JsonObject
    const name = `prod-${String((object['metadata'] as JsonObject)['name'])}`
    world.cluster.put(appliedBy(world.syncer, withMetadata(object, { name })))
  }
}

function fluxWorld(tools: SopsTools): TurnWorld {
  const world = new TurnWorld('{mode: Propose}', {
    'clusters/prod/apps.yaml': `${SYNC}---\n${APPS}`,
    'apps/production/secrets.yaml': tools.encrypt(documents()),
  })
  const bare = ['apps/web/Kptfile', 'apps/web/deployment.yaml', 'apps/web/config.yaml']
  world.repository.commitByHand('main', Object.fromEntries(bare.map((path) => [path, null])))
  world.cluster.objects.clear()
  for (const object of [SYNC, APPS]) world.cluster.put(yaml(object))
  return world
}

function packageWorld(tools: SopsTools): TurnWorld {
  return new TurnWorld('{mode: Propose}', {
    ...POLICY,
    'apps/web/Kustomization': 'namePrefix: prod-\nresources: [../../base]\n',
    'base/kustomization.yaml': 'resources: [secrets.yaml]\n',
    'base/secrets.yaml': tools.encrypt(documents()),
  })
}

export function decryptedBuildsSuite(title: string, tools: () => SopsTools): void {
  describe(title, { skip: whyNoKubectl() }, () => {
    for (const [what, begin] of [
      ['a kustomization of a package with the file outside it', packageWorld],
      ['a Flux Kustomization', fluxWorld],
    ] as const)
      test(`compares decrypted values in ${what}, and never shows them`, async () => {
        const world = begin(tools())
        applied(world)
        const run = async (environment?: { readonly [name: string]: string }) => {
          const { stdout, stderr, code } = await runInWorld(world, ['diff', '-o', 'json'], {
            renderer: rendererOf(tools(), environment),
          })
          assertSilent(stdout + stderr, what)
          assert.notEqual(code, 2, stderr)
          const { items } = JSON.parse(stdout) as {
            items: { spec: { changes: { ref: { name: string }; path: string }[] } }[]
          }
          return items.flatMap(({ spec }) =>
            spec.changes.map(({ ref, path }) => `${ref.name} ${path}`),
          )
        }
        assert.deepEqual(await run(), [])
        world.edit(
          '/Secret/shop/prod-api',
          'data.token',
          Buffer.from('c4n4ry-by-hand').toString('base64'),
          world.syncer,
        )
        assert.deepEqual(await run(), ['prod-api data.token'])
        assert.deepEqual(
          await run(tools().wrongKey),
          [],
          'without the key the syncer is the last writer',
        )
      })
  })
}
