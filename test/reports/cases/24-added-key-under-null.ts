/** eemeli/yaml#88: a key is added below a map that git has as null, as `{}`, or as a flow map over several lines. */
import type { ReportCase } from '../lab.ts'

const COMMENTS = ['# none yet', '# none', '# open', '# args are below', '# last comment']

export const reported: ReportCase = {
  right:
    'keys and items added below null, {} and [] are adopted as they are live, and every comment stays',
  before: 'right',
  async run(lab) {
    await lab.files({ 'all.yaml': ALL(lab.namespace) })
    await lab.serverSide()
    lab.checkQuiet('before', await lab.diff())
    await lab.patch('configmap/a', {
      metadata: { labels: { team: 'x' }, annotations: { note: 'y' } },
      data: { k: 'v' },
    })
    await lab.patch('configmap/b', { data: { two: '2' } })
    const env = [{ name: 'A', value: '1' }]
    const web = {
      name: 'web',
      env,
      args: ['--one', '--two'],
      resources: { limits: { memory: '1Gi' } },
    }
    await lab.patch('deployment/web', { spec: { template: { spec: { containers: [web] } } } })
    const { text, said } = await lab.adopt('all.yaml')
    const change = text === undefined ? said : await lab.wouldChange(text)
    lab.check(
      'adopted',
      text !== undefined && change === '',
      change === '' ? 'adopted is live' : change,
    )
    const gone = COMMENTS.filter((comment) => text?.includes(comment) !== true)
    lab.check('comments', gone.length === 0, gone.length === 0 ? 'comments stay' : `gone: ${gone}`)
  },
}

const ALL = (namespace: string): string => `apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  namespace: ${namespace}
  labels:      # none yet
  annotations: {}   # none
data:
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: ${namespace}}
data: {   # open
  one: "1",
}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ${namespace}}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: registry.example.com/web:1
        env: []
        # args are below
        args:
        - --one
        # last comment
        resources:
          limits:
`
