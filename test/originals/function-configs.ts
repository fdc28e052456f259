/** Configs for the functions of the catalog, right and wrong ones, beside which the odd packages are rendered. */
import { BESIDE, BESIDE_LABELLED, BESIDE_UPSERTED, NOT_JSON } from './beside-objects.ts'
import {
  type FunctionConfig,
  type FunctionConfigs,
  file,
  LOCAL,
  map,
  own,
} from './config-entries.ts'
import { GOOGLE_CONFIGS } from './google-configs.ts'

const context = (data: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kptfile.kpt.dev, ${LOCAL}}\ndata: ${data}\n`
const replacements = (source: string, target: string): FunctionConfig =>
  own(
    'ApplyReplacements',
    `replacements:\n- source: ${source}\n  targets:\n  - ${target.replaceAll('\n', '\n    ')}\n`,
  )

const list = (...items: readonly string[]): FunctionConfig =>
  file(
    `apiVersion: v1\nkind: List\nmetadata: {name: several, ${LOCAL}}\nitems:\n${items.map((item) => `- ${item}\n`).join('')}`,
  )
const second = (metadata: string, data: string): string =>
  `{apiVersion: v1, kind: ConfigMap, metadata: {name: second, namespace: dev${metadata}}, data: ${data}}`
const inFile = (path: string): string =>
  `, annotations: {config.kubernetes.io/target-path: ${path}}`

const FROM_PLAIN = '{kind: ConfigMap, name: src, fieldPath: data.plain}'
const FROM_QUOTED = '{kind: ConfigMap, name: src, fieldPath: data.quoted}'
const FROM_NUMBER = '{kind: ConfigMap, name: src, fieldPath: data.number}'
const FROM_NAMESPACE = '{kind: ConfigMap, name: src, fieldPath: metadata.namespace}'

export const FUNCTION_CONFIGS: { readonly [name: string]: FunctionConfigs } = {
  'set-namespace': {
    working: [
      map({ namespace: 'prod' }),
      map({ namespace: 'dev' }),
      map({ namespace: 'prod', namespaceMatcher: 'dev' }),
      map({ namespace: 'prod', namespaceMatcher: 'default' }),
      file(context('{name: prod}')),
      file(context('{name: prod, namespace: value}')),
      own('SetNamespace', 'namespace: prod\n'),
      own('SetNamespace', 'namespace: prod\nnamespaceMatcher: other\n'),
      own('SetNamespace', 'namespace: prod\ndata: {namespaceMatcher: dev}\n'),
      own(
        'SetNamespace',
        'namespace: prod\nadditionalNamespaceFields:\n- kind: Widget\n  path: spec/namespace\n  create: true\n- path: spec/service/namespace\n',
      ),
      own(
        'SetNamespaceConfig',
        'namespace: prod\nfieldSpecs:\n- kind: Widget\n  group: example.com\n  path: metadata/namespace\n  create: true\n',
      ),
    ],
    wrong: [
      map({ namespace: '' }),
      map({ other: 'prod' }),
      {},
      file(context('{}')),
      own('SetNamespace', 'namespace: 7\n'),
      own('SetNamespace', ''),
      own('SetNamespace', 'namespace: prod\nadditionalNamespaceFields: []\nfieldSpecs: []\n'),
      own('SetLabels', 'labels: {a: b}\n'),
    ],
  },
  'set-labels': {
    working: [
      map({ app: 'db' }),
      map({ app: 'web', tier: 'front', site: '1' }),
      map({ 'example.com/team': 'on' }),
      map({ empty: '' }),
      own('SetLabels', 'labels:\n  app: db\n  version: "2"\n'),
    ],
    wrong: [
      {},
      own('SetLabels', 'labels: {}\n'),
      own('SetLabels', 'labels: {app: 7}\n'),
      own('SetLabels', 'other: {app: db}\n'),
      own('SetAnnotations', 'annotations: {a: b}\n'),
    ],
  },
  'set-label': {
    working: [
      map({ app: 'db' }),
      map({ app: 'web', tier: 'front', site: '1' }),
      map({ 'example.com/team': 'on', a: 'x: y', b: '12:30', c: '0x1F', d: '1.0' }),
      map({ empty: '' }),
      file(
        `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, ${LOCAL}}\ndata: {app: 7, b: yes, c: ~, d: "line\\nline"}\n`,
      ),
      own('SetLabelConfig', 'labels:\n  app: db\n  version: "2"\n'),
      own('SetLabelConfig', 'labels: {app: on, number: "017"}\nfieldSpecs: []\nother: 1\n'),
      own(
        'SetLabelConfig',
        'labels: {app: db}\nfieldSpecs:\n- kind: Widget\n  group: example.com\n  version: v1\n  path: spec/selector\n- path: "spec/list[]/labels"\n',
      ),
      own(
        'SetLabelConfig',
        'labels: {app: db}\nfieldSpecs: [{path: spec/new/labels, kind: Widget, create: true}]\n',
      ),
      own(
        'SetLabelConfig',
        'labels: {app: db}\nfieldSpecs: [{path: spec/list/labels, kind: Widget, create: true}]\n',
      ),
      own(
        'SetLabelConfig',
        'labels: {app: db}\nfieldSpecs: [{path: metadata\\/labels, kind: Widget}, {path: metadata/annotations, version: v2}]\n',
      ),
    ],
    wrong: [
      {},
      own('SetLabelConfig', ''),
      own('SetLabelConfig', 'labels: {}\n'),
      own('SetLabelConfig', 'labels: [a]\n'),
      file(`apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, ${LOCAL}}\ndata: {1: x}\n`),
      map({ true: 'x' }),
      map({ on: 'x', '12:30': 'y' }),
      own('SetLabelConfig', 'labels: {app: 7}\n'),
      own('SetLabelConfig', 'labels: {app: true, b: ~}\n'),
      own('SetLabelConfig', 'labels: {app: {a: b}}\n'),
      own('SetLabels', 'labels: {app: db}\n'),
      own('SetLabelConfig', 'labels: {a: b}\nfieldSpecs: {path: spec}\n'),
      own(
        'SetLabelConfig',
        'labels: {a: b}\nadditionalLabelFields: [{path: spec/new, create: true}]\n',
      ),
      ...[
        '""',
        'metadata/name',
        '/spec/selector',
        '"spec/list[]"',
        'spec/numbers',
        'spec/lines/x',
      ].map((path) =>
        own('SetLabelConfig', `labels: {a: b}\nfieldSpecs: [{path: ${path}, create: true}]\n`),
      ),
      own(
        'SetLabelConfig',
        'labels: {a: b}\nfieldSpecs: [{path: spec/selector, create: "true"}]\n',
      ),
    ],
    beside: BESIDE_LABELLED,
  },
  'set-annotations': {
    working: [
      map({ owner: 'team' }),
      map({ a: '1', 'example.com/b': 'true' }),
      map({ empty: '' }),
      own('SetAnnotations', 'annotations:\n  owner: team\n  z: "1"\n'),
      own(
        'SetAnnotations',
        'annotations: {owner: team}\nadditionalAnnotationFields:\n- kind: Widget\n  group: example.com\n  version: v1\n  path: spec/annotations\n  create: true\n',
      ),
    ],
    wrong: [
      {},
      own('SetAnnotations', 'annotations: {}\n'),
      own('SetAnnotations', 'annotations: {a: 7}\n'),
      own('SetLabels', 'labels: {a: b}\n'),
      map({ a: 'on', b: '1.0', c: 'x: y', owner: 'a\nb' }),
      own(
        'SetAnnotationConfig',
        'annotations: {a: "yes", owner: ~}\nfieldSpecs: [{path: spec/template/annotations}]\n',
      ),
      own(
        'SetAnnotations',
        'annotations: {a: b}\nfieldSpecs: []\nadditionalAnnotationFields: []\n',
      ),
      ...['""', 'metadata/name', 'data', '"spec/containers[]/annotations"'].map((path) =>
        own(
          'SetAnnotations',
          `annotations: {a: b}\nadditionalAnnotationFields: [{path: ${path}, create: true}]\n`,
        ),
      ),
    ],
  },
  'set-image': {
    working: [
      map({ name: 'nginx', newTag: '2' }),
      map({ name: 'nginx', newName: 'reg.example.com/nginx' }),
      map({ name: 'nginx', newName: 'apache', newTag: 'v3' }),
      map({
        name: 'nginx',
        digest: 'sha256:3333333333333333333333333333333333333333333333333333333333333333',
      }),
      map({ name: 'reg/proxy', newTag: '1.1' }),
      map({ name: 'none', newTag: '2' }),
      map({ name: 'localhost:5000/nginx', newTag: '2' }),
      own('SetImage', 'image:\n  name: nginx\n  newTag: "2"\n'),
      own(
        'SetImage',
        'image: {name: nginx, newName: apache}\nadditionalImageFields:\n- kind: Widget\n  group: example.com\n  version: v1\n  path: spec/image\n- kind: Widget\n  path: spec/containers[]/image\n  create: true\n',
      ),
      map({ name: 'ngin.', newTag: '2' }),
      file(
        `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, ${LOCAL}}\ndata: {name: nginx, newTag: 2, other: x, newName: ~}\n`,
      ),
      own(
        'SetImage',
        'Image: {NAME: nginx, newtag: "2"}\nimage: ~\nIMAGE: {name: nginx, newTag: "3"}\n',
      ),
      own(
        'SetImage',
        'image: {name: nginx, newTag: "2"}\nadditionalImageFields: [{path: "spec/list[]/name"}, {path: spec/list/other}]\n',
      ),
      own(
        'SetImage',
        'image: {name: nginx, newTag: "2"}\nadditionalImageFields: [{path: spec/none, version: v2}, {path: "spec/none[]/x"}]\n',
      ),
    ],
    wrong: [
      map({ name: '(', newTag: '2' }),
      file(
        `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, ${LOCAL}}\ndata: {name: {a: b}, newTag: "2"}\n`,
      ),
      file(`apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, ${LOCAL}}\n`),
      ...['spec/image/x', '/spec/image', 'spec/list', 'spec//x', ''].map((path) =>
        own(
          'SetImage',
          `image: {name: nginx, newTag: "2"}\nadditionalImageFields: [{path: ${path}, version: v2}]\n`,
        ),
      ),
      own('SetImage', 'image: {name: nginx, newTag: "2"}\nadditionalImageFields: [{path: 7}]\n'),
      own(
        'SetImage',
        'image: {name: nginx, newTag: "2"}\nadditionalImageFields: [{path: spec/image, create: "true"}]\n',
      ),
      own('SetImage', 'image: [nginx]\n'),
      ...[
        '80: x',
        '<<: {b: c}',
        'a: 1, a: 2',
        'a: .inf',
        'true: x',
        'a: !!int x',
        '~: x',
        'on: x, "80": y',
      ].map((extra) => own('SetImage', `image: {name: nginx, newTag: "2"}\nextra: {${extra}}\n`)),
      map({ newTag: '2' }),
      map({ name: 'nginx' }),
      map({
        name: 'nginx',
        newTag: '2',
        digest: 'sha256:3333333333333333333333333333333333333333333333333333333333333333',
      }),
      {},
      own('SetImage', 'image: {name: nginx, newTag: 7}\n'),
      own('SetLabels', 'labels: {a: b}\n'),
    ],
    beside: NOT_JSON,
  },
  'search-replace': {
    working: [
      map({ 'by-value': 'value', 'put-value': 'new' }),
      map({ 'by-value': '80', 'put-value': '443' }),
      map({ 'by-value-regex': '^v(.*)e$', 'put-value': 'w${1}d' }),
      map({ 'by-value-regex': 'nginx:(.*)', 'put-value': 'apache:${1}' }),
      map({ 'by-path': 'spec.replicas', 'put-value': '5' }),
      map({ 'by-path': 'metadata.namespace', 'put-value': 'prod' }),
      map({ 'by-path': 'spec.template.spec.containers[*].image', 'put-value': 'apache:2' }),
      map({ 'by-path': 'spec.**.name', 'put-value': 'new' }),
      map({ 'by-path': 'data.*', 'put-value': 'true' }),
      map({ 'by-path': 'spec.ports[0].port', 'put-value': '81' }),
      map({ 'by-path': 'data.new', 'put-value': 'on', 'by-file-path': 'one.yaml' }),
      map({ 'by-path': 'metadata.labels.new', 'put-value': 'a: b', 'by-file-path': '**/*.yaml' }),
      map({ 'by-value': 'dev', 'put-comment': 'kpt-set: ${namespace}' }),
      map({ 'by-value': 'value', 'by-path': 'data.plain', 'put-value': 'x', 'put-comment': 'why' }),
      map({ 'by-path': '**.containers', 'put-comment': 'kpt-set: ${list}' }),
      map({ 'by-path': '**.verbs', 'put-comment': 'kpt-set: ${list}', 'put-value': 'x' }),
      map({ 'by-value-regex': '(dev|prod)', 'put-comment': 'kpt-set: ${ns}-${1}\nmore\n# again' }),
      map({ 'by-value-regex': '^(.)(.*)$', 'by-path': 'data.*', 'put-value': '${2}\n${1}' }),
      map({ 'by-value-regex': '^(?s)(.)(.*)$', 'by-path': 'metadata.*', 'put-value': ' ${2}: # ' }),
      map({
        'by-value-regex': '',
        'by-path': 'metadata.annotations.new',
        'put-value': 'line 1\nline 2\n',
      }),
      map({ 'by-path': 'metadata.annotations.config.kubernetes', 'put-value': '12:30:45' }),
      map({ 'by-path': 'spec.new.deep', 'put-value': '~' }),
      map({ 'by-path': 'spec.list', 'put-value': '[a, b]' }),
      map({ 'by-path': 'spec.list', 'put-value': '- a' }),
      map({ 'by-path': 'data.new', 'put-value': '2001-01-01' }),
      map({ 'by-path': 'data.plain', 'put-value': '0x1F', 'by-file-path': '{one,three}.y*ml' }),
      map({ 'by-path': 'data.plain', 'put-value': '1_000', 'by-file-path': 'sub/[!a]*' }),
      map({ 'by-path': 'data.number', 'put-value': '"quoted' }),
      map({ 'by-path': 'spec.containers.0.image', 'put-value': '&a *b' }),
      map({ 'by-path': 'metadata.labels.app', 'put-value': 'Yes' }),
      map({ 'by-path': 'metadata.labels.app', 'put-value': '# no comment' }),
      map({ 'by-path': 'metadata.name', 'put-value': '!!str x' }),
      map({ 'by-path': 'spec.ports.-.port', 'put-value': ' .5 ' }),
    ],
    wrong: [
      map({ 'by-value': 'value', 'by-value-regex': 'v.*', 'put-value': 'x' }),
      map({ 'by-value-regex': '(', 'put-value': 'x' }),
      map({ 'by-value': 'value' }),
      map({ 'by-value-regex': 'v', 'by-path': 'data.*', 'put-value': '${1}' }),
      map({ 'by-path': 'metadata.name', 'put-value': 'x', 'by-file-path': '{a' }),
      map({ 'by-path': 'metadata.name.deep', 'put-value': 'x' }),
      map({ 'by-name': 'web', 'put-value': 'x' }),
      map({ 'put-value': 'x' }),
      {},
      own('SearchReplace', 'by-value: value\n'),
    ],
  },
  'apply-setters': {
    working: [
      map({ value: 'new', namespace: 'prod' }),
      map({ port: '81', replicas: '5', pods: '20' }),
      map({ name: 'shop', value: 'v1', port: '443' }),
      map({ image: 'apache', tag: '2.0' }),
      map({ list: '[a, b, c]' }),
      map({ list: '- a\n- "80"\n' }),
      map({ list: '[]' }),
      map({ value: '' }),
      map({ port: 'on', value: '1.50' }),
      map({ tag: 'latest' }),
      map({ namespace: 'prod', value: '${namespace}' }),
      file(
        `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: setters, ${LOCAL}}\ndata:\n  value: new\n  list: |\n    - one\n    - two\n`,
      ),
      file(
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: setters}\ndata: {value: new} # kpt-set: ${value}\n',
      ),
    ],
    wrong: [map({ unused: 'x' }), {}, own('ApplySetters', 'setters: {value: new}\n')],
  },
  'create-setters': {
    working: [
      map({ a: 'value' }),
      map({ name: 'web', ns: 'dev' }),
      map({ port: '80' }),
      map({ image: 'nginx', tag: '1.0' }),
      map({ list: '[value, dev]' }),
      map({ list: '- value\n- dev\n', value: 'value' }),
      map({ list: '[web]', one: 'web' }),
      map({ host: 'value.example.com', value: 'value' }),
      map({ e: 'value', x: 'e', dev: 'dev' }),
      map({ letter: 'e', list: '[a, b]' }),
      map({ block: 'value 1\nvalue 2\n', line: 'value' }),
      map({ hash: '#', colon: ':' }),
      map({ flag: 'true', number: '3', version: 'v1' }),
      map({ none: '[]', map: '{a: b}', name: 'web' }),
      file(
        `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: setters, ${LOCAL}}\ndata: {a: value, b: "80"}\n`,
      ),
    ],
    wrong: [
      map({ empty: '' }),
      map({ none: 'nowhere' }),
      {},
      own('CreateSetters', 'setters: {a: value}\n'),
    ],
  },
  'ensure-name-substring': {
    working: [
      map({ prepend: 'prod-' }),
      map({ append: '-prod' }),
      map({ prepend: 'w' }),
      map({ prepend: 'a-', append: '-b' }),
      own('EnsureNameSubstring', 'substring: prod-\neditMode: prepend\n'),
      own('EnsureNameSubstring', 'substring: -prod\neditMode: append\n'),
      own(
        'EnsureNameSubstring',
        'substring: prod-\neditMode: prepend\nfieldSpecs:\n- path: spec/storageClassName\n  kind: Widget\n',
      ),
    ],
    wrong: [
      map({ prepend: '' }),
      map({ other: 'x' }),
      {},
      own('EnsureNameSubstring', 'substring: prod-\n'),
      own('SetLabels', 'labels: {a: b}\n'),
    ],
  },
  ...GOOGLE_CONFIGS,
  'upsert-resource': {
    working: [
      file(
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: dev\ndata:\n  new: "1"\n',
      ),
      file('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web # again\ndata: {new: 1}\n'),
      file(
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: dev}\nspec: {replicas: 7}\n',
      ),
      file(
        'apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: fresh\n  annotations: {owner: value}\nspec: {a: [1, 2]}\n',
      ),
      file(`apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: dev, ${LOCAL}}\n`),
      file('apiVersion: v1\nkind: Namespace\nmetadata:\n  name: dev\n  labels: {a: b}\n'),
      file(
        'apiVersion: v1\nkind: List\nmetadata: {name: several}\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: web, namespace: dev}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: fresh}\n',
      ),
      file('apiVersion: fn.kpt.dev/v1alpha1\nkind: UpsertResource\nmetadata: {name: web}\n'),
      file(`${second('', '{c: d}')}\n`),
      list(second('', '{c: d}')),
      list(second('', '{c: d}'), second('', '{e: f}')),
      list(
        '{apiVersion: v1, kind: ConfigMap, metadata: {name: fresh}}',
        '{apiVersion: v1, kind: ConfigMap, metadata: {name: fresh}, data: {a: b}}',
      ),
      list(second(inFile('beside.yaml'), '{c: d}')),
      list(second(inFile('one.yaml'), '{c: d}')),
      list(second(inFile('new/file.yaml'), '{c: d}')),
      list('{apiVersion: example.com/v2, kind: Widget, metadata: {name: marked}}'),
      list(
        second(
          ', annotations: {none: null, number: 7, text: "7", config.k8s.io/function: x}',
          '{c: d}',
        ),
      ),
    ],
    wrong: [
      map({ a: 'b' }),
      {},
      list(),
      list('{data: {a: b}}'),
      list('{apiVersion: v1, kind: ConfigMap}'),
      list('7'),
    ],
    beside: BESIDE_UPSERTED,
  },
  'apply-replacements': {
    working: [
      replacements(FROM_PLAIN, 'select: {kind: Deployment}\nfieldPaths: [metadata.namespace]'),
      replacements(
        FROM_PLAIN,
        "select: {kind: Deployment}\nfieldPaths: ['spec.template.spec.containers.[name=web].image']",
      ),
      replacements(FROM_QUOTED, 'select: {kind: Deployment}\nfieldPaths: [spec.replicas]'),
      replacements(FROM_NUMBER, 'select: {kind: ConfigMap}\nfieldPaths: [data.quoted]'),
      replacements(
        FROM_QUOTED,
        'select: {kind: Deployment}\nfieldPaths: [metadata.labels.x]\noptions: {create: true}',
      ),
      replacements(
        FROM_NUMBER,
        'select: {kind: Service}\nfieldPaths: [metadata.labels.x]\noptions: {create: true}',
      ),
      replacements(
        FROM_PLAIN,
        "select: {kind: Deployment}\nfieldPaths: ['spec.template.spec.containers.*.image']",
      ),
      replacements(FROM_NAMESPACE, 'select: {kind: RoleBinding}\nfieldPaths: [metadata.namespace]'),
      replacements(
        FROM_NAMESPACE,
        'select: {kind: Widget}\nfieldPaths: [spec.new.deep]\noptions: {create: true}',
      ),
      replacements(
        '{kind: Deployment, name: target, fieldPath: "spec.template.spec.containers.[name=web].image", options: {delimiter: ":", index: 1}}',
        "select: {kind: StatefulSet}\nfieldPaths: ['spec.template.spec.containers.0.image']\noptions: {delimiter: ':', index: 1}",
      ),
      replacements(
        FROM_PLAIN,
        "select: {kind: Ingress}\nfieldPaths: ['spec.rules.0.host', 'metadata.annotations.kubernetes\\.io/ingress\\.class']",
      ),
      replacements(
        FROM_PLAIN,
        "select: {kind: Ingress}\nfieldPaths: ['spec.rules.0.host']\noptions: {delimiter: ., index: -1}",
      ),
      replacements(
        FROM_PLAIN,
        'select: {name: web}\nreject:\n- kind: Deployment\n- namespace: dev\nfieldPaths: [metadata.labels.app]\noptions: {create: true}',
      ),
      replacements(
        '{kind: ConfigMap, name: src, fieldPath: metadata.labels}',
        'select: {kind: Service}\nfieldPaths: [metadata.labels]',
      ),
      replacements(
        '{kind: ConfigMap, fieldPath: data.plain}',
        'select: {kind: Service}\nfieldPaths: [metadata.name]',
      ),
      replacements(
        '{kind: Deployment, name: target, fieldPath: spec.template.spec.containers}',
        'select: {kind: Pod}\nfieldPaths: [spec.containers, spec.initContainers]\noptions: {create: true}',
      ),
      replacements(
        FROM_QUOTED,
        "select: {name: target}\nfieldPaths: [metadata.labels.x, metadata.name]\noptions: {delimiter: '-', index: 1, create: true}",
      ),
      replacements(
        FROM_PLAIN,
        "select: {kind: Deployment}\nfieldPaths: ['spec.template.spec.containers.[name=new].image']\noptions: {create: true}",
      ),
      replacements(FROM_PLAIN, 'select: {kind: Ser.*}\nfieldPaths: [metadata.name]'),
      replacements(
        FROM_NUMBER,
        'select: {kind: ConfigMap, name: src}\nfieldPaths: [data.json.a.b]',
      ),
      replacements('{kind: Service, name: target}', 'select: {kind: Ingress}'),
    ],
    wrong: [
      replacements('{kind: Nothing, name: none}', 'select: {kind: Service}'),
      own('ApplyReplacements', 'replacements: []\n'),
      own('ApplyReplacements', 'replacements:\n- source: {kind: Service, name: web}\n'),
      map({ a: 'b' }),
      {},
    ],
    beside: BESIDE,
  },
}
