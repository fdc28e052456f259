/** Charts in charts, and values of other sources. */
import type { ArgoCases, FileTexts } from '../argo-case.ts'
import { CHART, config, DUMP, VALUES, WEB } from './charts.ts'

const shown = (name: string): string => DUMP.replace('name: values', `name: ${name}`)
/** A chart in `charts/`. */
const sub = (name: string, more = '', chart = ''): FileTexts => ({
  [`app/charts/${name}/Chart.yaml`]: `apiVersion: v2\nname: ${name}\nversion: 0.2.0\n${chart}`,
  [`app/charts/${name}/values.yaml`]: `size: 1\nglobal: {from: ${name}}\nexports: {data: {exported: yes-it-is}}\n${more}`,
  [`app/charts/${name}/templates/values.yaml`]: shown(name),
})
const needing = (dependencies: string): FileTexts => ({
  ...WEB,
  'app/Chart.yaml': `${CHART}dependencies:\n${dependencies}`,
})
const ON = 'on: {db: true}\ntags: {back: false}\n'
const REFERENCE = { repoURL: 'https://git.example.com/values.git', ref: 'values' }
const OTHERS = {
  'https://git.example.com/values.git': {
    'prod/web.yaml': 'color: of the other repository\n',
    'prod/shop.yaml': 'count: 6\n',
    'text.txt': 'a text',
  },
}

