/** Where a value is authored in a kustomization that Flux applies: what Adopt writes, or why it is refused. The table of src/sources/kustomize/README.md is made of it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { SyncedWorld } from '../../../../test/fakes/synced-world.ts'
import { yaml } from '../../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../../test/kpt/find-kubectl.ts'
import { VALUE_ORIGINS } from '../../../../test/sources/value-origins.ts'

const GIT = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {ref: {branch: main}, url: "ssh://git@/deploy"}
`
const flux = (name: string, path: string, more = ''): string =>
  `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ${name}
  namespace: flux-system
spec:
  path: ./${path}
  sourceRef: {kind: GitRepository, name: flux-system}
${more}`
const CONFIG = `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  namespace: shop
data:
  size: "5"
`
const SETTINGS = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: flux-system
data:
  size: "5"
`
const BASE = {
  'base/kustomization.yaml': 'resources:\n- config.yaml\n',
  'base/config.yaml': CONFIG,
  'prod/kustomization.yaml': 'resources:\n- ../base\n',
}
const SHARED = { 'test/kustomization.yaml': 'namespace: test\nresources:\n- ../base\n' }
const patch = (size: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\ndata: {size: "${size}"}\n`
const fromMap = '  postBuild:\n    substituteFrom:\n    - {kind: ConfigMap, name: settings}\n'
const fromSecret = fromMap.replace('ConfigMap', 'Secret')
const variable = {
  'prod/kustomization.yaml': 'resources: [config.yaml]\n',
  'prod/config.yaml': CONFIG.replace('"5"', '${size}'),
}
const other = (_name: string): { readonly [path: string]: string } => ({
  'blog/config.yaml': CONFIG.replace('"5"', '${size}').replace('name: web', 'name: blog'),
  'clusters/prod/blog.yaml': flux('blog', 'blog', fromMap),
})

interface Origin {
  readonly files: { readonly [path: string]: string }
  /** Of the Kustomization. */
  readonly spec?: string
  /** Beside the Kustomizations. */
  readonly resources?: readonly string[]
  readonly name?: string
}

const ORIGINS: { readonly [Name in keyof typeof VALUE_ORIGINS]: Origin } = {
  'a manifest': { files: BASE },
  'a manifest that another overlay reads too': { files: { ...BASE, ...SHARED } },
  'a component that another overlay has too': {
    files: {
      ...BASE,
      'sized/kustomization.yaml':
        'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: size.yaml}]\n',
      'sized/size.yaml': patch('5'),
      'base/config.yaml': CONFIG.replace('"5"', '"4"'),
      'prod/kustomization.yaml': 'resources:\n- ../base\ncomponents:\n- ../sized\n',
      'test/kustomization.yaml': 'resources:\n- ../base\ncomponents:\n- ../sized\n',
    },
  },
  'a patch': {
    files: {
      ...BASE,
      'base/config.yaml': CONFIG.replace('"5"', '"4"'),
      'prod/kustomization.yaml': 'resources:\n- ../base\npatches:\n- path: size.yaml\n',
      'prod/size.yaml': patch('5'),
    },
  },
  'a patch, after another one of the field': {
    files: {
      ...BASE,
      'base/config.yaml': CONFIG.replace('"5"', '"3"'),
      'prod/kustomization.yaml':
        'resources:\n- ../base\npatches:\n- path: first.yaml\n- path: last.yaml\n',
      'prod/first.yaml': patch('4'),
      'prod/last.yaml': patch('5'),
    },
  },
  '`configMapGenerator`, with the hash in the name': {
    files: {
      'prod/kustomization.yaml':
        'namespace: shop\nconfigMapGenerator:\n- name: web\n  literals:\n  - size=5\n',
    },
    name: 'web-',
  },
  '`configMapGenerator`, without the hash': {
    files: {
      'prod/kustomization.yaml':
        'namespace: shop\nconfigMapGenerator:\n- name: web\n  literals:\n  - size=5\n  options: {disableNameSuffixHash: true}\n',
    },
  },
  '`replacements`': {
    files: {
      ...BASE,
      'base/config.yaml': `${CONFIG.replace('"5"', '"4"')}---\n${SETTINGS.replace('flux-system', 'shop')}`,
      'prod/kustomization.yaml':
        'resources:\n- ../base\nreplacements:\n- source: {kind: ConfigMap, name: settings, fieldPath: data.size}\n  targets:\n  - select: {kind: ConfigMap, name: web}\n    fieldPaths: [data.size]\n',
    },
    resources: [SETTINGS.replace('flux-system', 'shop')],
  },
  '`postBuild.substitute`': {
    files: variable,
    spec: '  postBuild:\n    substitute:\n      size: "5"\n',
  },
  'a ConfigMap of `substituteFrom` in the repository': {
    files: { ...variable, 'clusters/prod/settings.yaml': SETTINGS },
    spec: fromMap,
    resources: [SETTINGS],
  },
  'a ConfigMap of `substituteFrom` that another Kustomization reads too': {
    files: { ...variable, 'clusters/prod/settings.yaml': SETTINGS, ...other('blog') },
    spec: fromMap,
    resources: [SETTINGS],
  },
  'a ConfigMap of `substituteFrom` that no file declares': {
    files: variable,
    spec: fromMap,
    resources: [SETTINGS],
  },
  'a Secret of `substituteFrom`': {
    files: variable,
    spec: fromSecret,
    resources: [SETTINGS.replace('kind: ConfigMap', 'kind: Secret').replace('"5"', 'NQ==')],
  },
}

describe('a value of a Flux Kustomization that is authored in', { skip: whyNoKubectl() }, () => {
  for (const [name, outcome] of Object.entries(VALUE_ORIGINS))
    test(name, async () => {
      const { files, spec, resources = [], name: prefix } = ORIGINS[name as keyof typeof ORIGINS]
      const own = flux('prod', 'prod', spec)
      const system = flux('flux-system', 'clusters/prod')
      const world = new SyncedWorld(
        {
          'clusters/prod/sync.yaml': `${GIT}---\n${system}`,
          'clusters/prod/prod.yaml': own,
          ...files,
        },
        ['kubectl'],
      )
      const at = prefix === undefined ? 'web' : 'web-c5km4k2k7h'
      for (const text of [GIT, system, own]) world.cluster.put(yaml(text))
      for (const text of [CONFIG.replace('name: web', `name: ${at}`), ...resources])
        world.cluster.put(appliedBy('kustomize-controller', yaml(text)))
      const adopted = await world
        .adopted({ key: `/ConfigMap/shop/${at}`, unit: 'prod' }, 'data.size', '6')
        .then(Object.keys, (thrown: unknown) => {
          if (!(thrown instanceof Failure)) throw thrown
          return { where: thrown.where, why: thrown.why }
        })
      assert.deepEqual(adopted, outcome)
    })
})
