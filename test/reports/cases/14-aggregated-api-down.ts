/** argoproj/argo-cd#18213: an APIService whose backend is not there. */
import { type ReportCase, tell } from '../lab.ts'
import { configMap } from '../manifests.ts'

export const reported: ReportCase = {
  right:
    'beside a dead API everything else is compared; an object of the dead API is unreadable, never missing',
  before: 'right',
  async run(lab) {
    const group = `${lab.namespace}.example.com`
    const service = `{name: nobody, namespace: ${lab.namespace}}`
    const spec = `{group: ${group}, version: v1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true, service: ${service}}`
    const api = `apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.${group}}\nspec: ${spec}\n`
    await lab.pipe(api, 'apply', '-f', '-')
    try {
      await lab.files({ 'c.yaml': configMap(lab.namespace, 'a: "1"') })
      await lab.serverSide()
      lab.checkQuiet('beside it', await lab.diff())
      const gauge = `apiVersion: ${group}/v1\nkind: Gauge\nmetadata: {name: g, namespace: ${lab.namespace}}\nspec: {x: 1}\n`
      await lab.files({ 'gauge.yaml': gauge })
      await lab.patch('configmap/c', { data: { a: '2' } })
      const diff = await lab.diff()
      const isRight =
        [1, 3].includes(diff.code) && diff.lines.length === 1 && /data\.a/.test(diff.lines.join())
      lab.check(
        'its own object',
        isRight && /Gauge|gauge/.test(tell(diff) + JSON.stringify(diff.list?.incomplete)),
        tell(diff),
      )
    } finally {
      await lab.kubectl('delete', 'apiservice', `v1.${group}`)
    }
  },
}