export const HELM_CHARTS: ArgoCases = {
  'a chart in charts that no dependency names': { files: { ...WEB, ...sub('db') } },
  'a dependency in charts': {
    files: { ...needing('- {name: db, version: 0.2.0}\n'), ...sub('db') },
  },
  'a dependency of another version than the one in charts': {
    files: { ...needing('- {name: db, version: 0.3.0}\n'), ...sub('db') },
  },
  'a dependency that is not there': { files: needing('- {name: db, version: 0.2.0}\n') },
  'a dependency in a folder beside the chart': {
    files: {
      ...needing('- {name: db, version: 0.2.0, repository: "file://../db"}\n'),
      ...Object.fromEntries(
        Object.entries(sub('db')).map(([path, text]) => [path.replace('app/charts/', ''), text]),
      ),
    },
  },
  'values of a chart in charts, and global ones': {
    files: { ...needing('- {name: db, version: ">=0.1.0"}\n'), ...sub('db') },
    source: {
      helm: {
        values: 'db: {size: 2, extra: x}\nglobal: {all: 1}\n',
        parameters: [{ name: 'db.size', value: '3' }],
      },
    },
  },
  'a condition that is false': {
    files: { ...needing('- {name: db, version: 0.2.0, condition: on.db}\n'), ...sub('db') },
    source: { helm: { values: 'on: {db: false}\n' } },
  },
  'a condition that is true, and tags that are not': {
    files: {
      ...needing('- {name: db, version: 0.2.0, condition: "none.x,on.db", tags: [back]}\n'),
      ...sub('db'),
      'app/values.yaml': ON,
    },
  },
  'tags that are false': {
    files: {
      ...needing(
        '- {name: db, version: 0.2.0, tags: [back]}\n- {name: web2, version: 0.2.0, tags: [front, back]}\n',
      ),
      ...sub('db'),
      ...sub('web2'),
      'app/values.yaml': `${ON}`,
    },
  },
  'a condition that is no truth value': {
    files: {
      ...needing('- {name: db, version: 0.2.0, condition: on.db}\n'),
      ...sub('db'),
      'app/values.yaml': 'on: {db: "false"}\n',
    },
  },
  'a condition by a parameter': {
    files: { ...needing('- {name: db, version: 0.2.0, condition: db.enabled}\n'), ...sub('db') },
    source: { helm: { parameters: [{ name: 'db.enabled', value: 'false' }] } },
  },
  'a condition by a parameter that is a text': {
    files: { ...needing('- {name: db, version: 0.2.0, condition: db.enabled}\n'), ...sub('db') },
    source: { helm: { parameters: [{ name: 'db.enabled', value: 'false', forceString: true }] } },
  },
  'an alias twice': {
    files: {
      ...needing(
        '- {name: db, version: 0.2.0, alias: one}\n- {name: db, version: 0.2.0, alias: two, condition: two.on}\n',
      ),
      ...sub('db'),
    },
    source: { helm: { values: 'one: {size: 5}\ntwo: {on: true}\n' } },
  },
  'import-values': {
    files: {
      ...needing(
        '- name: db\n  version: 0.2.0\n  import-values:\n  - data\n  - {child: global, parent: nested.imported}\n',
      ),
      ...sub('db'),
    },
  },
  'a chart in a chart in a chart': {
    files: {
      ...WEB,
      ...sub('db'),
      ...Object.fromEntries(
        Object.entries(sub('disk')).map(([path, text]) => [
          path.replace('app/charts/', 'app/charts/db/charts/'),
          text,
        ]),
      ),
    },
    source: { helm: { values: 'db: {disk: {size: 9}}\n' } },
  },
  'a library chart in charts': {
    files: {
      ...needing('- {name: lib, version: 0.2.0}\n'),
      'app/charts/lib/Chart.yaml': 'apiVersion: v2\nname: lib\nversion: 0.2.0\ntype: library\n',
      'app/charts/lib/templates/_lib.tpl':
        '{{ define "lib.labels" }}lib: {{ .Chart.Name }}{{ end }}',
      'app/charts/lib/templates/no.yaml': config('no', 'a: b'),
      'app/templates/used.yaml': `${config('used', '{{ include "lib.labels" . }}')}`,
    },
  },
  'definitions of a chart in charts': {
    files: {
      ...WEB,
      ...sub('db'),
      'app/charts/db/crds/a.yaml':
        'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.example.com}\n',
    },
  },
  'a template that a chart in charts replaces': {
    files: {
      ...WEB,
      ...sub('db'),
      'app/templates/_x.tpl': '{{ define "x" }}parent{{ end }}',
      'app/charts/db/templates/_x.tpl': '{{ define "x" }}child{{ end }}',
      'app/templates/x.yaml': config('x', 'a: {{ include "x" . }}'),
    },
  },
  'requirements.yaml of the first format': {
    files: {
      ...WEB,
      'app/Chart.yaml': 'apiVersion: v1\nname: web\nversion: 1.0.0\n',
      'app/requirements.yaml': 'dependencies:\n- {name: db, version: 0.2.0, condition: db.on}\n',
      ...sub('db', 'on: false\n'),
    },
  },
  'Chart.lock of something else': {
    files: {
      ...needing('- {name: db, version: 0.2.0}\n'),
      ...sub('db'),
      'app/Chart.lock': 'dependencies: []\ndigest: sha256:0\ngenerated: "2020-01-01T00:00:00Z"\n',
    },
  },
  'a null for a value of a chart in charts': {
    files: { ...WEB, ...sub('db', 'deep: {a: 1, b: 2}\n') },
    source: { helm: { valuesObject: { db: { size: null, deep: { a: null } } } } },
  },
  'values of the parent for a chart in charts, and value files over them': {
    files: {
      ...WEB,
      'app/values.yaml': `${VALUES}db: {size: 4, deep: {a: parent}}\n`,
      ...sub('db', 'deep: {a: 1, b: 2}\n'),
      'app/more.yaml': 'db: {deep: {b: file}}\n',
    },
    source: { helm: { valueFiles: ['more.yaml'] } },
  },
  'values of another source': {
    files: WEB,
    others: OTHERS,
    sources: [
      {
        path: 'app',
        helm: { valueFiles: ['$values/prod/web.yaml', '$values/prod/$ARGOCD_APP_NAME.yaml'] },
      },
      REFERENCE,
    ],
  },
  'values of the same repository by a reference': {
    files: { ...WEB, 'values/a.yaml': 'color: same\n' },
    sources: [{ path: 'app', helm: { valueFiles: ['$here/values/a.yaml'] } }, { ref: 'here' }],
  },
  'a file of another source': {
    files: WEB,
    others: OTHERS,
    sources: [
      REFERENCE,
      { path: 'app', helm: { fileParameters: [{ name: 'color', path: '$values/text.txt' }] } },
    ],
  },
  'a missing file of another source that may be missing': {
    files: WEB,
    others: OTHERS,
    sources: [
      {
        path: 'app',
        helm: {
          valueFiles: ['$values/none.yaml', '$values/prod/web.yaml'],
          ignoreMissingValueFiles: true,
        },
      },
      REFERENCE,
    ],
  },
  'a missing file of another source': {
    files: WEB,
    others: OTHERS,
    sources: [{ path: 'app', helm: { valueFiles: ['$values/none.yaml'] } }, REFERENCE],
  },
  'a reference that no source has': {
    files: WEB,
    others: OTHERS,
    sources: [{ path: 'app', helm: { valueFiles: ['$other/prod/web.yaml'] } }, REFERENCE],
  },
  'a file out of another source': {
    files: WEB,
    others: OTHERS,
    sources: [{ path: 'app', helm: { valueFiles: ['$values/../../x.yaml'] } }, REFERENCE],
  },
  'a reference with one source only': {
    files: { ...WEB, 'app/$values/a.yaml': 'color: literal\n' },
    sources: [{ path: 'app', helm: { valueFiles: ['$values/a.yaml'] } }],
  },
  'a reference in spec.source': {
    files: { ...WEB, 'app/a.yaml': 'color: literal\n' },
    source: { helm: { valueFiles: ['$values/a.yaml'] } },
  },
  'a reference that has a path too': {
    files: { ...WEB, 'plain/a.yaml': config('plain', 'a: b') },
    sources: [
      { path: 'app', helm: { valueFiles: ['$plain/plain/a.yaml'] } },
      { path: 'plain', ref: 'plain' },
    ],
  },
  'two charts with one object': {
    files: {
      ...WEB,
      ...Object.fromEntries(
        Object.entries(WEB).map(([path, text]) => [
          path.replace('app/', 'two/'),
          text.replace('color: blue', 'color: two'),
        ]),
      ),
    },
    sources: [{ path: 'app' }, { path: 'two' }],
  },
  'empty options of Helm in one of several sources': {
    files: {
      'app/a.yaml': config('a', 'x: y'),
      ...Object.fromEntries(
        Object.entries(WEB).map(([path, text]) => [path.replace('app/', 'chart/'), text]),
      ),
    },
    sources: [{ path: 'chart', helm: {} }, { path: 'app' }],
  },
  'a folder without a chart with empty options of Helm in one of several sources': {
    files: { 'app/a.yaml': config('a', 'x: y') },
    sources: [{ path: 'app', helm: {} }, { path: 'app' }],
  },
  'value files of a chart deeper in the repository': {
    files: {
      ...Object.fromEntries(
        Object.entries(WEB).map(([path, text]) => [path.replace('app/', 'charts/web/'), text]),
      ),
      'env/prod.yaml': 'color: prod\n',
    },
    source: { path: 'charts/web', helm: { valueFiles: ['../../env/prod.yaml', '/env/prod.yaml'] } },
  },
  'the root of the repository is the chart': {
    files: Object.fromEntries(
      Object.entries(WEB).map(([path, text]) => [path.replace('app/', ''), text]),
    ),
    source: { path: '.' },
  },
}
