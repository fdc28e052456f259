/** What the fields of a Flux Kustomization change, compared with Flux's own code. */
import {
  COMPONENT,
  CUSTOM,
  config,
  fluxCases,
  JSON_PATCH,
  MERGE,
  OVERLAY,
  substituted,
  WEB,
} from '../../../test/appliers/flux-cases.ts'

await fluxCases({
  'patches of the resource': {
    'a strategic patch finds its object by its name': {
      files: WEB,
      spec: { patches: [{ patch: MERGE }] },
    },
    'a strategic patch of an object that is not there': {
      files: WEB,
      spec: { patches: [{ patch: MERGE.replace('name: web', 'name: gone') }] },
    },
    'a strategic patch with a target': {
      files: WEB,
      spec: {
        patches: [
          {
            patch: MERGE.replace('name: web', 'name: any'),
            target: { kind: 'Deployment', labelSelector: 'app=web' },
          },
        ],
      },
    },
    'a strategic patch deletes': {
      files: WEB,
      spec: {
        patches: [
          {
            patch:
              'apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: other}\n$patch: delete\n',
          },
        ],
      },
    },
    'a strategic patch of a list by its key': {
      files: WEB,
      spec: {
        patches: [
          {
            patch:
              'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: app, env: [{name: A, value: b}]}, {name: log, $patch: delete}]}}}\n',
          },
        ],
      },
    },
    'a JSON patch': {
      files: WEB,
      spec: { patches: [{ patch: JSON_PATCH, target: { kind: 'Deployment' } }] },
    },
    'a JSON patch as JSON': {
      files: WEB,
      spec: {
        patches: [
          {
            patch: '[{"op":"add","path":"/metadata/labels/x~1y","value":"z"}]',
            target: { group: 'apps', version: 'v1', kind: 'Deployment', name: 'web' },
          },
        ],
      },
    },
    'a JSON patch by a regular expression': {
      files: { ...WEB, 'app/a.yaml': config('a-1'), 'app/b.yaml': config('a-2') },
      spec: {
        patches: [
          {
            patch: '- {op: add, path: /data/x, value: "1"}',
            target: { kind: 'ConfigMap', name: 'a-.*' },
          },
        ],
      },
    },
    'a JSON patch by namespace and annotation': {
      files: WEB,
      spec: {
        patches: [
          { patch: '- {op: remove, path: /spec/ports/0/name}', target: { namespace: 'other' } },
          {
            patch: '- {op: test, path: /spec/replicas, value: 1}',
            target: { annotationSelector: 'note=own' },
          },
        ],
      },
    },
    'a JSON patch of a field that is not there': {
      files: WEB,
      spec: {
        patches: [
          {
            patch: '- {op: replace, path: /spec/gone/x, value: 1}',
            target: { kind: 'Deployment' },
          },
        ],
      },
    },
    'a JSON patch without a target': { files: WEB, spec: { patches: [{ patch: JSON_PATCH }] } },
    'a patch that is no patch': { files: WEB, spec: { patches: [{ patch: 'hello' }] } },
    'an empty patch': {
      files: WEB,
      spec: { patches: [{ patch: '', target: { kind: 'Deployment' } }] },
    },
    'two patches in order': {
      files: WEB,
      spec: { patches: [{ patch: MERGE }, { patch: JSON_PATCH, target: { kind: 'Deployment' } }] },
    },
    'a patch of a name before the prefix': {
      files: WEB,
      spec: { namePrefix: 'x-', patches: [{ patch: MERGE }] },
    },
    'a patch of a custom kind': {
      files: { 'app/c.yaml': CUSTOM },
      spec: {
        patches: [
          {
            patch:
              'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: null, list: [{b: 2}]}\n',
          },
        ],
      },
    },
    'a patch that renames': {
      files: WEB,
      spec: {
        patches: [
          {
            patch: '- {op: replace, path: /metadata/name, value: other}',
            target: { kind: 'Deployment' },
          },
        ],
      },
    },
    'a patch with options, which the resource does not have': {
      files: WEB,
      spec: {
        patches: [
          {
            patch: '- {op: replace, path: /metadata/name, value: other}',
            target: { kind: 'Deployment', hello: 'world' },
            options: { allowNameChange: true },
            path: 'x.yaml',
          },
        ],
      },
    },
    'a patch of two documents': {
      files: WEB,
      spec: {
        patches: [{ patch: `${MERGE}---\n${MERGE.replace('replicas: 5', 'paused: true')}` }],
      },
    },
  },
  'components of the resource': {
    one: { files: { ...WEB, 'c/kustomization.yaml': COMPONENT }, spec: { components: ['../c'] } },
    'one in the folder, which is an entry too': {
      files: { ...OVERLAY, 'app/c/kustomization.yaml': COMPONENT },
      spec: { components: ['c'] },
    },
    missing: { files: OVERLAY, spec: { components: ['../c'] } },
    'missing and ignored': {
      files: OVERLAY,
      spec: { components: ['../c', './d/'], ignoreMissingComponents: true },
    },
    'one of two is missing and ignored': {
      files: { ...OVERLAY, 'c/kustomization.yaml': COMPONENT },
      spec: { components: ['../c', 'gone'], ignoreMissingComponents: true },
    },
    'a folder without a kustomization is not missing': {
      files: { ...OVERLAY, 'c/x.txt': '' },
      spec: { components: ['../c'], ignoreMissingComponents: true },
    },
    'the folder itself is not missing': {
      files: OVERLAY,
      spec: { components: ['.'], ignoreMissingComponents: true },
    },
    'a file is not missing': {
      files: { ...OVERLAY, 'c.yaml': config('c') },
      spec: { components: ['../c.yaml'], ignoreMissingComponents: true },
    },
    elsewhere: {
      files: OVERLAY,
      spec: { components: ['https://example.invalid/x'], ignoreMissingComponents: true },
    },
    absolute: { files: OVERLAY, spec: { components: ['/nowhere'], ignoreMissingComponents: true } },
    'outside of the repository': {
      files: OVERLAY,
      spec: { components: ['../../../../../../../../tmp'], ignoreMissingComponents: true },
    },
    'with resources': {
      files: {
        ...WEB,
        'c/kustomization.yaml':
          'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [a.yaml]\nnamespace: comp\n',
        'c/a.yaml': config('a'),
      },
      spec: { components: ['../c'], targetNamespace: 'x' },
    },
    'no component': {
      files: { ...WEB, 'c/kustomization.yaml': 'resources: []\n' },
      spec: { components: ['../c'] },
    },
  },
  commonMetadata: {
    'over labels and annotations': {
      files: WEB,
      spec: {
        commonMetadata: { labels: { app: 'shop', team: 'x' }, annotations: { note: 'theirs' } },
      },
    },
    'without labels': { files: WEB, spec: { commonMetadata: { annotations: { note: 'theirs' } } } },
    empty: { files: WEB, spec: { commonMetadata: {} } },
    'of objects with empty metadata': {
      files: { 'app/a.yaml': config('a', 'a: b', '  labels: {}\n  annotations:\n') },
      spec: { commonMetadata: { labels: { a: 'b' } } },
    },
    'is not substituted': {
      files: WEB,
      spec: {
        commonMetadata: { labels: { app: '${word}' } },
        postBuild: { substitute: { word: 'x' } },
      },
    },
    'over a label that substitution makes a number': {
      ...substituted(config('a', 'a: b', '  labels:\n    n: ${n}\n    m: x\n'), { n: '5' }),
      spec: { commonMetadata: { labels: { a: 'b' } }, postBuild: { substitute: { n: '5' } } },
    },
  },
})
