import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import {
  changedLines,
  changeIn,
  editedTexts,
  refused,
} from '../../../../test/fakes/adoption-samples.ts'
import {
  APPLY_SETTERS,
  CATALOG,
  settersConfig,
  webKptfile,
} from '../../../../test/fakes/pipeline-files.ts'
import { whyNoKpt } from '../../../../test/kpt/find-kpt.ts'
import { withPrograms } from '../../../../test/render-corpus/catalog-packages.ts'
import {
  buildFunctionPrograms,
  type FunctionPrograms,
  runKptRender,
} from '../../../../test/render-corpus/run-kpt-render.ts'

const WEB = {
  Kptfile: webKptfile(`${APPLY_SETTERS}    - image: ${CATALOG}/set-namespace:v0.4.6
      configMap: {namespace: dev # kpt-set: \${ns}
      }
`),
  'setters.yaml': settersConfig('  ns: dev\n  tag: "1.4"\n'),
  'config.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
data:
  target: dev # kpt-set: \${ns}
  image: "shop/web:1.4" # kpt-set: shop/web:\${tag}
`,
  'service.yaml':
    'apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  type: ClusterIP\n',
}

type Texts = Readonly<Record<string, string>>

interface Case {
  readonly name: string
  readonly texts: Texts
  readonly changes: readonly (readonly [kind: string, path: string, live: Json | undefined])[]
  /** Lines that differ between the renders of the edited and of the unedited package. */
  readonly lines: Readonly<Record<string, readonly string[]>>
}

const CASES: readonly Case[] = [
  {
    name: 'a setter',
    texts: WEB,
    changes: [['ConfigMap', 'data.image', 'shop/web:1.5']],
    lines: {
      'config.yaml': [
        '-  image: "shop/web:1.4" # kpt-set: shop/web:${tag}',
        '+  image: "shop/web:1.5" # kpt-set: shop/web:${tag}',
      ],
      'setters.yaml': ['-  tag: "1.4"', '+  tag: "1.5"'],
    },
  },
  {
    name: 'two setters of which a third field uses both',
    texts: {
      Kptfile: webKptfile(APPLY_SETTERS),
      'setters.yaml': settersConfig('  host: shop\n  domain: example.com\n'),
      'config.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  host: shop # kpt-set: ${host}\n  domain: example.com # kpt-set: ${domain}\n  url: shop.example.com # kpt-set: ${host}.${domain}\n',
    },
    changes: [
      ['ConfigMap', 'data.host', 'store'],
      ['ConfigMap', 'data.domain', 'example.org'],
      ['ConfigMap', 'data.url', 'store.example.org'],
    ],
    lines: {
      'config.yaml': [
        '-  host: shop # kpt-set: ${host}',
        '-  domain: example.com # kpt-set: ${domain}',
        '-  url: shop.example.com # kpt-set: ${host}.${domain}',
        '+  host: store # kpt-set: ${host}',
        '+  domain: example.org # kpt-set: ${domain}',
        '+  url: store.example.org # kpt-set: ${host}.${domain}',
      ],
      'setters.yaml': [
        '-  host: shop',
        '-  domain: example.com',
        '+  host: store',
        '+  domain: example.org',
      ],
    },
  },
  {
    name: 'an item added to the list of a setter',
    texts: {
      Kptfile: webKptfile(APPLY_SETTERS),
      'setters.yaml': settersConfig('  hosts: |\n    - one\n    - two\n'),
      'route.yaml':
        'apiVersion: example.com/v1\nkind: Route\nmetadata:\n  name: web\nspec:\n  hosts: # kpt-set: ${hosts}\n  - one\n  - two\n',
    },
    changes: [['Route', 'spec.hosts', ['one', 'two', 'three']]],
    lines: { 'route.yaml': ['+  - three'], 'setters.yaml': ['+    - three'] },
  },
  {
    name: 'an anchor whose uses all drifted alike',
    texts: {
      Kptfile: webKptfile(APPLY_SETTERS),
      'setters.yaml': settersConfig('  host: shop\n'),
      'config.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  first: &color blue\n  second: *color\n  host: shop # kpt-set: ${host}\n',
    },
    changes: [
      ['ConfigMap', 'data.second', 'green'],
      ['ConfigMap', 'data.first', 'green'],
    ],
    lines: { 'config.yaml': ['-  first: &color blue', '+  first: &color green'] },
  },
  {
    name: 'the port of a Service, which is the key of its item',
    texts: {
      Kptfile: webKptfile(APPLY_SETTERS),
      'setters.yaml': settersConfig('  port: "80"\n'),
      'service.yaml':
        'apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports:\n  - name: http # the shop\n    port: 80 # kpt-set: ${port}\n    targetPort: 8080\n',
    },
    changes: [
      ['Service', 'spec.ports[port=80,protocol=TCP]', undefined],
      [
        'Service',
        'spec.ports[port=81,protocol=TCP]',
        { name: 'http', port: 81, protocol: 'TCP', targetPort: 8080 },
      ],
    ],
    lines: {
      'service.yaml': ['-    port: 80 # kpt-set: ${port}', '+    port: 81 # kpt-set: ${port}'],
      'setters.yaml': ['-  port: "80"', '+  port: "81"'],
    },
  },
  {
    name: 'a setter in an applied ConfigMap',
    texts: {
      Kptfile: webKptfile(APPLY_SETTERS),
      'setters.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: setters\ndata:\n  replicas: "3"\n',
      'deployment.yaml':
        'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3 # kpt-set: ${replicas}\n',
    },
    changes: [['Deployment', 'spec.replicas', 5]],
    lines: {
      'deployment.yaml': [
        '-  replicas: 3 # kpt-set: ${replicas}',
        '+  replicas: 5 # kpt-set: ${replicas}',
      ],
      'setters.yaml': ['-  replicas: "3"', '+  replicas: "5"'],
    },
  },
  {
    name: 'quantities that the server stores as strings',
    texts: {
      Kptfile: webKptfile(APPLY_SETTERS),
      'setters.yaml': settersConfig('  pods: "10"\n'),
      'quota.yaml':
        'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: web\nspec:\n  hard:\n    pods: 10 # kpt-set: ${pods}\n    services: 7\n',
    },
    changes: [
      ['ResourceQuota', 'spec.hard.pods', '20'],
      ['ResourceQuota', 'spec.hard.services', '9'],
    ],
    lines: {
      'quota.yaml': [
        '-    pods: 10 # kpt-set: ${pods}',
        '-    services: 7',
        '+    pods: 20 # kpt-set: ${pods}',
        '+    services: 9',
      ],
      'setters.yaml': ['-  pods: "10"', '+  pods: "20"'],
    },
  },
]

describe('kpt renders an adopted package twice', { skip: whyNoKpt() }, () => {
  let programs: FunctionPrograms
  before(async () => {
    programs = await buildFunctionPrograms()
  })
  after(() => programs.remove())

  /** The package after one render and after two. */
  async function renderedTwice(texts: Texts): Promise<readonly [Texts, Texts]> {
    const first = await runKptRender(withPrograms(texts), programs)
    assert.ok(first.ok, first.text)
    const second = await runKptRender(first.files, programs)
    assert.ok(second.ok, second.text)
    return [first.files, second.files]
  }

  for (const { name, texts, changes, lines } of CASES)
    it(`gives the live values in both renders and changes nothing else: ${name}`, async () => {
      const unedited = await renderedTwice(texts)
      const edited = await renderedTwice(
        editedTexts(
          texts,
          ...changes.map(([kind, path, live]) => changeIn(texts, kind, path, live)),
        ),
      )
      for (const [number, files] of edited.entries())
        assert.deepEqual(changedLines(unedited[number] as Texts, files), lines)
      assert.deepEqual(edited[1], edited[0])
    })

  it('moves every object to another namespace in the second render of the rejected edit', async () => {
    const { why } = refused(WEB, changeIn(WEB, 'ConfigMap', 'data.target', 'prod'))
    assert.match(
      why,
      /metadata\.namespace of ConfigMap dev\/web and metadata\.namespace of Service dev\/web when the package is rendered a second time/,
    )
    const [first, second] = await renderedTwice({
      ...WEB,
      'setters.yaml': WEB['setters.yaml'].replace('ns: dev', 'ns: prod'),
    })
    for (const path of ['config.yaml', 'service.yaml']) {
      assert.match(first[path] ?? '', /\n {2}namespace: dev\n/)
      assert.match(second[path] ?? '', /\n {2}namespace: prod\n/)
    }
  })
})
