/** Small charts, all in the folder `app`. */
import type { JsonObject } from '@backporch/kyaml/json'
import type { ArgoCase, FileTexts } from '../argo-case.ts'

export const CHART = 'apiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: "4.5"\n'
export const VALUES = `color: blue
count: 1
on: true
text: "1"
empty: {}
none: null
list: [a, b]
nested:
  a: 1
  b: {c: d, e: [1, 2]}
`
/** All values, as JSON. */
export const DUMP = `apiVersion: v1
kind: ConfigMap
metadata:
  name: values
data:
  values: {{ toJson .Values | quote }}
`
export const config = (name: string, data: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  ${data.replaceAll('\n', '\n  ')}\n`
export const WEB = {
  'app/Chart.yaml': CHART,
  'app/values.yaml': VALUES,
  'app/templates/values.yaml': DUMP,
}

/** The chart that shows its values, with options of `spec.source.helm`. */
export const dumped = (
  helm: JsonObject,
  files: FileTexts = {},
  more: Partial<ArgoCase> = {},
): ArgoCase => ({
  files: { ...WEB, ...files },
  ...(Object.keys(helm).length === 0 ? {} : { source: { helm } }),
  ...more,
})
/** A chart with one template. */
export const templated = (
  text: string,
  helm: JsonObject = {},
  files: FileTexts = {},
  more: Partial<ArgoCase> = {},
): ArgoCase => ({
  files: {
    'app/Chart.yaml': CHART,
    'app/values.yaml': VALUES,
    'app/templates/all.yaml': text,
    ...files,
  },
  ...(Object.keys(helm).length === 0 ? {} : { source: { helm } }),
  ...more,
})
/** A ConfigMap with a template in its data. */
export const printed = (
  data: string,
  helm: JsonObject = {},
  files: FileTexts = {},
  more: Partial<ArgoCase> = {},
): ArgoCase => templated(config('printed', data), helm, files, more)
