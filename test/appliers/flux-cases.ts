/** Cases that Backporch and Flux build alike, written by hand. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { whyNoKubectl } from '../kpt/find-kubectl.ts'
import { openFluxOracle } from './flux-oracle.ts'
import { type FluxCase, FluxSides } from './flux-sides.ts'

export const config = (name: string, data = 'a: b', more = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${more}data:\n  ${data.replaceAll('\n', '\n  ')}\n`
export const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web, tier: front}
  annotations: {note: own}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: "nginx:1.0", resources: {limits: {cpu: 100m}}}
      - {name: log, image: example.com/log@sha256:1111111111111111111111111111111111111111111111111111111111111111}
`
export const SERVICE =
  'apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: other}\nspec: {ports: [{name: http, port: 80}]}\n'
export const ROLE =
  'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: reader}\nrules: []\n'
export const CUSTOM =
  'apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: w\n  labels: {}\nspec:\n  size: 1\n  list: [{a: 1}]\n'
export const kustomization = (text: string): string =>
  `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n${text}`
export const COMPONENT =
  'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: {replicas: 7}\n'
export const substituted = (
  text: string,
  substitute: { readonly [name: string]: string } = { word: 'hello' },
): FluxCase => ({
  files: { 'app/a.yaml': text },
  spec: { postBuild: { substitute } },
})
export const data = (text: string, substitute?: { readonly [name: string]: string }): FluxCase =>
  substituted(config('a', text), substitute)
export const WEB = { 'app/web.yaml': DEPLOYMENT, 'app/service.yaml': SERVICE }
export const OVERLAY = {
  ...WEB,
  'app/kustomization.yaml': kustomization('resources: [web.yaml, service.yaml]\n'),
}
export const over = (
  text: string,
  spec: FluxCase['spec'] = {},
  more: FluxCase['files'] = {},
): FluxCase => ({
  files: {
    ...WEB,
    'app/kustomization.yaml': kustomization(`resources: [web.yaml, service.yaml]\n${text}`),
    ...more,
  },
  spec,
})
export const MERGE =
  'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 5}\n'
export const JSON_PATCH = '- {op: replace, path: /spec/replicas, value: 6}\n'
export const DIGEST = 'sha256:2222222222222222222222222222222222222222222222222222222222222222'

/** A test of each case: the objects are those of Flux, or neither builds them. */
export async function fluxCases(all: {
  readonly [about: string]: { readonly [name: string]: FluxCase }
}): Promise<void> {
  const flux = await openFluxOracle()
  if (flux.state === 'unavailable') {
    test('appliers', { skip: flux.why }, () => undefined)
    return
  }
  after(() => flux.close())
  const sides = new FluxSides(flux)
  for (const [about, cases] of Object.entries(all))
    describe(about, { skip: whyNoKubectl(), concurrency: 2 }, () => {
      for (const [name, each] of Object.entries(cases))
        test(name, async () => {
          const [ours, theirs] = await Promise.all([sides.ours(each), sides.theirs(each)])
          if ('error' in theirs)
            assert.ok(
              'error' in ours,
              `${JSON.stringify(ours)} although Flux says: ${theirs.error}`,
            )
          else assert.deepEqual(ours, theirs)
        })
    })
}
