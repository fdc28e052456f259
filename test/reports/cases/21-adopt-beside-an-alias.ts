/** eemeli/yaml#229, mikefarah/yq#656: the value to write carries an anchor, or is an alias of one. */
import type { ReportCase } from '../lab.ts'

const POD = '/spec/template/spec/containers'
const EDITS = [
  ['anchor', 'configmap/a', '/data/one', 'second'],
  ['alias', 'configmap/a', '/data/two', 'second'],
  ['anchored image', 'deployment/web', `${POD}/0/image`, 'registry.example.com/web:2'],
  ['merged image', 'deployment/web', `${POD}/1/image`, 'registry.example.com/web:2'],
  ['aliased image', 'deployment/web', `${POD}/2/image`, 'registry.example.com/web:2'],
  ['in an aliased list', 'deployment/web', `${POD}/2/env/0/value`, 'slow'],
  ['label beside an anchor', 'deployment/web', '/metadata/labels/extra', 'yes'],
] as const

export const reported: ReportCase = {
  right:
    'Adopt of a value at an anchor, an alias, a merged key or an aliased list changes what was edited and nothing else, or is refused',
  before: 'right',
  async run(lab) {
    await lab.files({ 'web.yaml': WEB(lab.namespace) })
    await lab.serverSide()
    lab.checkQuiet('before', await lab.diff())
    for (const [label, object, path, value] of EDITS) {
      await lab.patch(object, [{ op: path.endsWith('extra') ? 'add' : 'replace', path, value }], {
        type: 'json',
      })
      const { text, said } = await lab.adopt('web.yaml')
      const change = text === undefined ? '' : await lab.wouldChange(text)
      const isRefused = text === undefined && /web\.yaml/.test(said)
      lab.check(
        label,
        isRefused || (text !== undefined && change === ''),
        text === undefined ? said : change || 'adopted is live',
      )
      await lab.forget()
      await lab.serverSide()
      if (label.startsWith('label'))
        await lab.patch(object, [{ op: 'remove', path }], { type: 'json' })
    }
  },
}

const WEB = (namespace: string): string => `apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  namespace: ${namespace}
data:
  one: &v "first"     # the anchor
  two: *v
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: ${namespace}
  labels: &l
    app: web
    tier: front
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: *l
    spec:
      containers:
      - &base
        name: one
        image: &img registry.example.com/web:1
        env: &e
        - name: MODE
          value: fast
      - <<: *base
        name: two
      - name: three
        image: *img
        env: *e
`
