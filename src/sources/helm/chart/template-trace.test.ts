import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldPath, formatFieldPath, parseFieldPath } from '@backporch/kyaml/field'
import { TemplateTrace } from './template-trace.ts'

const HELPERS = `{{- define "web.labels" -}}
app: web
tier: {{ .Values.tier | default "front" }}
{{- end }}
{{- define "web.image" -}}
{{ printf "%s:%s" .image.name (.image.tag | default .root.Chart.AppVersion) }}
{{- end }}
`
const DEPLOYMENT = `{{- $limits := .Values.limits -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
  labels: {{- include "web.labels" . | nindent 4 }}
spec:
  {{- if .Values.fixed }}
  replicas: {{ .Values.replicas }}
  {{- end }}
  paused: false
  template:
    spec:
      containers:
      - name: side
        image: example.com/side:1
      - name: app
        image: {{ include "web.image" (dict "image" .Values.image "root" $) | quote }}
        resources:
          limits: {{- toYaml $limits | nindent 12 }}
        env:
        {{- range $name, $value := .Values.env }}
        - name: {{ $name }}
          value: {{ $value | quote }}
        {{- end }}
      {{- with .Values.scheduling }}
      nodeSelector:
        {{- toYaml .nodes | nindent 8 }}
      {{- end }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-other
spec:
  replicas: {{ index .Values "other-web" "replicas" }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-dense
spec:
  template:
    spec:
      containers:
      - name: dense
        image: example.com/dense:1
        env:
        {{- toYaml .Values.extraEnvs | nindent 8 }}
        ports:
        - name: http
          containerPort: 80
        {{- toYaml .Values.extraPorts | nindent 8 }}
        {{- toYaml .Values.moreFields | nindent 8 }}
`

function pathOf(text: string): FieldPath {
  const read = parseFieldPath(text)
  if ('problem' in read) throw new TypeError(read.problem)
  return read.path
}

function traced(field: string, name = 'shop-web', folder = 'web'): readonly string[] {
  const files = {
    [`${folder}/templates/_helpers.tpl`]: HELPERS,
    [`${folder}/templates/all.yaml`]: DEPLOYMENT,
  }
  const sources = new Map(
    Object.entries(files).map(([path, text]) => [
      path,
      { path, mode: '100644' as const, content: new TextEncoder().encode(text) },
    ]),
  )
  const trace = new TemplateTrace({ folder: 'web', files: sources })
  const question = {
    template: `${folder}/templates/all.yaml`,
    id: { kind: 'Deployment', name },
    field: pathOf(field),
  }
  return trace.listWriters(question).map(({ path, line, isField, refs, rest }) => {
    const shown = [
      refs.map(formatFieldPath).join(' '),
      rest.length === 0 ? '' : `+${formatFieldPath(rest)}`,
    ]
    return [`${path.slice(path.lastIndexOf('/') + 1)}:${line}${isField ? '' : '~'}`, ...shown]
      .filter((each) => each !== '')
      .join(' ')
  })
}

test('traces a field to the template line that writes it, with the values that the line reads', () => {
  assert.deepEqual(traced('spec.replicas'), ['all.yaml:9 replicas'])
  assert.deepEqual(traced('spec.paused'), ['all.yaml:11'])
  assert.deepEqual(traced('spec.replicas', 'shop-other'), ['all.yaml:36 other-web.replicas'])
})

test('follows named templates with the values passed to them', () => {
  assert.deepEqual(traced('metadata.labels.tier'), ['_helpers.tpl:3 tier'])
  assert.deepEqual(traced('metadata.labels.app'), ['_helpers.tpl:2'])
  assert.deepEqual(traced('spec.template.spec.containers[name=app].image'), [
    'all.yaml:18 image image.name image.tag',
  ])
})

test('identifies a list item by name, and traces output of toYaml into its value', () => {
  assert.deepEqual(traced('spec.template.spec.containers[name=side].image'), ['all.yaml:16'])
  assert.deepEqual(traced('spec.template.spec.containers[name=app].resources.limits.cpu'), [
    'all.yaml:20~ limits +cpu',
  ])
  assert.deepEqual(traced('spec.template.spec.nodeSelector.disk'), [
    'all.yaml:28~ scheduling.nodes +disk',
  ])
})

test('traces an item written by range to a path for any item', () => {
  assert.deepEqual(traced('spec.template.spec.containers[name=app].env[name=COLOR].value'), [
    'all.yaml:24 env[*]',
  ])
})

test('output at the indentation of a list key may be its items or sibling keys', () => {
  const container = 'spec.template.spec.containers[name=dense]'
  assert.deepEqual(traced(`${container}.env[name=COLOR].value`, 'shop-dense'), [
    'all.yaml:49~ extraEnvs +[name=COLOR].value',
  ])
  assert.deepEqual(traced(`${container}.ports[name=http].containerPort`, 'shop-dense'), [
    'all.yaml:52',
  ])
  assert.deepEqual(traced(`${container}.ports[name=more].containerPort`, 'shop-dense'), [
    'all.yaml:53~ extraPorts +[name=more].containerPort',
    'all.yaml:54~ moreFields +[name=more].containerPort',
  ])
  assert.deepEqual(traced(`${container}.env`, 'shop-dense'), ['all.yaml:48 extraEnvs'])
  assert.deepEqual(traced(`${container}.workingDir`, 'shop-dense'), [
    'all.yaml:49~ extraEnvs +workingDir',
    'all.yaml:53~ extraPorts +workingDir',
    'all.yaml:54~ moreFields +workingDir',
  ])
})

test('values of a dependency are below its name', () => {
  assert.deepEqual(traced('spec.replicas', 'shop-web', 'web/charts/cache'), [
    'all.yaml:9 cache.replicas',
  ])
})

test('names the nearest line above a field that no line writes', () => {
  assert.deepEqual(traced('spec.minReadySeconds'), ['all.yaml:7~ +minReadySeconds'])
})
