/** What Flux builds of a folder, compared with Flux's own code. */
import {
  COMPONENT,
  CUSTOM,
  config,
  DIGEST,
  fluxCases,
  JSON_PATCH,
  kustomization,
  MERGE,
  OVERLAY,
  over,
  ROLE,
  WEB,
} from '../../../test/appliers/flux-cases.ts'

await fluxCases({
  'a folder without a kustomization': {
    'one file': { files: { 'app/a.yaml': config('a') } },
    'nested folders': {
      files: {
        'app/b/c/x.yaml': config('x'),
        'app/b/y.yml': config('y'),
        'app/a.yaml': config('a'),
        'app/b.yaml': config('b'),
      },
    },
    'a nested folder with its own kustomization': {
      files: {
        'app/a.yaml': config('a'),
        'app/n/kustomization.yml': 'namePrefix: n-\nresources: [in.yaml]\n',
        'app/n/in.yaml': config('in'),
        'app/n/not-listed.yaml': config('not-listed'),
        'app/n/deep/d.yaml': config('d'),
      },
    },
    'a nested folder with a Kustomization by its third name': {
      files: {
        'app/n/Kustomization': 'resources: [in.yaml]\n',
        'app/n/in.yaml': config('in'),
        'app/n/out.yaml': config('out'),
      },
    },
    'two kustomizations nested in each other': {
      files: {
        'app/n/kustomization.yaml': 'resources: [in.yaml, m]\n',
        'app/n/in.yaml': config('in'),
        'app/n/m/kustomization.yaml': 'nameSuffix: -m\nresources: [deep.yaml]\n',
        'app/n/m/deep.yaml': config('deep'),
      },
    },
    'a component nested in it': { files: { ...WEB, 'app/c/kustomization.yaml': COMPONENT } },
    'files of other extensions': {
      files: {
        'app/a.yaml': config('a'),
        'app/b.json': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"j"}}',
        'app/README.md': '# x',
        'app/c.YAML': config('c'),
        'app/d.yaml.bak': config('d'),
        'app/.hidden.yaml': config('hidden'),
        'app/.yaml': config('dot'),
        'app/.folder/e.yml': config('e'),
      },
    },
    'a folder whose name is that of a file': {
      files: { 'app/x.yaml/a.yaml': config('a'), 'app/kustomization.yaml.d/b.yaml': config('b') },
    },
    'many documents in one file': {
      files: { 'app/a.yaml': `${config('a')}---\n---\n${config('b')}---\n# nothing\n` },
    },
    'a list of objects': {
      files: {
        'app/a.yaml': `apiVersion: v1\nkind: List\nitems:\n- ${config('a').replaceAll('\n', '\n  ').trim()}\n- ${config('b').replaceAll('\n', '\n  ').trim()}\n`,
      },
    },
    'an empty file': { files: { 'app/a.yaml': config('a'), 'app/empty.yaml': '' } },
    'a file of comments': { files: { 'app/a.yaml': config('a'), 'app/empty.yaml': '# nothing\n' } },
    'a file that is no YAML': { files: { 'app/a.yaml': config('a'), 'app/bad.yaml': 'a: b: c\n' } },
    'a file that is no object': {
      files: { 'app/a.yaml': config('a'), 'app/values.yaml': 'size: 5\n' },
    },
    'an object without a name': {
      files: { 'app/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: x-}\n' },
    },
    'the same object twice': {
      files: { 'app/a.yaml': config('a'), 'app/b.yaml': config('a', 'c: d') },
    },
    'the same name in two namespaces': {
      files: {
        'app/a.yaml': config('a', 'a: b', '  namespace: one\n'),
        'app/b.yaml': config('a', 'a: b', '  namespace: two\n'),
      },
    },
    'the same name in two namespaces that become one': {
      files: {
        'app/a.yaml': config('a', 'a: b', '  namespace: one\n'),
        'app/b.yaml': config('a', 'a: b', '  namespace: two\n'),
      },
      spec: { targetNamespace: 'x' },
    },
    'a kustomization of Flux and a Kustomization of kustomize by another name': {
      files: {
        'app/a.yaml': config('a'),
        'app/flux.yaml':
          'apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: x}\nspec: {path: ./x}\n',
        'app/overlay.yaml':
          'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nmetadata: {name: k}\nresources: []\n',
      },
    },
    'no files at all': { files: { 'app/README.md': 'x' } },
    'no files at all, with a namespace': {
      files: { 'app/README.md': 'x' },
      spec: { targetNamespace: 'x', namePrefix: 'p-' },
    },
    'the root of the repository': {
      files: { 'a.yaml': config('a'), 'app/b.yaml': config('b') },
      spec: { path: './' },
    },
    'the root without a path': {
      files: { 'a.yaml': config('a'), 'app/b.yaml': config('b') },
      spec: { path: '' },
    },
    'local configuration': {
      files: {
        'app/a.yaml': config(
          'a',
          'a: b',
          '  annotations: {config.kubernetes.io/local-config: "true"}\n',
        ),
        'app/b.yaml': config('b'),
      },
    },
    'scalars that YAML reads in many ways': {
      files: {
        'app/a.yaml':
          'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {a: yes, b: 010, c: 1e3, d: 0x1f, e: 1.0, f: ~, g: 2001-01-01, h: "on", i: 1_000, j: .5, k: 12345678901234567890, l: 1:30, m: no, n: off, o: 0o17}\n',
      },
    },
    anchors: { files: { 'app/a.yaml': config('a', 'a: &x b\nc: *x') } },
    'lines of Windows': { files: { 'app/a.yaml': config('a', 'a: b').replaceAll('\n', '\r\n') } },
    'kinds of the cluster and of a namespace': {
      files: { ...WEB, 'app/role.yaml': ROLE, 'app/custom.yaml': CUSTOM },
      spec: { targetNamespace: 'shop', namePrefix: 'a-', nameSuffix: '-z' },
    },
    'a namespace object': {
      files: {
        'app/a.yaml': config('a', 'a: b', '  namespace: one\n'),
        'app/n.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: one}\n',
      },
      spec: { targetNamespace: 'two' },
    },
    'references by name': {
      files: {
        'app/a.yaml': config('settings'),
        'app/pod.yaml':
          'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, image: b, envFrom: [{configMapRef: {name: settings}}]}]}\n',
      },
      spec: { namePrefix: 'x-', nameSuffix: '-y' },
    },
  },
  'an existing kustomization': {
    'as it is': { files: OVERLAY },
    'targetNamespace over its own namespace': over('namespace: mine\n', {
      targetNamespace: 'theirs',
    }),
    'its own namespace': over('namespace: mine\n'),
    'namePrefix and nameSuffix over its own': over('namePrefix: a-\nnameSuffix: -b\n', {
      namePrefix: 'x-',
    }),
    'empty texts do not count': over('namespace: mine\nnamePrefix: a-\n', {
      targetNamespace: '',
      namePrefix: '',
      nameSuffix: '',
    }),
    'images of both': over(
      'images:\n- {name: nginx, newTag: "2.0"}\n- {name: example.com/log, newName: mirror/log}\n',
      {
        images: [{ name: 'nginx', newTag: '3.0' }],
      },
    ),
    'an image of the resource replaces the whole entry': over(
      'images:\n- {name: nginx, newName: mirror/nginx, newTag: "2.0"}\n',
      {
        images: [{ name: 'nginx', newTag: '3.0' }],
      },
    ),
    'an image with a digest over a tag': over('images:\n- {name: nginx, newTag: "2.0"}\n', {
      images: [{ name: 'nginx', digest: DIGEST }],
    }),
    'an image with another name': over('', {
      images: [
        { name: 'nginx', newName: 'mirror/nginx' },
        { name: 'example.com/log', newTag: '9', newName: 'log' },
      ],
    }),
    'an image twice in the resource': over('', {
      images: [
        { name: 'nginx', newTag: '2' },
        { name: 'nginx', newTag: '3' },
      ],
    }),
    'an image twice in the file': over(
      'images:\n- {name: nginx, newTag: "2.0"}\n- {name: nginx, newTag: "2.1"}\n',
      {
        images: [{ name: 'nginx', newName: 'x' }],
      },
    ),
    'an image that nothing has': over('', { images: [{ name: 'redis', newTag: '2' }] }),
    'a tag that YAML reads as a number': over('images:\n- {name: nginx, newTag: 1.27}\n'),
    'a tag with a zero at its end': over('images:\n- {name: nginx, newTag: 1.20}\n'),
    'a tag that YAML reads as an integer': over('images:\n- {name: nginx, newTag: 12345678}\n'),
    'a tag that YAML reads as an exponent': over('images:\n- {name: nginx, newTag: 12e5}\n'),
    'labels that are no texts': over(
      'commonLabels: {count: 5, x: yes}\nlabels:\n- {pairs: {index: 1.5, create: true, none: ~}, includeTemplates: true}\ncommonAnnotations: {m: 1}\n',
    ),
    'a label whose key YAML reads as a boolean': over('commonLabels: {on: x}\n'),
    'numbers in other forms': over(
      'commonAnnotations: {a: 0x1f, b: 010, c: 0o17, d: 1_000, e: 1.0, f: .5, g: -0.00001, h: 123456.7, i: 1234567.5, j: 1e21, k: +5, l: 12345678901234567, m: 6482e10, p: 100000.0, o: 1000000.0}\n',
    ),
    'a number in a list of texts': over(
      '',
      {},
      { 'app/kustomization.yaml': 'resources: [1]\n', 'app/1': config('a') },
    ),
    'a name that is a number': over('namespace: 123\nnamePrefix: 5\n'),
    'replicas and options that are no texts': over(
      'replicas:\n- {name: web, count: 4}\nconfigMapGenerator:\n- {name: g, literals: [a=b], options: {disableNameSuffixHash: true, immutable: true, labels: {x: 1}}}\ngeneratorOptions: {disableNameSuffixHash: true}\n',
    ),
    'generators with a hash': over(
      'configMapGenerator:\n- {name: g, literals: [a=b], files: [x=note.txt]}\nsecretGenerator:\n- {name: s, literals: [a=b], type: Opaque}\n',
      { namePrefix: 'p-' },
      { 'app/note.txt': 'hello\n' },
    ),
    'patches of both': over(
      `patches:\n- target: {kind: Service}\n  patch: |-\n    - {op: replace, path: /spec/ports/0/port, value: 81}\n`,
      { patches: [{ patch: MERGE }] },
    ),
    'patches of both at the same field': over(
      `patches:\n- target: {kind: Deployment}\n  patch: |-\n    - {op: replace, path: /spec/replicas, value: 2}\n`,
      { patches: [{ patch: MERGE }] },
    ),
    'a patch in a file': over(
      'patches:\n- path: p.yaml\n',
      { patches: [{ patch: JSON_PATCH, target: { kind: 'Deployment' } }] },
      { 'app/p.yaml': MERGE },
    ),
    'patchesStrategicMerge and patchesJson6902 of the file': over(
      `patchesStrategicMerge:\n- p.yaml\npatchesJson6902:\n- target: {group: apps, version: v1, kind: Deployment, name: web}\n  patch: |-\n    - {op: add, path: /spec/paused, value: true}\n`,
      {},
      { 'app/p.yaml': MERGE },
    ),
    'fields of older versions of the resource': over('', {
      patchesStrategicMerge: [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'web' },
          spec: { replicas: 9 },
        },
      ],
      patchesJson6902: [
        {
          target: { kind: 'Deployment', name: 'web' },
          patch: [{ op: 'replace', path: '/spec/replicas', value: 8 }],
        },
      ],
    }),
    'components of both': over(
      'components: [c]\n',
      { components: ['../d'] },
      {
        'app/c/kustomization.yaml': COMPONENT,
        'd/kustomization.yaml': `${COMPONENT.replace('replicas: 7', 'minReadySeconds: 3')}`,
      },
    ),
    'buildMetadata of its own': over('buildMetadata: [originAnnotations]\n'),
    'buildMetadata with transformers': over(
      'buildMetadata: [transformerAnnotations, managedByLabel]\n',
      { namePrefix: 'x-' },
    ),
    'no resources': over(
      '',
      {},
      {
        'app/kustomization.yaml': kustomization(
          'configMapGenerator:\n- {name: g, literals: [a=b]}\n',
        ),
      },
    ),
    'bases instead of resources': over(
      '',
      {},
      {
        'app/kustomization.yaml': kustomization('bases: [../base]\n'),
        'base/kustomization.yaml': 'resources: [a.yaml]\n',
        'base/a.yaml': config('a'),
      },
    ),
    'no resources, and other metadata': over(
      '',
      {},
      {
        'app/kustomization.yaml': kustomization(
          'buildMetadata: [managedByLabel]\nconfigMapGenerator:\n- {name: g, literals: [a=b]}\n',
        ),
      },
    ),
    'an empty file': over('', {}, { 'app/kustomization.yaml': '' }),
    'a file that is no YAML': over('', {}, { 'app/kustomization.yaml': 'a: b: c\n' }),
    'a file that is a list': over('', {}, { 'app/kustomization.yaml': '- a\n' }),
    'a file that is a text': over('', {}, { 'app/kustomization.yaml': 'hello\n' }),
    'a file of two documents': over(
      '',
      {},
      { 'app/kustomization.yaml': 'resources: [web.yaml]\n---\nresources: [service.yaml]\n' },
    ),
    'lines of Windows': over(
      '',
      { namePrefix: 'x-' },
      {
        'app/kustomization.yaml': kustomization(
          'resources:\n- web.yaml\nnamespace: a\n',
        ).replaceAll('\n', '\r\n'),
      },
    ),
    'two kustomizations': over('', {}, { 'app/kustomization.yml': 'resources: [web.yaml]\n' }),
    'a field that is not known': over('hello: world\n'),
    'a field that is not known below': over(
      'images:\n- {name: nginx, newTag: "2", hello: world}\n',
    ),
    'fields with other letters': over(
      '',
      { namePrefix: 'x-' },
      { 'app/kustomization.yaml': 'Resources: [web.yaml]\nNameSuffix: -s\n' },
    ),
    'a field twice': over('namespace: one\nnamespace: two\n'),
    'null fields': over('namePrefix:\nimages: null\npatches: ~\n', {
      images: [{ name: 'nginx', newTag: '3' }],
    }),
    anchors: over('images:\n- &x {name: nginx, newTag: "2"}\n- {<<: *x, name: example.com/log}\n'),
    'a field of another type': over('images: nginx\n'),
    'another kind': over(
      '',
      {},
      { 'app/kustomization.yaml': 'apiVersion: v1\nkind: Other\nresources: [web.yaml]\n' },
    ),
    'a component': over('', {}, { 'app/kustomization.yaml': COMPONENT }),
    'a base outside of the folder': over(
      '',
      { namePrefix: 'x-' },
      {
        'app/kustomization.yaml': 'resources: [../base]\n',
        'base/kustomization.yaml': 'resources: [a.yaml]\nnamespace: b\n',
        'base/a.yaml': config('a'),
      },
    ),
    'a base without a kustomization': over(
      '',
      {},
      { 'app/kustomization.yaml': 'resources: [../base]\n', 'base/a.yaml': config('a') },
    ),
    'a missing resource': over('', {}, { 'app/kustomization.yaml': 'resources: [gone.yaml]\n' }),
    'a resource outside of the repository': over(
      '',
      {},
      { 'app/kustomization.yaml': 'resources: [../../x.yaml]\n' },
    ),
    'vars and replacements': over(
      'replacements:\n- source: {kind: Service, name: web, fieldPath: spec.ports.0.port}\n  targets:\n  - select: {kind: Deployment}\n    fieldPaths: [spec.minReadySeconds]\n    options: {create: true}\n',
    ),
    sortOptions: over('sortOptions: {order: legacy}\n'),
    'labels with selectors': over('labels:\n- {pairs: {team: shop}, includeSelectors: true}\n', {
      namePrefix: 'x-',
    }),
  },
})
